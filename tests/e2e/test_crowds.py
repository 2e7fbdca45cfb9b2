"""Crowds: idle connections, slow readers, a slowloris. What they cost the front, and what others notice.

PORTICO_SCALE (1) multiplies the crowds: 10 gives 10,000 idle connections, 2,000 readers, 1,000 slow heads.
"""
import asyncio
import os
import re
import socket
import statistics
import threading
import time
from pathlib import Path

import pytest

from door import SANITIZED
from waiting import eventually

SCALE = int(os.environ.get('PORTICO_SCALE', '1'))
MIB = 1 << 20

REQUEST = b'GET /%s HTTP/1.1\r\nHost: a.example\r\n\r\n'


def pss(pid):
    """Bytes of memory of a process; shared pages by their share."""
    text = Path(f'/proc/{pid}/smaps_rollup').read_text()
    return int(re.search(r'^Pss:\s+(\d+) kB', text, re.M).group(1)) * 1024


class Origin(threading.Thread):
    """An endpoint for crowds: /large is 10 MiB of x, all else is short."""

    def __init__(self):
        super().__init__(daemon=True)
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()
        self.start()
        self.ready.wait()

    def run(self):
        self.loop.run_until_complete(self.serve())
        self.loop.run_forever()

    async def serve(self):
        server = await asyncio.start_server(self.answer, '127.0.0.1', 0, backlog=4096)
        self.address = '127.0.0.1:%d' % server.sockets[0].getsockname()[1]
        self.ready.set()

    async def answer(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b'\r\n\r\n')
                size = 10 * MIB if b' /large ' in head else 5
                writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n' % size)
                for at in range(0, size, 64 * 1024):
                    writer.write(b'x' * min(64 * 1024, size - at))
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.join()


@pytest.fixture
def origin():
    made = Origin()
    yield made
    made.close()


@pytest.fixture
def door(portico, origin):
    return portico(f'front_threads: 1\nsites:\n  a.example: {{to: "{origin.address}"}}\n'
                   'log: {access: "off"}\nlimits: {connections: 15000, connections_per_client: 20000}\n'
                   'timeouts: {header: 3s}\n')


class Crowd:
    """Connections that are opened together; closed with the block."""

    def __init__(self, door, count, receive_buffer=None):
        self.sockets = []
        for _ in range(count):
            one = socket.socket()
            if receive_buffer:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            one.settimeout(30)
            one.connect(door.address)
            self.sockets.append(one)

    def __enter__(self):
        return self.sockets

    def __exit__(self, *unused):
        for one in self.sockets:
            one.close()


def read_short(connection):
    """Reads one whole short answer."""
    data = b''
    while not data.endswith(b'xxxxx'):
        more = connection.recv(4096)
        assert more, 'the connection was closed'
        data += more
    assert data.startswith(b'HTTP/1.1 200 ')


def latencies(door, count=200):
    """Sorted times of a good client's requests on one connection."""
    times = []
    with Crowd(door, 1) as (one,):
        for _ in range(count):
            began = time.monotonic()
            one.sendall(REQUEST % b'short')
            read_short(one)
            times.append(time.monotonic() - began)
    return sorted(times)


def p99(times):
    return statistics.quantiles(times, n=100)[98]


def growth(pid, before, seconds, act):
    """The largest growth of a process while act() is called again and again for a time."""
    most = 0
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        act()
        most = max(most, pss(pid) - before)
    return most


@pytest.mark.skipif(SANITIZED, reason='sanitizers multiply memory')
def test_an_idle_connection_that_made_a_request_costs_little_memory(door):
    def served(count):
        crowd = Crowd(door, count)
        for one in crowd.sockets:
            one.sendall(REQUEST % b'short')
            read_short(one)
        return crowd
    front = door.front()
    with served(200):  # what the first ones cost once and for all
        before = pss(front)
        with served(1000 * SCALE) as idle:
            cost = (pss(front) - before) / len(idle)
            idle[0].sendall(REQUEST % b'short')
            read_short(idle[0])
    print(f'{cost:.0f} bytes a connection')
    assert cost <= 1536


@pytest.mark.skipif(SANITIZED, reason='sanitizers multiply memory and time')
def test_slow_readers_and_slow_heads_cost_bounded_memory_and_nobodys_time(door):
    front = door.front()
    alone = p99(latencies(door))
    before = pss(front)
    with Crowd(door, 200 * SCALE, receive_buffer=4096) as readers:
        for one in readers:
            one.sendall(REQUEST % b'large')
        with Crowd(door, 100 * SCALE) as slow:
            for one in slow:
                one.sendall(b'GET / HTTP/1.1\r\n')

            def trickle():
                for one in readers:
                    one.recv(1024)
            most = growth(front, before, 5, trickle)
            crowded = p99(latencies(door))
    print(f'{most / MIB:.1f} MiB; p99 {alone * 1000:.1f} ms alone, {crowded * 1000:.1f} ms in the crowd')
    assert most <= 128 * MIB  # 64 MiB and the budget of buffered bodies
    assert crowded <= max(1.5 * alone, alone + 0.005) + (0.2 if SCALE == 1 else 0)


def test_a_head_that_does_not_come_is_408_in_time(door):
    with Crowd(door, 20 * SCALE) as slow:
        for one in slow:
            one.sendall(b'GET / HTTP/1.1\r\nHost: a')
        for one in slow:
            assert one.recv(4096).startswith(b'HTTP/1.1 408 ')
    eventually(lambda: latencies(door, 2), what='the door serves on')
