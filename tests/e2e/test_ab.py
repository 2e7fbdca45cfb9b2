"""ApacheBench against a WSGI hello: no request fails, whatever their number and concurrency.

PORTICO_SCALE=50 runs the whole matrix: 1,000, 10,000 and 50,000 requests at 10 to 1,000 connections.
"""
import os
import re
import shutil
import subprocess

import pytest

SCALE = int(os.environ.get('PORTICO_SCALE', '1'))
NUMBERS = [number for number in (1000, 10_000, 50_000) if number <= 1000 * SCALE]

pytestmark = pytest.mark.skipif(not shutil.which('ab'), reason='ab is missing: deploy/packages bench')

HELLO = '''
def application(environ, start_response):
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return [b'Hello, world!\\n']
'''
SLOW = '''
import threading
never = threading.Event()
def application(environ, start_response):
    never.wait(%s)  # what a slow page does
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return [b'done']
'''


def ab(door, number, connections, *more):
    """Runs ab to its end; returns (complete, failed, non-2xx)."""
    url = 'http://%s:%d/' % door.address
    run = subprocess.run(['ab', '-q', '-r', '-s', '120', '-n', str(number), '-c', str(connections), *more, url],
                         capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr

    def figure(name):
        found = re.search(rf'{name}:\s+(\d+)', run.stdout)
        return int(found.group(1)) if found else 0
    return figure('Complete requests'), figure('Failed requests'), figure('Non-2xx responses')


@pytest.mark.parametrize('kept', [False, True], ids=['close', 'kept'])
@pytest.mark.parametrize('connections', [10, 100, 500, 1000])
@pytest.mark.parametrize('number', NUMBERS)
def test_no_request_fails(portico, folder, number, connections, kept):
    (folder / 'hello.py').write_text(HELLO)
    door = portico(f'sites:\n  default: {{wsgi: hello, directory: {folder}}}\nlog: {{access: "off"}}\n')
    assert ab(door, number, connections, *(['-k'] if kept else [])) == (number, 0, 0)


def test_three_hundred_wait_for_one_slow_worker(portico, folder):
    (folder / 'hello.py').write_text(SLOW % (0.2 if SCALE >= 10 else 0.03))
    door = portico(f'sites:\n  default: {{wsgi: hello, directory: {folder}, workers: 1, '
                   'timeouts: {queue: 120s}}\nlog: {access: "off"}\n')
    # More requests than connections: else ab opens one connection too many, never uses it, and counts
    # its being closed as a failure.
    number, connections = (1000, 300) if SCALE >= 10 else (120, 100)
    assert ab(door, number, connections) == (number, 0, 0)
