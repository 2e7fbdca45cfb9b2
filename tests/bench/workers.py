#!/usr/bin/env python3
"""Portico's front and worker beside nginx with uWSGI or gunicorn, in one run: CPU time per request first.

    tests/bench/workers.py [--rounds 5] [--seconds 3] [--cases hello,django,echo,10k,pieces]
                           [--only portico,nginx+uwsgi] [--keys 'threads: 4']

Every peer has one front thread and one worker on core 0 (nginx speaks the uwsgi protocol, or HTTP, over a Unix
socket); wrk is on core 1. Rounds are interleaved; medians, ratios and the ratios that are aimed at are printed. What
counts is the CPU time of all processes of a peer (user and system, in nanoseconds from the scheduler) for one request.
`pieces` is a generator of a hundred pieces; there the application servers also stand alone, and a second table says
when the first of a hundred pieces arrives that are made in 0.1 s. System calls are those of all processes of a peer.

Absolute figures of a shared machine are noise, ratios within one run are not. Needs deploy/packages bench.
"""
import argparse
import collections
import os
import pathlib
import shutil
import socket
import statistics
import sys
import tempfile
import time

import peers
from processes import cpu_ns, syscalls, tree
from wsgi_peers import ALONE, PAIRS, SITES, Portico

ANY = 'the best of the others'

# path: asked for; site: the module that answers; more: for wrk; aims: peer -> greatest ratio of CPU time to it
Case = collections.namedtuple('Case', 'path site more aims', defaults=([], {}))
CASES = {
    'hello': Case('/hello', 'plain', aims={'nginx+uwsgi': 0.35, 'nginx+gunicorn': 0.15}),
    'django': Case('/hello', 'with_django', aims={'nginx+uwsgi': 0.65, 'nginx+gunicorn': 0.45}),
    'echo': Case('/echo', 'plain', ['-s', str(SITES / 'echo.lua')], {'nginx+uwsgi': 0.5}),
    '10k': Case('/10k', 'plain', aims={'nginx+uwsgi': 0.4}),
    'pieces': Case('/pieces', 'plain', aims={ANY: 0.3}),
}
CALLS_AIM = 5  # system calls for a hello


def measure(peer, case, seconds):
    """One run of wrk: CPU µs for a request, requests a second, p99 in ms, errors."""
    before, began = cpu_ns(*peer.pids), time.monotonic()
    requests, errors, p99 = peers.read_wrk(peers.wrk(peer.url(case.path), seconds, more=case.more))
    took = time.monotonic() - began
    spent = cpu_ns(*peer.pids) - before
    return {'cpu_us': spent / 1000 / max(1, requests), 'rate': requests / took, 'p99_ms': p99, 'errors': errors}


def first_piece_ms(peer):
    """How long the first byte of a body takes whose hundred pieces are made in 0.1 s."""
    with socket.create_connection(('127.0.0.1', peer.port), 10) as connection:
        began = time.monotonic()
        connection.sendall(b'GET /steps HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
        seen = b''
        while b'ppp' not in seen:
            part = connection.recv(65536)
            if not part:
                raise RuntimeError(f'{peer.name} ends without a piece: {seen!r}')
            seen += part
        return (time.monotonic() - began) * 1000


def count_calls(peer, seconds):
    """System calls for one kept-alive hello at 64 connections, of all processes of a peer."""
    with syscalls(*tree(*peer.pids)) as counted:
        answered = peer.answered('/hello', seconds)
    return sum(counted.values()) / max(1, answered), counted.most_common(6)


def peers_of(site, cases, only):
    """The classes of peers that a site is measured with."""
    wanted = dict(PAIRS)
    if 'pieces' in cases and site == 'plain':
        wanted.update(ALONE)
    return [peer for name, peer in wanted.items() if not only or name in only]


def start(classes, folder, site):
    started = []
    for each in classes:
        place = folder / f'{site}-{each.name}'
        place.mkdir()
        place.chmod(0o755)
        started.append(each(place, site))
    return started


class Run:
    """All measurements of one invocation."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.rows = collections.defaultdict(list)  # (case, peer) -> what measure() gave, round by round
        self.first = {}                            # peer -> ms until the first piece
        self.calls = {}                            # peer -> (system calls for a hello, the most frequent)

    def site(self, site):
        """Starts every peer with a site, measures its cases, and ends the peers."""
        cases = {name: CASES[name] for name in self.arguments.cases if CASES[name].site == site}
        if not cases:
            return
        started = start(peers_of(site, cases, self.arguments.only), self.folder, site)
        try:
            for peer in started:
                peer.wait_until_answers('/hello')
            self.rounds(started, cases)
            if 'hello' in cases:
                self.calls = {peer.name: count_calls(peer, 1) for peer in started if peer.name in PAIRS}
            if 'pieces' in cases:
                self.first = {peer.name: statistics.median(first_piece_ms(peer) for _ in range(9)) for peer in started}
        finally:
            for peer in started:
                peer.stop()

    def rounds(self, started, cases):
        for number in range(self.arguments.rounds + 1):  # the first warms up and is forgotten
            for name, case in cases.items():
                for peer in started:
                    if name != 'pieces' and peer.name in ALONE:
                        continue
                    row = measure(peer, case, self.arguments.seconds if number else 1)
                    if number:
                        self.rows[name, peer.name].append(row)


def ratios(mine, others):
    """Round by round: our CPU time over the smallest of the others'."""
    return [row['cpu_us'] / min(other[number]['cpu_us'] for other in others) for number, row in enumerate(mine)]


def print_case(run, name):
    rows = {peer: run.rows[name, peer] for case, peer in run.rows if case == name}
    print(f'\n{name}: CPU µs for one request')
    for peer, measured in rows.items():
        cpu = [row['cpu_us'] for row in measured]
        print(f'  {peer:15} {statistics.median(cpu):9.1f}  ({min(cpu):.1f} to {max(cpu):.1f})'
              f'  {statistics.median(row["rate"] for row in measured):8.0f}/s'
              f'  p99 {statistics.median(row["p99_ms"] for row in measured):7.1f} ms'
              f'  errors {sum(row["errors"] for row in measured)}')
    mine = rows.pop('portico', None)
    for aimed, greatest in CASES[name].aims.items() if mine else ():
        others = [rows[peer] for peer in rows if aimed in (peer, ANY)]
        if others:
            found = ratios(mine, others)
            print(f'  portico / {aimed}: {statistics.median(found):.2f}, aimed at {greatest}'
                  f'  (by round: {", ".join(f"{ratio:.2f}" for ratio in found)})')


def report(run):
    for name in run.arguments.cases:
        print_case(run, name)
    if run.first:
        print('\nms until the first of a hundred pieces, one a millisecond (median of 9)')
        for peer, milliseconds in run.first.items():
            print(f'  {peer:15} {milliseconds:7.1f}')
    if run.calls:
        print(f'\nsystem calls for a hello, all processes; aimed at {CALLS_AIM}')
        for peer, (calls, most) in run.calls.items():
            print(f'  {peer:15} {calls:6.2f}  ({", ".join(f"{call} {count}" for call, count in most)})')


def names(known):
    def read(text):
        chosen = text.split(',')
        unknown = set(chosen) - set(known)
        if unknown:
            raise argparse.ArgumentTypeError(f'no {", ".join(unknown)}; there are {", ".join(known)}')
        return chosen
    return read


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=int, default=3)
    parser.add_argument('--cases', type=names(CASES), default=list(CASES))
    parser.add_argument('--only', type=names([*PAIRS, *ALONE]), default=None)
    parser.add_argument('--keys', default='', help="further keys of Portico's site")
    arguments = parser.parse_args()
    for program in ('wrk', 'nginx', 'uwsgi', 'strace', 'taskset'):
        if not shutil.which(program, path=os.environ['PATH'] + ':/usr/sbin'):
            sys.exit(f'{program} is missing: deploy/packages bench')
    Portico.keys += f', {arguments.keys}' if arguments.keys else ''
    with tempfile.TemporaryDirectory(prefix='portico-bench-') as folder:
        os.chmod(folder, 0o755)
        run = Run(arguments, pathlib.Path(folder))
        for site in ('plain', 'with_django'):
            run.site(site)
        report(run)


if __name__ == '__main__':
    main()
