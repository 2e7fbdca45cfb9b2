#!/usr/bin/env python3
"""Portico beside nginx and HAProxy as a reverse proxy, in one run: CPU time per request first.

    tests/bench/proxy.py [--rounds 5] [--seconds 3] [--only portico,nginx] [--scenarios keepalive,close]

Each peer proxies to the same origin (nginx serving files from memory) with one thread on core 0; origin and load
generator (wrk) share core 1. Rounds are interleaved; medians and ratios are printed. What counts is the
CPU time of all processes of a peer (user and system, in nanoseconds from the scheduler) for one request, or for one
MiB. Absolute figures of a shared machine are noise, ratios within one run are not. Needs deploy/packages bench.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

import peers
from processes import cpu_ns, pss_bytes, syscalls

SCENARIOS = {
    # name: (path, connections, extra wrk arguments, what a figure is of, bytes a response)
    'keepalive': ('/1k', 64, [], 'request', 1024),
    'close': ('/1k', 64, ['-H', 'Connection: close'], 'request', 1024),
    '1m': ('/1m', 16, [], 'MiB', 1 << 20),
    '100m': ('/100m', 4, [], 'MiB', 100 << 20),
}


def measure(peer, scenario, seconds):
    """One run of wrk through a peer: CPU µs for a request or MiB, requests a second, p99 in ms, errors."""
    path, connections, more, _, size = SCENARIOS[scenario]
    before = cpu_ns(peer.pid)
    began = time.monotonic()
    output = peers.wrk(peer.url(path), seconds, connections, more)
    took = time.monotonic() - began
    spent = cpu_ns(peer.pid) - before
    requests, errors, p99 = peers.read_wrk(output)
    units = max(1, requests) if size < 1 << 20 else max(1.0, peers.bytes_read(output) / (1 << 20))
    return {'cpu_us': spent / 1000 / units, 'rate': requests / took, 'p99_ms': p99, 'errors': errors}


def run(arguments, folder):
    origin = peers.Origin(folder)
    started = []
    results = {}
    try:
        for name, peer in peers.PROXIES.items():
            if not arguments.only or name in arguments.only.split(','):
                started.append(peer(folder, origin.port))
        for peer in started:
            peer.wait_until_answers('/1k')
        memory = {peer.name: pss_bytes(peer.pid) for peer in started}
        for _ in range(arguments.rounds):
            for scenario in arguments.scenarios.split(','):
                for peer in started:
                    results.setdefault((scenario, peer.name), []).append(
                        measure(peer, scenario, arguments.seconds))
        calls = {peer.name: count_calls(peer, arguments.seconds) for peer in started}
    finally:
        for peer in started:
            peer.stop()
        origin.stop()
    return results, memory, calls


def count_calls(peer, seconds):
    """System calls for one kept-alive request at 64 connections, of the process that carries the traffic."""
    with syscalls(peer.traffic_pid()) as counted:
        before = peer.answered('/1k', seconds)
    return sum(counted.values()) / max(1, before), dict(sorted(counted.items(), key=lambda x: -x[1])[:6])


def report(arguments, results, memory, calls):
    names = sorted({name for _, name in results}, key=list(peers.PROXIES).index)
    for scenario in arguments.scenarios.split(','):
        print(f'\n{scenario}: CPU µs for one {SCENARIOS[scenario][3]}')
        medians = {}
        for name in names:
            rows = results[scenario, name]
            cpu = [row['cpu_us'] for row in rows]
            medians[name] = statistics.median(cpu)
            print(f'  {name:10} {medians[name]:9.1f}  ({min(cpu):.1f} to {max(cpu):.1f})'
                  f'  {statistics.median(row["rate"] for row in rows):9.0f}/s'
                  f'  p99 {statistics.median(row["p99_ms"] for row in rows):7.1f} ms'
                  f'  errors {sum(row["errors"] for row in rows)}')
        others = [value for name, value in medians.items() if name != 'portico']
        if 'portico' in medians and others:
            ratios = [mine['cpu_us'] / min(results[scenario, name][i]['cpu_us'] for name in names
                                           if name != 'portico')
                      for i, mine in enumerate(results[scenario, 'portico'])]
            print(f'  portico / better of the others: {medians["portico"] / min(others):.2f}'
                  f'  (by round: {", ".join(f"{ratio:.2f}" for ratio in ratios)})')
    print('\nmemory at rest (PSS, all processes) and system calls for a request')
    for name in names:
        total, which = calls[name]
        listed = ', '.join(f'{call} {count}' for call, count in which.items())
        print(f'  {name:10} {memory[name] / 1e6:6.1f} MB  {total:5.2f} calls  ({listed})')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=int, default=3)
    parser.add_argument('--only', default='')
    parser.add_argument('--scenarios', default=','.join(SCENARIOS))
    arguments = parser.parse_args()
    for program in ('wrk', 'nginx', 'taskset'):
        if not shutil.which(program, path=os.environ['PATH'] + ':/usr/sbin'):
            sys.exit(f'{program} is missing: deploy/packages bench')
    with tempfile.TemporaryDirectory(prefix='portico-bench-') as folder:
        os.chmod(folder, 0o755)
        report(arguments, *run(arguments, pathlib.Path(folder)))


if __name__ == '__main__':
    main()
