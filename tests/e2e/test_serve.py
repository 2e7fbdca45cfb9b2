"""portico serve: finds the application, and is nice to watch on a terminal."""
import os
import pty
import re
import subprocess

import pytest

from door import binary, command, environment
from waiting import PATIENCE, eventually

HELLO = '''def application(environ, start_response):
    if environ['PATH_INFO'] == '/fail':
        raise ValueError('it was "me"')
    start_response('200 OK', [])
    return [b'%s']
'''
MANAGE = '''#!/usr/bin/env python
import os
def main():
    os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings.local')
'''


@pytest.fixture
def serve(doors, folder):
    return lambda *words, **more: doors('serve', '--listen', '127.0.0.1:0', *words, cwd=folder, **more)


@pytest.mark.parametrize('name', ['wsgi', 'app', 'application'])
def test_the_usual_modules_are_found(serve, folder, name):
    (folder / f'{name}.py').write_text(HELLO % name)
    assert serve().get('/').body == name.encode()


@pytest.mark.parametrize('place', ['shop', 'shop/settings'])
def test_the_application_of_a_django_project_is_found(serve, folder, place):
    (folder / 'manage.py').write_text(MANAGE)
    (folder / 'app.py').write_text(HELLO % 'not this')
    (folder / place).mkdir(parents=True)
    (folder / place / 'wsgi.py').write_text(HELLO % 'django')
    assert serve().get('/').body == b'django'


def test_a_name_goes_before_what_would_be_found(serve, folder):
    (folder / 'app.py').write_text(HELLO % 'found')
    (folder / 'other.py').write_text(HELLO % 'named')
    assert serve('other').get('/').body == b'named'


def test_nothing_found_says_what_to_write(folder):
    done = command('serve', cwd=folder)
    assert done.returncode == 2
    for said in (str(folder), 'manage.py', 'wsgi.py', 'shop.wsgi'):
        assert said in done.stderr


@pytest.mark.parametrize('code, said', [
    ('raise ValueError("not today")', r'ValueError: not today'),
    ('import nowhere_to_be_found', r"ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
    ('import os; os._exit(7)', r'its Python (exited with|ended with) status 7'),
    ('answer = 42', r'app'),
])
@pytest.mark.parametrize('options', [(), ('--embedded',)], ids=['pool', 'embedded'])
def test_a_first_import_that_fails_is_told_and_ends_it(folder, code, said, options):
    if options and 'exit' in code:
        pytest.skip('it would be the front that ends')
    (folder / 'app.py').write_text(code + '\n')
    done = command('serve', 'app', '--listen', '127.0.0.1:0', *options, cwd=folder)
    assert done.returncode == 1
    assert re.search(said, done.stderr)
    assert done.stderr.count('is not running: ') == 1
    assert ('Traceback' in done.stderr) == ('Error' in said)
    assert 'stopping, since the application cannot be started' in done.stderr


def test_an_application_that_is_not_there_is_told_and_ends_it(folder):
    done = command('serve', 'nomod', '--listen', '127.0.0.1:0', cwd=folder)
    assert done.returncode == 1
    assert re.search('is not running: importing nomod failed: .*nomod', done.stderr)


def test_with_reload_a_first_import_that_fails_waits_for_a_change(serve, folder):
    (folder / 'app.py').write_text('raise ValueError("not today")\n')
    door = serve('app', '--reload')
    door.wait_for_log(f'waits for a change of a Python source below {folder}')
    assert door.get('/').status == 503
    (folder / 'app.py').write_text('raise ValueError("nor tomorrow")\n')
    door.wait_for_log(r'deploy: importing app failed: ValueError: nor tomorrow$')
    assert door.log().count('is not running') == 1
    (folder / 'app.py').write_text(HELLO % 'mended')
    eventually(lambda: door.get('/').body == b'mended')


def test_threads_are_threads(serve, folder):
    (folder / 'app.py').write_text('def app(environ, start_response):\n    start_response("200 OK", [])\n'
                                   '    return [str(environ["wsgi.multithread"]).encode()]\n')
    assert serve('--threads', '3').get('/').body == b'True'


def test_into_a_file_the_log_is_the_usual_one(serve, folder):
    (folder / 'app.py').write_text(HELLO % 'x')
    door = serve()
    door.get('/page')
    eventually(lambda: any(re.fullmatch(r'127\.0\.0\.1 - - \[.+\] "GET /page HTTP/1\.1" 200 1 "-" "-"', line)
                           for line in door.access_log()))


def read_until(terminal, pattern, seen=b''):
    """Reads a terminal until the pattern stands in what it showed; returns all of it."""
    while not re.search(pattern, seen, re.MULTILINE):
        seen += os.read(terminal, 65536)
    return seen


@pytest.fixture
def on_terminal(folder):
    """start(**environment) -> (process, terminal) of `portico serve` on a terminal of its own"""
    started = []

    def start(**more):
        try:
            ours, theirs = pty.openpty()
        except OSError as none:
            pytest.skip(f'no terminal can be made here: {none}')
        process = subprocess.Popen([binary(), 'serve', '--listen', '127.0.0.1:0'], cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=theirs, stderr=theirs, env=environment(**more), start_new_session=True)
        os.close(theirs)
        started.append((process, ours))
        return process, ours
    yield start
    for process, ours in started:
        process.terminate()
        assert process.wait(PATIENCE) == 0
        os.close(ours)


def ask(shown, path):
    url = re.search(rb'listening on (http://\S+)', shown).group(1).decode()
    subprocess.run(['/usr/bin/python3', '-c', 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1])',
                    url + path], check=False, capture_output=True, timeout=PATIENCE)


def test_on_a_terminal_lines_are_short_and_coloured(on_terminal, folder):
    (folder / 'app.py').write_text(HELLO % 'x')
    _, terminal = on_terminal()
    shown = read_until(terminal, rb' ready\r?$')
    ask(shown, '/page?a=b')
    shown = read_until(terminal, rb'GET /page', shown)
    assert re.search(rb'^\d\d:\d\d:\d\d \x1b\[32m200\x1b\[0m GET /page\?a=b 1 B \d+(\.\d)? ms\r?$', shown, re.MULTILINE)
    ask(shown, '/fail')
    shown = read_until(terminal, rb'GET /fail', shown)
    shown = read_until(terminal, rb'ValueError', shown)
    assert b'\x1b[31m500\x1b[0m GET /fail' in shown
    assert re.search(rb'^\d\d:\d\d:\d\d \[default\] ValueError: it was "me"\r?$', shown, re.MULTILINE)


def test_no_color_is_obeyed(on_terminal, folder):
    (folder / 'app.py').write_text(HELLO % 'x')
    _, terminal = on_terminal(NO_COLOR='1')
    shown = read_until(terminal, rb' ready\r?$')
    ask(shown, '/page')
    assert b'\x1b' not in read_until(terminal, rb'GET /page', shown)
