"""Claim cells: nothing runs unclaimed, nothing runs twice, revoked records are dropped (README, "Claim cells")."""
import json
import os
import random
import signal
import socket

import pytest

from driver import CLAIMED, DONE, END, REVOKED, SENT, hear, make_record, wait_until

KILLS = int(os.environ.get('PORTICO_TEST_KILLS', '40'))


def test_a_running_record_names_its_worker_and_thread(site, tmp_path):
    gate = tmp_path / 'gate'
    cell, serial = site.post(target='/gated_call?%s' % gate)
    wait_until(lambda: site.cells.look(cell).state == CLAIMED, 'claim')
    look = site.cells.look(cell)
    assert (look.serial, look.worker, look.thread) == (serial, 1, 0)
    wait_until(lambda: site.cells.look(cell).claimed_ns > 0)
    gate.touch()
    site.workers[1].streams[0].answer(cell, serial)
    wait_until(lambda: site.cells.look(cell).state == DONE, 'done')


def test_a_revoked_record_is_dropped_without_a_word(site, tmp_path):
    gate = tmp_path / 'gate'
    busy = site.post(target='/gated_call?%s' % gate)
    wait_until(lambda: site.cells.look(busy[0]).state == CLAIMED)
    cell, _ = site.post(target='/gated_call?%s' % gate)
    assert site.cells.look(cell).state == SENT
    site.cells.force(cell, REVOKED)
    after = site.post(target='/hello')
    gate.touch()
    stream = site.workers[1].streams[0]
    assert stream.answer(*busy).body == b'done'
    assert stream.answer(*after).body == b'Hello, world!'
    assert site.cells.look(cell).state == REVOKED
    assert json.loads(site.ask(target='/seen_by?gated_call').body).count('begun') >= 1


def test_records_of_one_datagram_are_claimed_one_by_one(site, tmp_path):
    gate = tmp_path / 'gate'
    busy, revoked, after = site.post_together('/gated_call?%s' % gate, '/gated_call?%s' % gate, '/hello')
    wait_until(lambda: site.cells.look(busy[0]).state == CLAIMED)
    assert site.cells.look(revoked[0]).state == site.cells.look(after[0]).state == SENT
    site.cells.force(revoked[0], REVOKED)
    gate.touch()
    stream = site.workers[1].streams[0]
    assert stream.answer(*busy).body == b'done'
    assert stream.answer(*after).body == b'Hello, world!'
    assert site.cells.look(revoked[0]).state == REVOKED


def test_what_is_broken_in_a_datagram_takes_the_rest_with_it(site, log):
    cell = site.cells.free[0]
    record = make_record(cell, site.cells.send(cell), target='/hello')
    site.queue.send(record + b'junk' + record)
    assert site.workers[1].streams[0].answer(cell, site.cells.serials[cell]).body == b'Hello, world!'
    assert site.ask(target='/hello').body == b'Hello, world!'
    assert log().count('a record that cannot be read was dropped') == 1


def test_a_stale_record_does_not_run_under_a_later_serial(site):
    cell = site.cells.free[0]
    old = site.cells.send(cell)
    site.cells.force(cell, REVOKED)
    stale = make_record(cell, old, target='/raises')
    cell_now, serial = site.post(target='/hello')
    assert cell_now == cell and serial == old + 1
    site.workers[1].streams[0].answer(cell, serial)
    site.queue.send(stale)
    assert site.ask(target='/hello').status == 200


def test_junk_in_the_queue_is_dropped(site, log):
    for junk in (b'x', b'\0' * 200, make_record(1, 1)[:-1], make_record(1, 1) + b'x', make_record(10 ** 6, 1),
                 make_record(1, 1, front_thread=9)):
        site.queue.send(junk)
    assert site.ask(target='/hello').status == 200
    assert log().count('was dropped') == 6


def test_descriptors_that_come_with_junk_are_closed(site):
    folder = '/proc/%d/fd' % site.workers[1].pid
    before = len(os.listdir(folder))
    with open('/dev/null') as null:
        for _ in range(10):
            socket.send_fds(site.queue, [b'junk'], [null.fileno()] * 3)
            socket.send_fds(site.queue, [make_record(1, 999)], [null.fileno()])
    assert site.ask(target='/hello').status == 200
    assert len(os.listdir(folder)) == before


def test_a_worker_that_dies_leaves_its_claim(make_site):
    site = make_site().start()
    worker = site.fork()
    cell, serial = site.post(target='/dies')
    assert site.exited()[0] is worker
    look = site.cells.look(cell)
    assert (look.state, look.worker, look.serial) == (CLAIMED, worker.number, serial)
    assert worker.streams[0].frame() is None


def test_gathered_answers_of_a_killed_worker_are_not_done(make_site, tmp_path):
    """What was answered but not sent is still claimed: the front asks another worker again."""
    site = make_site().start()
    worker = site.fork()
    gate = tmp_path / 'gate'
    busy = site.post(target='/gated_call?%s' % gate)
    wait_until(lambda: site.cells.look(busy[0]).state == CLAIMED)
    posted = [busy] + [site.post(target='/hello') for _ in range(5)] + [site.post(target='/dies')]
    gate.touch()
    site.exited()
    stream = worker.streams[0]
    whole = {}
    take_ends(stream, whole, to_the_end=True)
    for name in posted:
        if site.cells.look(name[0]).state == DONE:
            assert name in whole
        else:
            assert site.cells.look(name[0]).state == CLAIMED


def take_ends(stream, whole, to_the_end):
    """Counts the complete answers that have come, or all that will come."""
    while to_the_end or not stream.quiet():
        frame = stream.frame()
        if frame is None:
            return
        if frame[0] == END:
            whole[frame[2:4]] = whole.get(frame[2:4], 0) + 1


COUNTING = '''
import os
log = os.open(%r, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

def application(environ, start_response):
    os.write(log, environ["QUERY_STRING"].encode() + b"\\n")
    start_response("200 OK", [])
    return [b"x"]
'''


def test_under_kills_nothing_runs_twice_and_nothing_is_lost_unseen(make_site, tmp_path):
    """Workers are killed at random under load. In the end each record is known to be done, or begun by a worker that
    died, or never begun (taken but not claimed: at most one a death)."""
    (tmp_path / 'count.py').write_text(COUNTING % str(tmp_path / 'runs'))
    site = make_site('count', tmp_path, cells=KILLS * 30).start()
    chance = random.Random(7)
    workers = [site.fork() for _ in range(3)]
    posted, whole = {}, {}
    for _ in range(KILLS):
        for _ in range(30):
            number = len(posted)
            posted[site.post(target='/?%d' % number, method='POST' if number % 2 else 'GET')] = number
        victim = chance.choice(workers)
        victim.kill()
        gone, status = site.exited()
        assert gone is victim and os.WTERMSIG(status) == signal.SIGKILL
        take_ends(victim.streams[0], whole, to_the_end=True)
        workers[workers.index(victim)] = site.fork()
        for worker in workers:
            take_ends(worker.streams[0], whole, to_the_end=False)
    site.queue.shutdown(socket.SHUT_WR)
    survivors = {worker.number for worker in workers}
    for worker in workers:
        take_ends(worker.streams[0], whole, to_the_end=True)
        assert os.WIFEXITED(site.exited()[1])
    runs = [int(line) for line in (tmp_path / 'runs').read_text().split()]
    assert len(runs) == len(set(runs)), 'a record ran twice'
    looks = {name: site.cells.look(name[0]) for name in posted}
    for name, look in looks.items():
        if look.state == DONE:
            assert whole.get(name) == 1 and posted[name] in runs
        elif look.state == CLAIMED:
            assert look.worker not in survivors
        else:
            assert look.state == SENT and posted[name] not in runs
    assert sum(look.state == SENT for look in looks.values()) <= KILLS


@pytest.mark.parametrize('workers, threads', [(1, 1), (3, 1), (2, 3)])
def test_shutting_the_queue_down_drains_it(make_site, workers, threads):
    site = make_site(cells=512, threads=threads).start()
    made = [site.fork() for _ in range(workers)]
    # Nobody reads meanwhile: a socket holds some 270 sends, and each answer is one or two.
    posted = [site.post(target='/chunks?3') for _ in range(100)]
    site.queue.shutdown(socket.SHUT_WR)
    for worker in made:
        assert hear(worker.control).values == {'reason': 'drained'}
    for _ in made:
        assert site.exited()[1] == 0
    whole = {}
    for worker in made:
        for stream in worker.streams:
            take_ends(stream, whole, to_the_end=True)
    assert sorted(whole) == sorted(posted) and set(whole.values()) == {1}
