"""Embedded applications: what is theirs alone. What they share with workers, test_wsgi_http.py tests in all modes."""
import json
import os
import re
import signal
import subprocess

import pytest

import processes
from door import PYTHON, command
from modes import EMBEDDED, MODES
from waiting import eventually

HOST = 'a.example'
HELLO = '''
import json, os, sys
def application(environ, start_response):
    start_response('200 OK', [('Content-Type', 'application/json')])
    names = ('wsgi.multithread', 'wsgi.multiprocess', 'wsgi.run_once')
    return [json.dumps({'pid': os.getpid(), 'prefix': sys.prefix, 'executable': sys.executable,
                        'path': sys.path, 'cwd': os.getcwd(), 'environment': dict(os.environ),
                        **{name: environ[name] for name in names}}).encode()]
'''
OTHER = 'def application(environ, start_response):\n    start_response("200 OK", [])\n    return [b"other"]\n'


@pytest.fixture(params=EMBEDDED)
def mode(request):
    return MODES[request.param]


@pytest.fixture
def start(portico, folder):
    """start(code, mode) -> Door with the code embedded as a.example; options, top: beside those of the mode"""
    def run(code=HELLO, mode=MODES['embedded'], options='', top='', more=''):
        top = mode.top + top
        options = mode.options + options
        (folder / 'shop.py').write_text(code)
        return portico(f'{top}sites:\n  {HOST}: {{wsgi: shop, directory: {folder}, {options}}}\n{more}')
    return run


def facts(door):
    return json.loads(door.get('/', HOST).body)


def test_it_runs_in_the_front(start, mode, folder):
    door = start(mode=mode)
    seen = facts(door)
    assert seen['pid'] == door.front()
    assert (seen['cwd'], seen['path'][0]) == (str(folder), str(folder))
    flags = [seen[f'wsgi.{name}'] for name in ('multithread', 'multiprocess', 'run_once')]
    assert flags == [mode.threads > 1, False, False]
    assert not [pid for pid in processes.children(door.pid) if pid != door.front()]


IN_THE_LOOP = MODES['embedded-in-the-loop']


def test_without_threads_the_front_thread_calls_it(start):
    door = start('''
import threading
def application(environ, start_response):
    start_response('200 OK', [])
    return [open(f'/proc/self/task/{threading.get_native_id()}/comm', 'rb').read()]
''', IN_THE_LOOP)
    assert door.get('/', HOST).body == b'front 0\n'


def test_without_threads_answers_in_parts_stand_in_nobodys_way(start):
    """An answer without end, which its client does not read, and then leaves: others are answered meanwhile."""
    door = start('''
def application(environ, start_response):
    start_response('200 OK', [])
    return endless() if environ['PATH_INFO'] == '/endless' else [b'here']
def endless():
    try:
        while True:
            yield b'x' * 10000
    finally:
        print('closed')
''', IN_THE_LOOP, options=', limits: {response_buffer: 1MiB}')
    with door.connect() as first, door.connect() as second:
        for connection in (first, second):
            connection.request('/endless', HOST)
            assert connection.read_head().status == 200
        for _ in range(20):
            assert door.get('/', HOST).body == b'here'
        assert 'closed' not in door.log()
    door.wait_for_log('closed', times=2)


def test_without_threads_a_stop_cuts_and_closes_what_goes_on(start):
    door = start('''
def application(environ, start_response):
    start_response('200 OK', [])
    try:
        while True:
            yield b'x' * 10000
    finally:
        print('closed')
''', IN_THE_LOOP, top='timeouts: {shutdown: 300ms}\n')
    with door.connect() as connection:
        connection.request('/', HOST)
        assert connection.read_head().status == 200
        assert door.stop() == 0
    assert 'closed' in door.log()


def test_a_process_that_it_forks_off_serves_nobody(start, mode):
    door = start('''
import os
def application(environ, start_response):
    child = os.fork()
    start_response('200 OK', [])
    if not child:
        return [b'the child']
    return [str(os.waitpid(child, 0)[1]).encode()]
''', mode)
    for _ in range(3):
        assert door.get('/', HOST).body == b'0'


def test_its_environment_is_what_the_operator_wrote(start):
    door = start(options=', environment: {COLOUR: blue, PYTHONHASHSEED: "1"}')
    environment = facts(door)['environment']
    assert (environment['COLOUR'], environment['PYTHONHASHSEED']) == ('blue', '1')
    assert not [name for name in environment if name.startswith(('NOTIFY_', 'LISTEN_', 'PORTICO', 'GLIBC_'))]


def test_packages_of_a_virtual_environment_are_seen(start, folder):
    venv = folder / 'venv'
    subprocess.run([PYTHON, '-m', 'venv', '--without-pip', venv], check=True)
    packages, = venv.glob('lib/python3*/site-packages')
    (packages / 'only_here.py').write_text('NAME = "only here"\n')
    seen = facts(start('import only_here\n' + HELLO))
    assert seen['prefix'] == str(venv)
    assert seen['executable'] == str(venv / 'bin' / 'python')


def test_a_broken_import_is_503_until_it_is_mended_and_harms_no_other_site(start, folder, mode):
    (folder / 'other.py').write_text(OTHER)
    door = start('import missing_for_now\n' + HELLO, mode,
                 more=f'  b.example: {{wsgi: other, directory: {folder}, workers: 1}}\n')
    door.wait_for_log(r'\[a.example\] is not running: importing shop failed')
    assert 'ModuleNotFoundError' in door.log() and 'Traceback' in door.log()
    answer = door.get('/', HOST)
    assert answer.status == 503 and b'importing the application' in answer.body
    assert door.get('/', 'b.example').body == b'other'
    (folder / 'missing_for_now.py').write_text('')
    eventually(lambda: door.get('/', HOST).status == 200, 30, 'the import is tried again')


def test_an_import_that_wants_to_leave_ends_nothing(start):
    door = start('raise SystemExit(3)\n')
    door.wait_for_log('importing shop failed: SystemExit')
    front = door.front()
    assert door.get('/', HOST).status == 503
    assert processes.alive(front)


def test_a_call_that_wants_to_leave_is_500_and_the_next_is_answered(start, mode):
    door = start('''
def application(environ, start_response):
    if environ['PATH_INFO'] == '/leave':
        raise SystemExit('enough')
    start_response('200 OK', [])
    return [b'here']
''', mode)
    for _ in range(3):
        assert door.get('/leave', HOST).status == 500
        assert door.get('/', HOST).body == b'here'
    door.wait_for_log('SystemExit: enough', times=3)


def test_what_it_prints_is_in_the_log_with_its_name(start, mode):
    door = start('''
import sys
def application(environ, start_response):
    print('printed')
    print('complained', file=sys.stderr)
    environ['wsgi.errors'].write('told\\n')
    start_response('204 No Content', [])
    return []
''', mode)
    assert door.get('/', HOST).status == 204
    for word in ('printed', 'complained', 'told'):
        door.wait_for_log(rf'\[{HOST}\] .*{word}')
    assert not [line for line in door.access_log() if 'printed' in line]


SLOW = '''
import atexit, os, threading
atexit.register(print, 'exit handler ran')
def linger():
    threading.main_thread().join()
    print('thread finished')
threading.Thread(target=linger).start()
def application(environ, start_response):
    print('begun')
    while not os.path.exists('go'):
        threading.Event().wait(0.01)
    start_response('200 OK', [])
    return [b'finished']
'''


def test_a_stop_lets_requests_threads_and_exit_handlers_finish(start, folder):
    door = start(SLOW.replace('    threading.main_thread().join()\n', ''))
    with door.connect() as connection:
        connection.request('/', HOST)
        door.wait_for_log('begun')
        door.signal(signal.SIGTERM)
        door.wait_for_log('stopping')
        (folder / 'go').write_text('')
        assert connection.read_response().body == b'finished'
    assert door.wait() == 0
    assert 'exit handler ran' in door.log() and 'thread finished' in door.log()


def test_a_call_that_hangs_is_504_and_cannot_hold_up_a_stop(start):
    door = start(SLOW, options=', timeouts: {response: 200ms}', top='timeouts: {shutdown: 300ms}\n')
    assert door.get('/', HOST).status == 504
    door.wait_for_log(r'\[a.example\] GET / \[\w+\] runs for .* cannot be ended')
    door.wait_for_log(r'\[a.example\]   File ".*shop.py", line \d+ in application')
    everyone = door.remember_descendants()
    assert door.stop() == 0
    assert not [pid for pid in everyone if processes.alive(pid)]


def test_a_stop_before_the_import_is_done_or_after_it_failed_is_at_once(start):
    door = start('raise ValueError\n')
    door.wait_for_log('importing shop failed')
    assert door.stop() == 0
    assert 'the time to stop is over' not in door.log()


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
def test_handlers_of_the_application_do_not_take_over_the_stop(start, number):
    door = start('import signal\nfor number in (15, 2): signal.signal(number, lambda *_: print("mine"))\n' + HELLO)
    assert door.get('/', HOST).status == 200
    door.signal(number)
    assert door.wait() == 0


def test_what_it_starts_obeys_signals(start):
    door = start('''
import signal, subprocess
def application(environ, start_response):
    child = subprocess.Popen(['sleep', '1000'])
    child.terminate()
    start_response('200 OK', [])
    return [str(child.wait()).encode()]
''')
    assert door.get('/', HOST).body == b'-15'


def test_a_crash_of_it_is_a_crash_of_the_front_and_another_one_comes(start, mode):
    crash = '    environ["PATH_INFO"] == "/die" and os.kill(os.getpid(), 9)\n'
    door = start(HELLO.replace('    start_response(', crash + '    start_response('), mode)
    first = facts(door)['pid']
    with pytest.raises((EOFError, ConnectionError)):
        door.get('/die', HOST)
    door.wait_for_log('the front .* signal 9')
    door.wait_for_log('the front is back')
    assert facts(door)['pid'] == door.front() != first


def test_an_interpreter_without_a_shared_library_is_named_with_the_remedy(start, folder, tmp_path):
    venv = folder / 'venv'
    subprocess.run([PYTHON, '-m', 'venv', '--without-pip', venv], check=True)
    packages, = venv.glob('lib/python3*/site-packages')
    (packages / 'bare.pth').write_text('import sysconfig; sysconfig.get_config_vars().update('
                                       'LIBDIR="/nowhere", LIBPL="/nowhere")\n')
    door = start()
    what = r'cannot be embedded, since its shared library (libpython3\S+).so is not in /nowhere; ' \
           r'(install the package \1|use a Python that was built with --enable-shared), or leave "embedded" out'
    door.wait_for_log(r'\[a.example\] is not running: .*' + what)
    answer = door.get('/', HOST)
    assert answer.status == 503 and b'starting its Python' in answer.body
    checked = command('check', tmp_path / 'portico.yaml')
    assert checked.returncode == 1
    assert re.search(r'portico.yaml:\d+:\d+: .*' + what, checked.stderr)


def test_check_is_content_with_an_interpreter_that_can_be_embedded(start, tmp_path):
    start()
    checked = command('check', tmp_path / 'portico.yaml')
    assert checked.returncode == 0, checked.stderr


def test_serve_embedded(doors, folder):
    (folder / 'hello.py').write_text(HELLO)
    door = doors('serve', 'hello', '--embedded', '--threads', '2', '--listen', '127.0.0.1:0', cwd=folder)
    seen = facts(door)
    assert (seen['pid'], seen['wsgi.multithread']) == (door.front(), True)


def test_serve_embedded_without_threads(doors, folder):
    (folder / 'hello.py').write_text(HELLO)
    door = doors('serve', 'hello', '--embedded', '--threads', '0', '--listen', '127.0.0.1:0', cwd=folder)
    assert facts(door)['pid'] == door.front()


def test_serve_embedded_has_no_workers(folder):
    refused = command('serve', 'hello', '--embedded', '--workers', '3', cwd=folder)
    assert refused.returncode == 2 and '--workers' in refused.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason='only root may change users')
def test_started_as_root_it_runs_as_the_front_does(start):
    door = start('import os\n' + HELLO)
    seen = facts(door)
    assert '0' not in processes.status(seen['pid'], 'Uid')
    assert seen['environment']['USER'] != 'root'
