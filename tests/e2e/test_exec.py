"""portico exec: becomes a command with a site's Python, user, directory and environment."""
import json
import os
import signal
import subprocess

import pytest

from door import PYTHON, binary, command, environment
from waiting import PATIENCE

SHOW = ('import json, os, sys; print(json.dumps({"prefix": sys.prefix, "cwd": os.getcwd(), "uid": os.getuid(), '
        '"groups": os.getgroups(), "environ": dict(os.environ), "umask": os.umask(0), "argv": sys.argv[1:], '
        '"pid": os.getpid()}))')


@pytest.fixture
def site(folder, tmp_path):
    """exec(*words) runs a command in a site whose directory has a blank in its name."""
    class Site:
        directory = folder / 'my shop'
        file = tmp_path / 'portico.yaml'

        def exec(self, *words, name='a.example'):
            return command('exec', name, '--config', self.file, '--', *words)

        def show(self, python='python', name='a.example'):
            done = self.exec(python, '-c', SHOW, 'a b', '', '--', '-f', name=name)
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)
    site = Site()
    site.directory.mkdir()
    (folder / 'blog').mkdir()
    site.file.write_text(f'''
sites:
  a.example:
    wsgi: shop.wsgi
    directory: "{site.directory}"
    environment: {{SHOP: "a b", HOME: /nowhere}}
    routes: {{/blog/: {{wsgi: blog, directory: {folder}/blog}}}}
  b.example: {{to: "127.0.0.1:9"}}
''')
    return site


def make_venv(path):
    subprocess.run([PYTHON, '-m', 'venv', '--without-pip', path], check=True)
    return path


def test_directory_environment_and_arguments(site):
    seen = site.show()
    assert seen['cwd'] == str(site.directory)
    assert (seen['environ']['SHOP'], seen['environ']['HOME']) == ('a b', '/nowhere')
    assert seen['argv'] == ['a b', '', '--', '-f']
    assert seen['umask'] == 0o022
    assert 'VIRTUAL_ENV' not in seen['environ']


def test_it_becomes_the_command(site):
    with subprocess.Popen([binary(), 'exec', 'a.example', '--config', str(site.file), '--', 'python', '-c', SHOW],
                          env=environment(), stdout=subprocess.PIPE, text=True) as process:
        assert json.loads(process.stdout.read())['pid'] == process.pid


@pytest.mark.parametrize('python', ['python', 'python3'])
def test_a_virtual_environment_is_that_of_the_command(site, python):
    venv = make_venv(site.directory / 'venv')
    seen = site.show(python)
    assert seen['prefix'] == seen['environ']['VIRTUAL_ENV'] == str(venv)
    assert seen['environ']['PATH'].startswith(f'{venv}/bin:')


def test_commands_of_the_virtual_environment_come_first(site):
    tool = make_venv(site.directory / '.venv') / 'bin' / 'ls'
    tool.write_text('#!/bin/sh\necho "the tool of the site: $1"\n')
    tool.chmod(0o755)
    assert site.exec('ls', 'a b').stdout == 'the tool of the site: a b\n'


def test_a_route_has_its_own_application(site, folder):
    for name in ('a.example/blog', 'a.example/blog/'):
        assert site.show(name=name)['cwd'] == str(folder / 'blog')


@pytest.mark.parametrize('words, status', [(('false',), 1), (('sh', '-c', 'exit 42'), 42),
                                           (('python', '-c', 'raise SystemExit(3)'), 3),
                                           (('sh', '-c', 'kill -9 $$'), -signal.SIGKILL)])
def test_the_status_is_that_of_the_command(site, words, status):
    assert site.exec(*words).returncode == status


def test_what_is_not_there_or_no_program(site):
    done = site.exec('no-such-command')
    assert done.returncode == 127
    assert '"no-such-command": there is no such command' in done.stderr
    (site.directory / 'data').write_text('')
    assert site.exec('./data').returncode == 126


def test_an_unknown_site_names_those_that_there_are(site):
    for name in ('c.example', 'b.example'):
        done = site.exec('true', name=name)
        assert done.returncode == 2
        assert f'has no application "{name}"; write a.example or a.example/blog/' in done.stderr


def test_a_directory_that_is_gone_is_told_with_its_place(site):
    site.directory.rmdir()
    done = site.exec('true')
    assert done.returncode == 1
    assert f'{site.file}:5:' in done.stderr and 'No such file or directory; mend it' in done.stderr


def test_mistakes_in_the_file_are_told(site):
    site.file.write_text('sites: {a.example: {wsgii: x}}\n')
    done = site.exec('true')
    assert done.returncode == 2
    assert f'{site.file}:1:' in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason='needs root')
def test_root_becomes_the_user_of_the_site(site):
    seen = site.show()
    assert seen['uid'] != 0
    assert 0 not in seen['groups']
    assert seen['environ']['USER'] != 'root'


def test_nothing_of_whoever_asks_reaches_it_but_the_terminal(site):
    done = subprocess.run([binary(), 'exec', 'a.example', '--config', site.file, '--', 'env'], text=True,
                          capture_output=True, timeout=PATIENCE,
                          env=environment(NOTIFY_SOCKET='/run/x', OTHER='x', TERM='dumb'))
    assert 'NOTIFY_SOCKET' not in done.stdout
    assert 'OTHER' not in done.stdout and 'TERM=dumb' in done.stdout
