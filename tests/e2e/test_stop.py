"""Signals: a graceful stop lets a request finish, a second signal does not, QUIT is at once."""
import signal
import threading

import pytest

import processes
from endpoint import text
from waiting import PATIENCE, eventually


@pytest.fixture
def held(portico, endpoint):
    """A door with one request under way that waits for `release`."""
    class Held:
        release = threading.Event()
        arrived = threading.Event()
    def answer(request):
        if request.target == '/slow':
            Held.arrived.set()
            Held.release.wait(PATIENCE)
        return text('done')
    end = endpoint(answer)
    Held.door = portico(f'sites:\n  a.example: {{to: "{end.address}"}}\n')
    with Held.door.connect() as Held.connection:
        Held.connection.request('/slow', 'a.example')
        assert Held.arrived.wait(PATIENCE)
        yield Held
        Held.release.set()


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
def test_a_graceful_stop_finishes_what_runs_and_takes_nothing_new(held, number):
    door = held.door
    with door.connect() as idle:
        idle.get('/', 'a.example')
        door.signal(number)
        assert idle.at_end()  # a kept connection that carries nothing is closed
    assert door.process.poll() is None
    held.release.set()
    response = held.connection.read_response()
    assert (response.status, response.body) == (200, b'done')
    assert response.field('connection') == 'close'
    assert door.wait() == 0


def test_a_new_client_is_refused_once_the_stop_is_complete(held):
    held.release.set()
    held.connection.read_response()
    assert held.door.stop() == 0
    with pytest.raises(ConnectionRefusedError):
        held.door.connect()


def test_a_second_signal_ends_it_at_once(held):
    door = held.door
    door.signal(signal.SIGTERM)
    door.wait_for_log('stopping: ')
    door.signal(signal.SIGTERM)
    assert door.wait() == 0
    assert held.connection.at_end()


def test_quit_ends_it_at_once(held):
    held.door.signal(signal.SIGQUIT)
    assert held.door.wait() == 0
    assert held.connection.at_end()


def test_the_deadline_ends_it(portico, endpoint):
    hold = threading.Event()
    arrived = threading.Event()
    def answer(request):
        arrived.set()
        hold.wait(PATIENCE)
    end = endpoint(answer)
    door = portico(f'timeouts: {{shutdown: 300ms}}\nsites:\n  a.example: {{to: "{end.address}"}}\n')
    with door.connect() as connection:
        connection.request('/', 'a.example')
        assert arrived.wait(PATIENCE)
        assert door.stop() == 0
    hold.set()


def test_hup_is_told_to_be_unavailable_and_stops_nothing(portico, endpoint):
    end = endpoint(lambda request: text('ok'))
    door = portico(f'sites:\n  a.example: {{to: "{end.address}"}}\n')
    door.signal(signal.SIGHUP)
    door.wait_for_log('reload is not available')
    assert door.get('/', 'a.example').status == 200


def test_no_process_is_left_after_a_stop(portico, endpoint):
    end = endpoint(lambda request: text('ok'))
    door = portico(f'sites:\n  a.example: {{to: "{end.address}"}}\n')
    children = door.remember_descendants()
    assert children
    assert door.stop() == 0
    for pid in children:
        eventually(lambda pid=pid: not processes.alive(pid), what=f'the end of {pid}')


def test_a_worker_that_hangs_cannot_hold_up_a_stop(portico, folder):
    (folder / 'hang.py').write_text('import time\n'
                                    'def application(environ, start_response):\n'
                                    '    if environ["PATH_INFO"] == "/hang":\n'
                                    '        print("hanging", flush=True)\n'
                                    '        time.sleep(1000)\n'
                                    '    start_response("200 OK", [])\n'
                                    '    return [b"ok"]\n')
    door = portico(f'timeouts: {{shutdown: 300ms}}\n'
                   f'sites:\n  a.example: {{wsgi: hang, directory: {folder}}}\n')
    assert door.get('/', 'a.example').status == 200
    with door.connect() as connection:
        connection.request('/hang', 'a.example')
        door.wait_for_log('hanging')
        everyone = door.remember_descendants()
        assert door.stop() == 0
    assert not [pid for pid in everyone if processes.alive(pid)]
