#!/usr/bin/env python3
"""Portico with an embedded application in its loop (`threads: 0`), beside the least that a server could do: c_loop.c.

    tests/bench/embedded.py [--rounds 5] [--seconds 3]

Both answer the same hello on core 0 at 64 connections, wrk is on core 1; rounds are interleaved. What counts is the
ratio of CPU time for a request. Needs deploy/packages bench, cc and python3-dev.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

import peers
from processes import cpu_ns
from wsgi_peers import PYTHON, SITES, Portico

AIM = 1.3
SOURCE = pathlib.Path(__file__).resolve().parent / 'c_loop.c'


class Embedded(Portico):
    name = 'portico'
    keys = ', embedded: true, threads: 0'


class CLoop(peers.Program):
    """c_loop.c, compiled for the same Python."""
    name = 'c_loop'

    def __init__(self, folder, module):
        self.port = peers.free_port()
        program = folder / 'c_loop'
        flags = subprocess.run([f'{PYTHON}-config', '--includes', '--ldflags', '--embed'], check=True,
                               capture_output=True, text=True).stdout.split()
        subprocess.run(['cc', '-O2', '-Wall', '-Wextra', '-o', program, SOURCE, *flags], check=True)
        super().__init__(folder, [program, self.port, SITES, module, '/hello'])


def cpu_us(peer, seconds):
    """CPU time of one hello, in µs, and how many of a run failed."""
    before = cpu_ns(*peer.pids)
    requests, errors, _ = peers.read_wrk(peers.wrk(peer.url('/hello'), seconds))
    return (cpu_ns(*peer.pids) - before) / 1000 / max(1, requests), errors


def run(arguments, folder):
    started, rows = [], []
    try:
        for each in (Embedded, CLoop):
            place = folder / each.name
            place.mkdir()
            place.chmod(0o755)
            started.append(each(place, 'plain'))
        for peer in started:
            peer.wait_until_answers('/hello')
        for number in range(arguments.rounds + 1):  # the first warms up and is forgotten
            measured = [cpu_us(peer, arguments.seconds if number else 1) for peer in started]
            if number:
                rows.append(measured)
    finally:
        for peer in started:
            peer.stop()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='portico-bench-') as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        rows = run(arguments, folder)
    for at, name in enumerate(('portico', 'c_loop')):
        cpu = [row[at][0] for row in rows]
        print(f'{name:10} {statistics.median(cpu):6.1f} µs  ({min(cpu):.1f} to {max(cpu):.1f})'
              f'  errors {sum(row[at][1] for row in rows)}')
    ratios = [mine[0] / floor[0] for mine, floor in rows]
    print(f'portico / c_loop: {statistics.median(ratios):.2f}, aimed at {AIM}'
          f'  (by round: {", ".join(f"{ratio:.2f}" for ratio in ratios)})')


if __name__ == '__main__':
    sys.exit(main())
