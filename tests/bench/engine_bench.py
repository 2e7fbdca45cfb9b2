#!/usr/bin/env python3
"""Measures the engine: its own work for a call, and a worker's CPU time with its channels. A benchmark, not a test.

    tests/bench/engine_bench.py ENGINE [PYTHON ...]        ENGINE: a release build's engine/_portico.abi3.so

`own` is rehearse() minus the time that a plain Python loop needs to call the same application with a ready environ:
the engine's part of environ, start_response and frames. `worker` is the worker's user and system time for a request
that travels through queue and answer socket, with as many records waiting as the queue holds.
"""
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'session/engine'))
import driver  # noqa: E402

BROWSER = [
    ('host', 'shop.example'), ('user-agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'),
    ('accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'), ('accept-language', 'en-US,en;q=0.5'),
    ('accept-encoding', 'gzip, deflate, br'), ('referer', 'http://shop.example/'), ('dnt', '1'),
    ('upgrade-insecure-requests', '1'), ('cookie', 'sessionid=8f14e45fceea167a5a36dedd4bea2543'), ('sec-fetch-mode', 'navigate')]

APPLICATION = '''
def application(environ, start_response):
    start_response('200 OK', [('Content-Type', 'text/plain'), ('Content-Length', '13')])
    return [b'Hello, world!']
'''

INSIDE = APPLICATION + '''
import importlib.machinery, importlib.util, sys, time
loader = importlib.machinery.ExtensionFileLoader('_portico', sys.argv[1])
engine = importlib.util.module_from_spec(importlib.util.spec_from_loader('_portico', loader))
record, count, best, bare = bytes.fromhex(sys.argv[2]), 100000, 1e9, 1e9
for _ in range(7):
    begun = time.perf_counter()
    engine.rehearse(application, {}, record, count)
    best = min(best, time.perf_counter() - begun)
    environ, start = {}, [].append
    start = lambda status, headers: None
    numbers = range(count)
    begun = time.perf_counter()
    for _ in numbers:
        application(environ, start)
    bare = min(bare, time.perf_counter() - begun)
    begun = time.perf_counter()
    for _ in numbers:
        start('', [])
    bare_start = time.perf_counter() - begun
    bare_app = bare - bare_start
print('%d.%d: rehearse %.3f us, application alone about %.3f us, own %.3f us'
      % (sys.version_info[0], sys.version_info[1], best / count * 1e6, bare_app / count * 1e6, (best - bare_app) / count * 1e6))
'''


def own_work(engine, python):
    for what, fields in (('no fields', []), ('a browser', BROWSER)):
        record = driver.make_record(0, 0, target='/path?query=1', fields=fields)
        done = subprocess.run([python, '-c', INSIDE, engine, record.hex()], check=True, capture_output=True, text=True)
        print('%-10s %s' % (what, done.stdout.strip()))


def drain(stream, count):
    left = count
    while left:
        part = stream.recv(1 << 20)
        left -= part.count(b'Hello, world!')


def cpu_of(pid):
    fields = open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()
    return int(fields[11]) + int(fields[12])


def worker_cpu(engine, python, folder, count=200000):
    (folder / 'hello.py').write_text(APPLICATION)
    site = driver.Site(python, engine, folder, 'hello', cells=count).start()
    worker = site.fork()
    records = []
    for cell in range(count):
        records.append(driver.make_record(cell, site.cells.send(cell), fields=BROWSER))
    reader = threading.Thread(target=drain, args=(worker.streams[0].end, count))
    reader.start()
    before, begun = cpu_of(worker.pid), time.perf_counter()
    for record in records:
        site.queue.send(record)
    reader.join()
    took, used = time.perf_counter() - begun, cpu_of(worker.pid) - before
    print('worker     %.2f us of CPU a request, %.2f us of time'
          % (used / os.sysconf('SC_CLK_TCK') / count * 1e6, took / count * 1e6))
    site.close()


def main():
    import tempfile
    engine = os.path.abspath(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 4096))
    for python in sys.argv[2:] or [sys.executable]:
        own_work(engine, python)
        with tempfile.TemporaryDirectory() as folder:
            worker_cpu(engine, python, Path(folder))


main()
