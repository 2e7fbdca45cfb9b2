"""The worker: stop, threads, front threads, back-pressure, gathering, strays, hostile surroundings."""
import os
import signal
import socket
import threading
import time

import pytest

from driver import DONE, CLAIMED, END, SENT, hear, wait_until


def test_stop_finishes_what_runs_and_takes_nothing_more(make_site, tmp_path):
    site = make_site().start()
    worker = site.fork()
    gate = tmp_path / 'gate'
    running = site.post(target='/gated_call?%s' % gate)
    wait_until(lambda: site.cells.look(running[0]).state == CLAIMED)
    waiting = site.post(target='/hello')
    worker.stop()
    gate.touch()
    assert worker.streams[0].answer(*running).body == b'done'
    assert hear(worker.control).values == {'reason': 'stopped'}
    assert site.exited() == (worker, 0)
    assert site.cells.look(waiting[0]).state == SENT
    assert site.fork().streams[0].answer(*waiting).body == b'Hello, world!'


def test_stop_finishes_what_came_in_the_same_datagram(make_site, tmp_path):
    site = make_site().start()
    worker = site.fork()
    gate = tmp_path / 'gate'
    running, *others = site.post_together('/gated_call?%s' % gate, '/hello', '/hello')
    wait_until(lambda: site.cells.look(running[0]).state == CLAIMED)
    worker.stop()
    gate.touch()
    assert worker.streams[0].answer(*running).body == b'done'
    for each in others:
        assert worker.streams[0].answer(*each).body == b'Hello, world!'
    assert hear(worker.control).values == {'reason': 'stopped'}
    assert site.exited() == (worker, 0)


def test_a_worker_under_constant_load_hears_stop(make_site):
    site = make_site(cells=2048).start()
    worker = site.fork()
    other = site.fork()
    done = threading.Event()

    def load():
        while not done.is_set():
            site.post(target='/hello')
    loader = threading.Thread(target=load)
    loader.start()
    drains = [threading.Thread(target=drain, args=(one.streams[0],)) for one in (worker, other)]
    for drainer in drains:
        drainer.start()
    worker.stop()
    assert hear(worker.control).values == {'reason': 'stopped'}
    assert site.exited() == (worker, 0)
    done.set()
    loader.join()
    other.stop()
    assert site.exited() == (other, 0)
    for drainer in drains:
        drainer.join()


def drain(stream):
    while stream.frame() is not None:
        pass


def test_the_end_of_the_control_socket_ends_the_worker(make_site):
    site = make_site().start()
    worker = site.fork()
    worker.control.close()
    assert site.exited() == (worker, 0)


def test_threads_run_at_once_each_on_its_own_stream(make_site):
    site = make_site(threads=2).start()
    worker = site.fork()
    posted = [site.post(target='/meets') for _ in range(2)]
    wait_until(lambda: all(site.cells.look(cell).state == DONE for cell, _ in posted), 'meeting')
    threads = {site.cells.look(cell).thread: (cell, serial) for cell, serial in posted}
    assert set(threads) == {0, 1}
    names = {worker.streams[thread].answer(*name).body for thread, name in threads.items()}
    assert names == {b'MainThread', b'portico-1'}


def test_threads_leave_together(make_site):
    site = make_site(threads=4).start()
    worker = site.fork()
    worker.stop()
    assert hear(worker.control).verb == 'leaving'
    assert site.exited() == (worker, 0)


def test_system_exit_in_one_thread_lets_the_others_finish(make_site, tmp_path):
    site = make_site(threads=2).start()
    worker = site.fork()
    gate = tmp_path / 'gate'
    running = site.post(target='/gated_call?%s' % gate)
    wait_until(lambda: site.cells.look(running[0]).state == CLAIMED)
    bad = site.post(target='/raises_named?SystemExit')
    assert hear(worker.control).values == {'reason': 'exit'}
    gate.touch()
    assert worker.streams[site.cells.look(running[0]).thread].answer(*running).body == b'done'
    assert worker.streams[site.cells.look(bad[0]).thread].answer(*bad).aborted
    assert site.exited() == (worker, 0)


def test_each_front_thread_has_its_own_stream(make_site):
    site = make_site(threads=2, front_threads=3).start()
    worker = site.fork()
    for front in (0, 1, 2):
        name = site.post(target='/hello', front_thread=front)
        wait_until(lambda: site.cells.look(name[0]).state == DONE)
        index = site.cells.look(name[0]).thread * 3 + front
        assert worker.streams[index].answer(*name).status == 200
        assert all(stream.quiet() for stream in worker.streams)


def test_a_slow_front_thread_does_not_stop_another_ones_answers(make_site):
    site = make_site(threads=2, front_threads=2).start()
    worker = site.fork()
    large = site.post(target='/listed?5000000', front_thread=0)
    wait_until(lambda: site.cells.look(large[0]).state == CLAIMED)
    for _ in range(5):
        name = site.post(target='/hello', front_thread=1)
        wait_until(lambda: site.cells.look(name[0]).state == DONE)
        assert worker.streams[site.cells.look(name[0]).thread * 2 + 1].answer(*name).status == 200
    assert len(worker.streams[site.cells.look(large[0]).thread * 2].answer(*large).body) == 5000000


def test_back_pressure_waits_without_the_gil(make_site, tmp_path):
    """A worker whose answer nobody reads waits, and its other Python threads run meanwhile."""
    (tmp_path / 'ticking.py').write_text(
        'import threading, time\nticks = [0]\n'
        'def tick():\n    while True:\n        ticks[0] += 1\n        time.sleep(0.001)\n'
        'def application(environ, start_response):\n'
        '    if environ["PATH_INFO"] == "/large":\n'
        '        threading.Thread(target=tick, daemon=True).start()\n'
        '        start_response("200 OK", [])\n        return [b"x" * 20000000]\n'
        '    start_response("200 OK", [])\n    return [b"%d" % ticks[0]]\n')
    site = make_site('ticking', tmp_path).start()
    worker = site.fork()
    name = site.post(target='/large')
    wait_until(lambda: not worker.streams[0].quiet())
    time.sleep(0.2)
    assert len(worker.streams[0].answer(*name).body) == 20000000
    assert int(site.ask(target='/').body) > 20


def test_a_small_send_buffer_changes_nothing(make_site):
    """As for an unprivileged front: 212,992 bytes for the queue; and 4 KiB for the answers."""
    site = make_site(cells=4096).start()
    site.queue.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 212992 // 2)
    worker = site.fork()
    worker.streams[0].end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    fields = [('x-long', 'v' * 60000)]
    for _ in range(20):
        assert site.ask(target='/hello', fields=fields).status == 200
    for size in (1, 5000, 70000, 1000000):
        assert len(site.ask(target='/listed?%d' % size).body) == size


def test_answers_gather_while_records_wait(make_site, tmp_path):
    site = make_site(cells=512).start()
    worker = site.fork()
    gate = tmp_path / 'gate'
    busy = site.post(target='/gated_call?%s' % gate)
    wait_until(lambda: site.cells.look(busy[0]).state == CLAIMED)
    posted = [site.post(target='/hello') for _ in range(50)]
    gate.touch()
    stream = worker.streams[0]
    stream.answer(*busy)
    wait_until(lambda: site.cells.look(posted[-1][0]).state == DONE)
    reads = len(stream.reads)
    for name in posted:
        assert stream.answer(*name).body == b'Hello, world!'
    assert len(stream.reads) - reads < 20


def test_a_gathered_answer_does_not_wait_behind_a_slow_call(make_site, tmp_path):
    """The flusher sends it although the worker's only thread is in the application."""
    site = make_site().start()
    worker = site.fork()
    gates = [tmp_path / 'one', tmp_path / 'two']
    first = site.post(target='/gated_call?%s' % gates[0])
    wait_until(lambda: site.cells.look(first[0]).state == CLAIMED)
    quick = site.post(target='/hello')
    slow = site.post(target='/gated_call?%s' % gates[1])
    gates[0].touch()
    assert worker.streams[0].answer(*first).body == b'done'
    assert worker.streams[0].answer(*quick).body == b'Hello, world!'
    assert site.cells.look(slow[0]).state in (SENT, CLAIMED)
    gates[1].touch()
    assert worker.streams[0].answer(*slow).body == b'done'


def test_posts_do_not_gather(make_site, tmp_path):
    site = make_site().start()
    worker = site.fork()
    gate = tmp_path / 'gate'
    first = site.post(target='/hello', method='POST', body=b'x')
    slow = site.post(target='/gated_call?%s' % gate)
    assert worker.streams[0].answer(*first).body == b'Hello, world!'
    gate.touch()
    assert worker.streams[0].answer(*slow).frames[-1] == END


def test_a_front_that_has_gone_ends_nothing_but_the_answer(make_site):
    site = make_site().start()
    worker = site.fork()
    name = site.post(target='/endless')
    wait_until(lambda: not worker.streams[0].quiet())
    worker.streams[0].end.close()
    wait_until(lambda: site.cells.look(name[0]).state == DONE, 'end of the answer')
    worker.streams[0].end = socket.socketpair()[0]
    worker.stop()
    assert hear(worker.control).verb == 'leaving'
    assert site.exited() == (worker, 0)


@pytest.mark.parametrize('method', ['GET', 'POST'])
def test_a_stray_child_of_the_application_never_serves_nor_answers(make_site, method):
    site = make_site().start()
    site.fork()
    for _ in range(5):
        site.ask(target='/hello')
        assert site.ask(target='/forks_stray', method=method).body == b'from the parent'
    assert site.ask(target='/hello').status == 200


def test_threads_of_the_application_may_write(make_site):
    site = make_site().start()
    site.fork()
    body = site.ask(target='/writes_from_threads').body
    assert (body.count(b'x'), body.count(b'y')) == (2000000, 2000000)


def test_an_idle_worker_lets_background_threads_run(make_site, tmp_path):
    (tmp_path / 'background.py').write_text(
        'import threading, time\nticks = [0]\nstarted = []\n'
        'def tick():\n    while True:\n        ticks[0] += 1\n        time.sleep(0.001)\n'
        'def application(environ, start_response):\n'
        '    if not started:\n        started.append(1)\n        threading.Thread(target=tick, daemon=True).start()\n'
        '    start_response("200 OK", [])\n    return [b"%d" % ticks[0]]\n')
    site = make_site('background', tmp_path).start()
    site.fork()
    site.ask()
    wait_until(lambda: int(site.ask().body) > 20, 'ticks')


def test_python_signal_handlers_run_in_an_idle_worker(make_site, tmp_path):
    (tmp_path / 'handles.py').write_text(
        'import signal\ngot = []\nsignal.signal(signal.SIGUSR1, lambda *a: got.append(1))\n'
        'def application(environ, start_response):\n'
        '    start_response("200 OK", [])\n    return [b"%d" % len(got)]\n')
    site = make_site('handles', tmp_path).start()
    worker = site.fork()
    assert site.ask().body == b'0'
    os.kill(worker.pid, signal.SIGUSR1)
    wait_until(lambda: site.ask().body == b'1', 'signal')
