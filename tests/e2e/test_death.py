"""Deaths: a killed front comes back and loses no waiting client; nobody outlives the supervisor."""
import os
import signal

import processes
from endpoint import text
from waiting import eventually


def start(portico, endpoint):
    end = endpoint(lambda request: text('ok'))
    return portico(f'front_threads: 2\nsites:\n  a.example: {{to: "{end.address}"}}\n')


def test_a_killed_front_is_replaced_and_clients_wait_for_it(portico, endpoint):
    door = start(portico, endpoint)
    for death in range(3):
        old = door.front()
        os.kill(old, signal.SIGKILL)
        assert door.get('/', 'a.example').status == 200  # waited in the backlog
        assert door.front() != old
    door.wait_for_log(r'the front was killed by signal 9', times=3)
    door.wait_for_log(r'the front is back', times=3)


def test_the_wait_before_a_new_front_grows(portico, endpoint):
    door = start(portico, endpoint)
    for wait in (100, 200, 400):
        os.kill(door.front(), signal.SIGKILL)
        door.wait_for_log(f'another one starts in {wait} ms')


def test_a_stop_while_no_front_is_there_needs_none(portico, endpoint):
    door = start(portico, endpoint)
    for death in range(1, 5):  # the fourth wait is 800 ms
        os.kill(door.front(), signal.SIGKILL)
        door.wait_for_log('another one starts in', times=death)
    assert door.stop() == 0


def test_the_death_of_the_supervisor_ends_the_front(portico, endpoint):
    door = start(portico, endpoint)
    front = door.front()
    door.signal(signal.SIGKILL)
    door.wait()
    eventually(lambda: not processes.alive(front), what='the end of the front')


def test_signals_to_the_front_alone_do_not_stop_it(portico, endpoint):
    door = start(portico, endpoint)
    front = door.front()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
                   signal.SIGPIPE):
        os.kill(front, number)
    assert door.get('/', 'a.example').status == 200
    assert door.front() == front


def start_hello(portico, folder):
    (folder / 'hello.py').write_text('import os\n'
                                     'def application(environ, start_response):\n'
                                     '    start_response("200 OK", [])\n'
                                     '    return [str(os.getpid()).encode()]\n')
    return portico(f'sites:\n  a.example: {{wsgi: hello, directory: {folder}, workers: 2}}\n')


def ask_worker(door):
    """The process id of the worker that answered."""
    response = door.get('/', 'a.example')
    assert response.status == 200, response.body
    return int(response.body)


def test_a_killed_front_finds_the_workers_again(portico, folder):
    door = start_hello(portico, folder)
    ask_worker(door)
    front = door.front()
    os.kill(front, signal.SIGKILL)
    ask_worker(door)
    assert door.front() != front


def test_the_death_of_the_supervisor_ends_zygotes_and_workers(portico, folder):
    door = start_hello(portico, folder)
    worker = ask_worker(door)
    everyone = door.remember_descendants()
    assert worker in everyone and len(everyone) >= 3  # front, zygote, worker
    door.signal(signal.SIGKILL)
    door.wait()
    for pid in everyone:
        eventually(lambda pid=pid: not processes.alive(pid), what=f'the end of {pid}')


def test_a_stop_ends_zygotes_and_workers(portico, folder):
    door = start_hello(portico, folder)
    ask_worker(door)
    everyone = door.remember_descendants()
    assert door.stop() == 0
    assert not [pid for pid in everyone if processes.alive(pid)]
