"""portico.post_fork: hooks of an application, in workers and embedded."""
import json

import pytest

from modes import EMBEDDED, MODES
from waiting import eventually

HOST = 'a.example'
APPLICATION = '''
import json, os
import portico

calls = []
importer = os.getpid()

@portico.post_fork
def connect():
    calls.append(os.getpid())
    if os.path.exists('database is down'):
        raise ConnectionError('no database')

def application(environ, start_response):
    start_response('200 OK', [('Content-Type', 'application/json')])
    return [json.dumps({'importer': importer, 'calls': calls, 'pid': os.getpid()}).encode()]
'''


@pytest.fixture
def start(portico, folder):
    """start(mode) -> Door"""
    (folder / 'hooked.py').write_text(APPLICATION)

    def run(mode):
        options, _, top = MODES[mode]
        return portico(f'{top}sites:\n  {HOST}: {{wsgi: hooked, directory: {folder}, {options}}}\n')
    return run


@pytest.mark.parametrize('mode', MODES)
def test_hooks_run_once_before_the_first_request(start, mode):
    facts = json.loads(start(mode).get('/', HOST).body)
    assert facts['calls'] == [facts['pid']]
    assert (facts['importer'] == facts['pid']) == (mode in EMBEDDED)


@pytest.mark.parametrize('mode', MODES)
def test_a_failing_hook_is_a_failed_start_that_is_tried_again(start, mode, folder):
    down = folder / 'database is down'
    down.touch()
    door = start(mode)
    door.wait_for_log('the post_fork hook connect raised')
    door.wait_for_log('ConnectionError: no database')
    down.unlink()
    response = eventually(lambda: (found := door.get('/', HOST)).status == 200 and found, 30, 'the next try')
    facts = json.loads(response.body)
    assert facts['calls'][-1] == facts['pid']
