#!/usr/bin/env python3
"""How long finished answers wait before they leave: a worker that has more to do gathers them.

    tests/bench/gathering.py [--seconds 5] [--bursts 10]

One worker with one thread on core 0, the client on core 1. Each answer says when it was made, by the clock that the
client reads as well. First 64 connections ask for one hello after the other; then bursts of 64 hellos are sent with a
call of one second in their middle: what was made before that call must not wait for its end. A flusher of 100 ms
instead of 1 shows there (95 ms); the hellos hardly notice, since a worker that never rests sends whenever the queue is
empty or its room full.
"""
import argparse
import os
import pathlib
import selectors
import socket
import sys
import tempfile
import time

from wsgi_peers import Portico

CONNECTIONS = 64
ANSWER = b'\r\n\r\n'
STAMP_BYTES = 20
P99_AIM_MS, SLOW_AIM_MS = 2, 50


def request(path):
    return b'GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n' % path


class Client:
    """Connections that are read as soon as something arrives."""

    def __init__(self, port):
        self.connections = [socket.create_connection(('127.0.0.1', port)) for _ in range(CONNECTIONS)]
        self.selector = selectors.EpollSelector()
        for connection in self.connections:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.selector.register(connection, selectors.EVENT_READ)

    def arrivals(self, within=5):
        """(connection, when it was made, when it arrived) of the answers that have come; both in ns."""
        for key, _ in self.selector.select(within):
            answer = key.fileobj.recv(4096)
            now = time.monotonic_ns()
            if ANSWER not in answer:
                raise RuntimeError(f'an answer in parts, or none: {answer!r}')
            yield key.fileobj, int(answer.partition(ANSWER)[2][:STAMP_BYTES]), now

    def steady(self, seconds):
        """The waits, in ms, of answers to requests that follow one another."""
        waits, end = [], time.monotonic() + seconds
        for connection in self.connections:
            connection.sendall(request(b'/'))
        while time.monotonic() < end:
            for connection, made, arrived in self.arrivals():
                waits.append((arrived - made) / 1e6)
                connection.sendall(request(b'/'))
        for _ in self.arrivals():
            pass
        return waits

    def burst(self):
        """The waits of a burst with a long call in its middle."""
        for number, connection in enumerate(self.connections):
            connection.sendall(request(b'/slow' if number == CONNECTIONS // 2 else b'/'))
        waits = []
        while len(waits) < CONNECTIONS:
            waits.extend((arrived - made) / 1e6 for _, made, arrived in self.arrivals())
        return waits

    def close(self):
        for connection in self.connections:
            connection.close()


def told(name, waits, aim, found):
    waits = sorted(waits)
    print(f'{name}: p50 {waits[len(waits) // 2]:.2f} ms, p99 {waits[len(waits) * 99 // 100]:.2f}, '
          f'greatest {waits[-1]:.2f} of {len(waits)}; {found(waits):.2f}, aimed at {aim} at most')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=int, default=5)
    parser.add_argument('--bursts', type=int, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='portico-bench-') as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        peer = Portico(folder, 'stamped')
        try:
            peer.wait_until_answers('/')
            os.sched_setaffinity(0, {1})
            client = Client(peer.port)
            steady = client.steady(arguments.seconds)
            client.close()
            bursts = []
            for _ in range(arguments.bursts):
                client = Client(peer.port)
                bursts.extend(client.burst())
                client.close()
        finally:
            peer.stop()
    told('hellos', steady, P99_AIM_MS, lambda waits: waits[len(waits) * 99 // 100])
    told('beside a call of 1 s', bursts, SLOW_AIM_MS, lambda waits: waits[-1])


if __name__ == '__main__':
    sys.exit(main())
