"""Limits of a site by control groups: in force where one is delegated, told where none is."""
import json
import os
import pathlib
import re

import pytest

from door import command
from waiting import eventually

APPLICATION = '''
import os, time
def application(environ, start_response):
    path = environ['PATH_INFO']
    kept = bytearray(os.urandom(1 << 20)) * 200 if path == '/grow' else None
    if path == '/bomb':
        try:
            while True:
                if os.fork() == 0:
                    time.sleep(60)
                    os._exit(0)
        except BlockingIOError:
            pass
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return [b'%d' % os.getpid()]
'''
LIMITS = '{memory: 100MiB, cpu: 150%, processes: 30}'
TREE = pathlib.Path('/sys/fs/cgroup')


def controllers():
    try:
        return (TREE / 'cgroup.controllers').read_text().split()
    except OSError:
        return []


OFFERED = {'memory', 'pids', 'cpu'} <= set(controllers()) and os.access(TREE, os.W_OK)
delegated = pytest.mark.skipif(not OFFERED or pathlib.Path('/run/systemd/system').exists(),
                               reason='no control group with memory, pids and cpu is delegated here')


def start(portico, folder, resources=LIMITS):
    (folder / 'app.py').write_text(APPLICATION)
    return portico(f'sites:\n'
                   f'  a.example: {{wsgi: app, directory: {folder}, workers: 1, resources: {resources}}}\n'
                   f'  b.example: {{wsgi: app, directory: {folder}, workers: 1}}\n')


def resources(door):
    done = command('status', '--json', door.file)
    return json.loads(done.stdout)['applications'][0]['resources']


def group(pid):
    text = pathlib.Path(f'/proc/{pid}/cgroup').read_text()
    return re.search(r'^0::(.*)$', text, re.MULTILINE)[1]


def worker(door, host):
    return int(door.get('/', host).body)


@pytest.mark.skipif('memory' in controllers(), reason='memory can be limited here')
def test_limits_that_cannot_be_in_force_are_told_and_the_site_serves(portico, folder):
    door = start(portico, folder)
    assert door.get('/', 'a.example').status == 200
    told = re.findall(r'\[a\.example\] resources \(memory, cpu, processes\) are not in force: .*', door.log())
    assert len(told) == 1
    assert 'boot' in told[0] or 'Delegate=yes' in told[0]
    assert resources(door)['problem'].startswith('resources (memory, cpu, processes) are not in force')
    assert group(door.pid) == group(os.getpid())
    checked = command('check', door.file)
    assert checked.returncode == 1
    assert re.search(r':\d+:\d+: .*resources \(memory, cpu, processes\) are not in force', checked.stderr)


def test_a_site_without_limits_is_told_nothing(portico, folder):
    door = start(portico, folder, '{}')
    assert resources(door) is None
    assert 'not in force' not in door.log()
    assert group(door.pid) == group(os.getpid())


@delegated
def test_a_site_stands_in_its_own_group_and_the_stop_removes_all(portico, folder):
    before = group(os.getpid())
    door = start(portico, folder)
    mine = group(worker(door, 'a.example'))
    assert mine.endswith(f'portico-{door.pid}/site-a.example')
    ours = f'portico-{door.pid}/supervisor'
    assert group(door.pid).endswith(ours) and group(door.front()).endswith(ours)
    assert group(worker(door, 'b.example')).endswith(ours)
    place = TREE / mine.lstrip('/')
    assert (place / 'memory.max').read_text().strip() == str(100 << 20)
    assert (place / 'pids.max').read_text().strip() == '30'
    assert (place / 'cpu.max').read_text().split() == ['150000', '100000']
    said = resources(door)
    assert said['memory'] > 1 << 20 and said['memory_max'] == 100 << 20
    assert said['processes'] >= 2 and said['processes_max'] == 30
    assert (said['cpu_max'], said['problem']) == (150, None)
    assert door.stop() == 0
    assert not (TREE / f'portico-{door.pid}').exists()
    assert group(os.getpid()) == before


@delegated
def test_unbounded_allocation_is_killed_told_and_harms_nobody_else(portico, folder):
    door = start(portico, folder)
    other = worker(door, 'b.example')
    assert door.get('/grow', 'a.example').status == 502
    door.wait_for_log(r'worker \d+ was killed by signal 9 \(Killed\) for lack of memory: its site may use 100MiB')
    assert door.get('/', 'a.example').status == 200
    assert worker(door, 'b.example') == other
    assert resources(door)['memory_kills'] >= 1


@delegated
def test_a_kill_by_hand_is_not_told_as_a_lack_of_memory(portico, folder):
    door = start(portico, folder)
    os.kill(worker(door, 'a.example'), 9)
    door.wait_for_log(r'worker 1 was killed by signal 9 \(Killed\)$')


@delegated
def test_a_fork_bomb_ends_at_the_limit(portico, folder):
    door = start(portico, folder)
    assert door.get('/bomb', 'a.example').status == 200
    said = resources(door)
    assert said['refused_forks'] >= 1 and said['processes'] <= 30
    assert door.get('/', 'b.example').status == 200
    assert door.stop() == 0
    assert not (TREE / f'portico-{door.pid}').exists()


@delegated
def test_what_a_killed_supervisor_leaves_is_removed_by_the_next(portico, folder):
    first = start(portico, folder)
    first.kill()
    assert (TREE / f'portico-{first.pid}').exists()
    second = start(portico, folder)
    second.wait_for_log('removing the control group .* of a Portico that was killed')
    assert not (TREE / f'portico-{first.pid}').exists()
    assert second.stop() == 0
