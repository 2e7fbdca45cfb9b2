"""Applications that hang: 504 at once, the stacks in the log, the worker replaced, nobody else harmed."""
import os
import re

import pytest

import processes
from load import Load
from waiting import eventually

# One way to hang for each path; /work goes on, and shows that it does, until there is a file `go`.
CODE = '''
import os, re, threading, time
def sleep(): time.sleep(3600)
def lock(): held = threading.Lock(); held.acquire(); held.acquire()
def c_loop(): sum(range(10 ** 12))
def c_regex(): re.match('(a+)+$', 'a' * 60 + 'b')
def deaf():
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(3600)
def silence():
    yield b'first'
    time.sleep(3600)
def work():
    while not os.path.exists('go'):
        yield b'.'
        time.sleep(0.02)
    yield str(os.getpid()).encode()
def application(environ, start_response):
    name = environ['PATH_INFO'][1:]
    found = globals().get(name)
    result = found() if found else None
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return result or [str(os.getpid()).encode()]
'''


def start(portico, folder, more):
    (folder / 'hangs.py').write_text(CODE)
    (folder / 'well.py').write_text(CODE)
    return portico(f'sites:\n  a.example: {{wsgi: hangs, directory: {folder}, {more}}}\n'
                   f'  other.example: {{wsgi: well, directory: {folder}, workers: 1}}\n')


def pid_of_worker(door):
    return int(door.get('/', 'a.example').body)


@pytest.mark.parametrize('way', ['sleep', 'lock', 'c_loop', 'c_regex', 'deaf'])
def test_a_worker_that_hangs_shows_where_and_is_replaced(portico, folder, way):
    door = start(portico, folder, 'workers: 1, timeouts: {response: 500ms}')
    hanging = pid_of_worker(door)
    answer = door.get(f'/{way}?who=me', 'a.example')
    assert answer.status == 504 and b'timeouts.response' in answer.body
    identity = re.escape(answer.field('x-request-id'))
    door.wait_for_log(rf'\[a.example\] worker \d+ \(process {hanging}\) hangs: '
                      rf'GET /{way}\?who=me \[{identity}\] runs for \d+\.\d s')
    door.wait_for_log(r'\[a.example\] Current thread 0x')
    door.wait_for_log(rf'\[a.example\] +File ".*hangs.py", line \d+ in {way}$')
    successor = pid_of_worker(door)
    assert successor != hanging
    eventually(lambda: not processes.alive(hanging), what='the end of the hanging worker')
    assert processes.alive(successor)


def test_silence_in_the_middle_of_an_answer_is_a_hang_too(portico, folder):
    door = start(portico, folder, 'workers: 1, timeouts: {response: 500ms}')
    with pytest.raises((EOFError, ConnectionError)):
        door.get('/silence', 'a.example')
    door.wait_for_log(r'File ".*hangs.py", line \d+ in silence$')
    assert door.get('/', 'a.example').status == 200


def test_a_client_that_leaves_does_not_hide_a_hang(portico, folder):
    door = start(portico, folder, 'workers: 1, timeouts: {response: 1s}')
    hanging = pid_of_worker(door)
    with door.connect() as connection:
        connection.request('/sleep', 'a.example')
    door.wait_for_log(rf'process {hanging}\) hangs: GET /sleep ')
    assert pid_of_worker(door) != hanging


def test_one_thread_hangs_and_three_finish(portico, folder):
    door = start(portico, folder, 'workers: 1, threads: 4, timeouts: {response: 1s}')
    hanging = pid_of_worker(door)
    working = [door.connect() for _ in range(3)]
    for connection in working:
        connection.request('/work', 'a.example')
    assert door.get('/sleep', 'a.example').status == 504
    door.wait_for_log(rf'process {hanging}\) hangs')
    assert pid_of_worker(door) != hanging
    assert processes.alive(hanging)
    (folder / 'go').write_text('')
    answers = [connection.read_response() for connection in working]
    assert [answer.body.lstrip(b'.') for answer in answers] == [str(hanging).encode()] * 3
    eventually(lambda: not processes.alive(hanging), what='the end of the hanging worker')
    for connection in working:
        connection.close()


def test_threads_that_never_finish_do_not_keep_a_hanging_worker(portico, folder):
    door = start(portico, folder, 'workers: 1, threads: 2, timeouts: {response: 1s}')
    hanging = pid_of_worker(door)
    with door.connect() as working:
        working.request('/work', 'a.example')
        assert door.get('/sleep', 'a.example').status == 504
        eventually(lambda: not processes.alive(hanging), what='the end of the hanging worker')
        with pytest.raises((EOFError, ConnectionError)):
            working.read_response()


def test_another_site_does_not_notice(portico, folder):
    door = start(portico, folder, 'workers: 2, timeouts: {response: 300ms}')
    load = Load(door, 'POST', 0, host='other.example')
    load.start()
    for way in ('sleep', 'lock', 'c_loop', 'deaf'):
        assert door.get(f'/{way}', 'a.example').status == 504
    door.wait_for_log(r'was killed by signal 9|in deaf$')
    assert door.get('/', 'a.example').status == 200
    load.stop.set()
    load.join()
    assert set(load.statuses) == {200} and load.statuses[200] > 10


def test_an_import_that_never_ends_shows_where_and_is_tried_again(portico, folder):
    (folder / 'slow.py').write_text(
        'import os, time\ndef application(environ, start_response):\n'
        '    start_response("204 No Content", [])\n    return []\n'
        'def wait_for_ever():\n    while not os.path.exists("go"): time.sleep(3600)\nwait_for_ever()\n')
    door = portico(f'sites:\n  a.example: {{wsgi: slow, directory: {folder}, timeouts: {{start: 500ms}}}}\n')
    door.wait_for_log(r'\[a.example\] importing slow has not ended in 0.5 s \(timeouts.start\)')
    door.wait_for_log(r'File ".*slow.py", line 6 in wait_for_ever$')
    door.wait_for_log(r'\[a.example\] is not running: importing slow hung')
    assert door.get('/', 'a.example').status == 503
    (folder / 'go').write_text('')
    eventually(lambda: door.get('/', 'a.example').status == 204, what='the site runs')
    assert os.path.exists(folder / 'go')
