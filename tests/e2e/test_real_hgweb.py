"""Mercurial's hgweb behind the front: a repository looked at, cloned, pulled from and pushed to."""
import io
import os
import subprocess
import tarfile

import pytest

from applications import needs, open_to_all, start_site
from door import environment

needs('mercurial', 'mercurial')

APPLICATION = '''
from mercurial.hgweb import hgweb
application = hgweb(b'{repository}', b'shop')
'''
# Any client may push, also without TLS.
OPEN = '[web]\nallow-push = *\nallow-archive = gz\npush_ssl = false\n[trusted]\nusers = *\n'


def hg(*arguments, cwd):
    """Runs hg on the test's side; returns what it printed."""
    more = environment(HGRCPATH='/dev/null', HGUSER='Anna', HGPLAIN='1')
    done = subprocess.run(['/usr/bin/hg', *map(str, arguments)], cwd=cwd, env=more, text=True, capture_output=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def commit(repository, name, content):
    (repository / name).write_bytes(content)
    hg('commit', '-q', '-A', '-m', f'adds {name}', cwd=repository)


@pytest.fixture(scope='module')
def content():
    return os.urandom(2_000_000)


@pytest.fixture(scope='module')
def site(lasting_portico, lasting_folder, threads, content):
    folder = lasting_folder / f'threads-{threads}'
    repository = folder / 'shop'
    repository.mkdir(parents=True)
    hg('init', '.', cwd=repository)
    commit(repository, 'picture.bin', content)
    commit(repository, 'hello.txt', b'hello\n')
    (folder / 'hgrc').write_text(OPEN)
    (folder / 'shop_site.py').write_text(APPLICATION.format(repository=repository))
    open_to_all(folder)
    more = f', environment: {{HGRCPATH: {folder}/hgrc}}'
    return start_site(lasting_portico, threads, folder, 'shop_site', more, 'default')[1]


def test_pages_and_files_are_shown(site):
    page = site.get('/')
    assert page.status_code == 200 and 'adds hello.txt' in page.text
    assert site.get('/raw-file/tip/hello.txt').text == 'hello\n'


def test_an_archive_holds_the_files(site):
    archive = site.get('/archive/0.tar.gz')
    assert archive.status_code == 200, archive.text
    names = tarfile.open(fileobj=io.BytesIO(archive.content)).getnames()
    assert any(name.endswith('/picture.bin') for name in names)


def test_a_clone_is_whole(site, tmp_path, content):
    hg('clone', '-q', site.base, 'copy', cwd=tmp_path)
    assert (tmp_path / 'copy/picture.bin').read_bytes() == content
    hg('verify', '-q', cwd=tmp_path / 'copy')


def test_what_is_pushed_is_pulled_by_another(site, tmp_path):
    for name in ('mine', 'theirs'):
        hg('clone', '-q', site.base, name, cwd=tmp_path)
    more = os.urandom(1_500_000)
    commit(tmp_path / 'mine', 'more.bin', more)
    hg('push', '-q', cwd=tmp_path / 'mine')
    hg('pull', '-q', '-u', cwd=tmp_path / 'theirs')
    assert (tmp_path / 'theirs/more.bin').read_bytes() == more
