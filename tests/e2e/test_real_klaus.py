"""klaus behind the front: a Git repository looked at, cloned, pushed to. Its clone answers through write()."""
import os
import subprocess

import pytest

from applications import needs, open_to_all, start_site
from door import environment

needs('klaus', 'python3-klaus')

AUTHOR = {'GIT_AUTHOR_NAME': 'Anna', 'GIT_AUTHOR_EMAIL': 'anna@site.example',
          'GIT_COMMITTER_NAME': 'Anna', 'GIT_COMMITTER_EMAIL': 'anna@site.example',
          'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_TERMINAL_PROMPT': '0'}
# The worker is another user than the repository's owner; Git's own commands refuse that unless told.
TRUST = {'GIT_CONFIG_COUNT': '1', 'GIT_CONFIG_KEY_0': 'safe.directory', 'GIT_CONFIG_VALUE_0': "'*'"}


def git(*arguments, cwd):
    """Runs git on the test's side; returns what it printed."""
    done = subprocess.run(['git', *map(str, arguments)], cwd=cwd, env=environment(**AUTHOR), text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def commit(repository, name, content):
    (repository / name).write_bytes(content)
    git('add', name, cwd=repository)
    git('commit', '-q', '-m', f'adds {name}', cwd=repository)


@pytest.fixture(scope='module')
def content():
    return os.urandom(2_000_000)


@pytest.fixture(scope='module')
def site(lasting_portico, lasting_folder, threads, content):
    """A door that answers by any name (Git takes the URL's), and a browser."""
    folder = lasting_folder / f'threads-{threads}'
    work = folder / 'work'
    work.mkdir(parents=True)
    git('init', '-q', '-b', 'main', '.', cwd=work)
    commit(work, 'picture.bin', content)
    commit(work, 'hello.txt', b'hello\n')
    git('clone', '-q', '--bare', work, folder / 'shop.git', cwd=folder)
    open_to_all(folder)
    variables = {'KLAUS_REPOS': folder / 'shop.git', 'KLAUS_USE_SMARTHTTP': '"1"',
                 'KLAUS_UNAUTHENTICATED_PUSH': '"1"', **TRUST}
    listed = ', '.join(f'{name}: {value}' for name, value in variables.items())
    return start_site(lasting_portico, threads, folder, 'klaus.contrib.wsgi', f', environment: {{{listed}}}', 'default')


def url(site):
    return site[1].base + '/shop'


def test_the_page_of_a_repository_shows_its_files(site):
    page = site[1].get('/shop/')
    assert page.status_code == 200 and 'hello.txt' in page.text
    assert site[1].get('/shop/raw/main/hello.txt').text == 'hello\n'


def test_a_clone_is_whole(site, tmp_path, content):
    git('clone', '-q', url(site), 'copy', cwd=tmp_path)
    assert (tmp_path / 'copy/picture.bin').read_bytes() == content
    assert git('fsck', '--full', cwd=tmp_path / 'copy') == ''


def test_what_is_pushed_is_there_for_the_next_clone(site, tmp_path):
    git('clone', '-q', url(site), 'mine', cwd=tmp_path)
    more = os.urandom(1_500_000)  # more than git's postBuffer: the push comes in chunks
    commit(tmp_path / 'mine', 'more.bin', more)
    git('push', '-q', 'origin', 'main', cwd=tmp_path / 'mine')
    git('clone', '-q', url(site), 'theirs', cwd=tmp_path)
    assert (tmp_path / 'theirs/more.bin').read_bytes() == more
