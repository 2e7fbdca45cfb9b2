"""rehearse(): the engine's call without channels, for warming and measuring."""
import os
import subprocess

import pytest

from driver import LOADER, make_record

CODE = LOADER.split('exec(')[0] + '''
import sys
calls = []
def application(environ, start_response):
    calls.append(environ['PATH_INFO'])
    if environ['PATH_INFO'] == '/exit':
        raise SystemExit
    start_response('200 OK', [])
    return [environ['wsgi.input'].read() or b'nothing']
frames = p.rehearse(application, {'constant': 'x'}, bytes.fromhex(sys.argv[2]), int(sys.argv[3]))
print(len(calls), frames.hex())
'''


def rehearse(python, engine, record, count):
    environment = dict(os.environ, LD_PRELOAD=os.environ.get('PORTICO_TEST_PRELOAD', ''))
    done = subprocess.run([python, '-c', CODE, engine, record.hex(), str(count)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    calls, frames = done.stdout.split(' ')
    return int(calls), bytes.fromhex(frames)


@pytest.mark.parametrize('count', [1, 100])
def test_the_frames_of_the_last_call_are_given(python, engine, count):
    calls, frames = rehearse(python, engine, make_record(7, 9, method='POST', body=b'body'), count)
    assert calls == count
    assert frames[4] == 1 and frames.endswith(b'body' + bytes(4) + b'\x04' + bytes(11))


def test_an_exit_ends_the_rehearsal(python, engine):
    calls, frames = rehearse(python, engine, make_record(0, 0, target='/exit'), 5)
    assert calls == 1 and frames[4] == 5
