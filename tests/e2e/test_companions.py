"""processes: what runs beside a site's workers: started, watched, logged, restarted, stopped."""
import json
import os
import pwd
import re
import signal

import pytest

import processes
from door import PYTHON, command
from waiting import eventually

HOST = 'a.example'
APPLICATION = '''
def application(environ, start_response):
    start_response('200 OK', [])
    return [b'hello']
'''
# Writes down who it is, then waits; what it is told is in its arguments.
COMPANION = '''
import json, os, resource, signal, subprocess, sys, time
name, *orders = sys.argv[1:]
child = subprocess.Popen(['sleep', '1000']).pid if 'parent' in orders else 0
if 'deaf' in orders:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if 'tidy' in orders:
    def leave(*_):
        print('tidied up', flush=True)
        sys.exit(0)
    signal.signal(signal.SIGTERM, leave)
facts = dict(pid=os.getpid(), child=child, cwd=os.getcwd(), uid=os.getuid(), colour=os.environ.get('COLOUR'),
             executable=sys.executable, umask=os.umask(0), session=os.getsid(0),
             limit=resource.getrlimit(resource.RLIMIT_NPROC)[0], version=open('version').read())
with open('said.tmp', 'w') as file:
    json.dump(facts, file)
os.rename('said.tmp', name + '.json')
print('began', name, flush=True)
if 'exit' in orders:
    sys.exit(7)
while True:
    time.sleep(1000)
'''


@pytest.fixture
def start(portico, folder):
    """start(companions, options, code) -> Door"""
    folder.chmod(0o777)
    (folder / 'shop.py').write_text(APPLICATION)
    (folder / 'version').write_text('1')
    (folder / 'companion.py').write_text(COMPANION)

    def run(companions, options='workers: 1', code=APPLICATION, directory=folder):
        (folder / 'shop.py').write_text(code)
        return portico(f'sites:\n  {HOST}: {{wsgi: shop, directory: {directory}, {options}, '
                       f'processes: {{{companions}}}}}\n')
    return run


def facts(folder, name):
    """What a companion has written down, once it has."""
    path = folder / f'{name}.json'
    return json.loads(eventually(lambda: path.exists() and path.read_text(), what=f'the companion {name}'))


def status(door):
    done = command('status', '--json', door.file)
    return json.loads(done.stdout)['applications'][0], done.returncode


def companion(door, name='queue'):
    return next(one for one in status(door)[0]['processes'] if one['name'] == name)


def test_they_run_as_the_sites_workers_do(start, folder):
    door = start('queue: [python, companion.py, queue], other: [python3, companion.py, other]',
                 'workers: 1, environment: {COLOUR: blue}')
    for name in ('queue', 'other'):
        said = facts(folder, name)
        worker = next(each for zygote in processes.children(door.pid) for each in processes.children(zygote))
        assert (said['cwd'], said['colour'], said['umask']) == (str(folder), 'blue', 0o022)
        assert said['executable'] == PYTHON
        assert [str(said['uid'])] * 4 == processes.status(worker, 'Uid')
        assert said['session'] == said['pid'] and processes.parent(said['pid']) == door.pid
        assert not any(what.startswith('socket:') for what in processes.descriptors(said['pid']).values())
        assert processes.status(said['pid'], 'NoNewPrivs') == ['1']
        if os.getuid() == 0:
            assert said['limit'] == 1024 and said['uid'] != 0


@pytest.mark.skipif(os.getuid() != 0, reason='only root can become another user')
def test_they_are_the_sites_user(start, folder):
    start('queue: [python, companion.py, queue]', 'workers: 1, user: daemon')
    assert facts(folder, 'queue')['uid'] == pwd.getpwnam('daemon').pw_uid


def test_what_they_write_is_in_the_sites_log(start, folder):
    door = start('queue: [python, companion.py, queue]')
    door.wait_for_log(r'\[a.example queue\] began queue$')
    assert re.search(r'^\S+Z queue: began queue$', command('logs', HOST, '--config', door.file).stdout, re.M)


def test_status_tells_of_them(start, folder):
    door = start('queue: [python, companion.py, queue]')
    said = facts(folder, 'queue')
    told = companion(door)
    assert (told['state'], told['pid'], told['ends'], told['last_end']) == ('running', said['pid'], 0, None)
    assert told['memory'] > 0 and told['age'] >= 0
    assert status(door)[1] == 0
    assert re.search(rf'queue +running +{said["pid"]} ', command('status', door.file).stdout)


def test_one_that_is_killed_is_started_again(start, folder):
    door = start('queue: [python, companion.py, queue]')
    first = facts(folder, 'queue')['pid']
    os.kill(first, signal.SIGKILL)
    door.wait_for_log(r'the process queue was killed by signal 9 \(Killed\); it is started again')
    second = eventually(lambda: (pid := facts(folder, 'queue')['pid']) != first and pid, what='another one')
    told, health = status(door)
    assert (told['state'], health) == ('degraded', 1)
    assert told['reason'] == 'the process queue was killed by signal 9 (Killed)'
    assert companion(door)['pid'] == second and companion(door)['ends'] == 1
    assert door.get('/', HOST).status == 200


def test_one_that_ends_again_and_again_is_started_more_and_more_slowly(start):
    door = start('queue: [python, companion.py, queue, exit]')
    door.wait_for_log('the process queue ended with status 7', times=4)
    assert door.log().count('ended with status 7') <= 6  # 0.1, 0.2, 0.4, 0.8 s
    told, health = status(door)
    assert health == 1 and told['reason'] == 'the process queue ended with status 7'
    assert companion(door)['ends'] >= 4


def test_one_that_cannot_be_started_is_told(start):
    door = start('queue: [no-such-program]')
    door.wait_for_log(r'the process queue could not be started \(no-such-program\): .*executing the program')
    eventually(lambda: status(door)[1] == 1, what='a status that is not well')
    assert door.get('/', HOST).status == 200


def test_what_one_leaves_behind_ends_with_it(start, folder):
    door = start('queue: [python, companion.py, queue, parent]')
    said = facts(folder, 'queue')
    os.kill(said['pid'], signal.SIGKILL)
    eventually(lambda: not processes.alive(said['child']), what='the end of its child')
    assert door.stop() == 0


def test_they_wait_until_the_application_is_up(start, folder):
    door = start('queue: [python, companion.py, queue]', code='raise ValueError("not today")')
    door.wait_for_log('is not running: importing shop failed', times=3)
    assert not (folder / 'queue.json').exists()
    assert (companion(door)['state'], companion(door)['ends']) == ('waiting', 0)
    (folder / 'shop.py').write_text(APPLICATION)
    facts(folder, 'queue')


def test_they_do_not_sleep_with_the_application(start, folder):
    door = start('queue: [python, companion.py, queue]', 'workers: {min: 0, max: 2, idle: 1s}')
    pid = facts(folder, 'queue')['pid']  # before any request
    assert set(processes.children(door.pid)) == {door.front(), pid}
    assert door.get('/', HOST).status == 200
    door.wait_for_log(r'\[a.example\] sleeps')
    eventually(lambda: set(processes.children(door.pid)) == {door.front(), pid}, what='the end of all but the companion')
    assert companion(door)['pid'] == pid


def test_a_crash_of_workers_zygote_or_front_leaves_them_alone(start, folder):
    door = start('queue: [python, companion.py, queue]')
    pid = facts(folder, 'queue')['pid']
    front = door.front()
    for other in set(processes.children(door.pid)) - {front, pid}:
        os.kill(other, signal.SIGKILL)
    os.kill(front, signal.SIGKILL)
    door.wait_for_log('the front is back')
    eventually(lambda: door.get('/', HOST).status == 200, what='the site serves')
    assert processes.alive(pid)
    assert companion(door)['pid'] == pid


def test_a_deploy_starts_them_anew_with_the_new_code(start, folder):
    for name in ('one', 'two'):
        (folder / name).mkdir()
        (folder / name).chmod(0o777)
        (folder / name / 'shop.py').write_text(APPLICATION)
        (folder / name / 'companion.py').write_text(COMPANION)
        (folder / name / 'version').write_text(name)
    (folder / 'current').symlink_to('one')
    door = start('queue: [python, companion.py, ../queue, tidy, parent]', directory=folder / 'current')
    first = facts(folder, 'queue')
    assert first['version'] == 'one'
    (folder / 'other').symlink_to('two')
    (folder / 'other').rename(folder / 'current')
    os.kill(first['pid'], signal.SIGKILL)  # one that ends by itself comes back with the code that was deployed
    first = eventually(lambda: (said := facts(folder, 'queue'))['pid'] != first['pid'] and said, what='another one')
    assert first['version'] == 'one'
    assert command('deploy', HOST, '--config', door.file).returncode == 0
    second = eventually(lambda: (said := facts(folder, 'queue'))['version'] == 'two' and said, what='the new one')
    assert not processes.alive(first['pid']) and not processes.alive(first['child'])
    door.wait_for_log(r'\[a.example queue\] tidied up')
    assert companion(door)['pid'] == second['pid'] and companion(door)['ends'] == 1
    assert door.stop() == 0


def test_a_deploy_that_fails_leaves_them_alone(start, folder):
    door = start('queue: [python, companion.py, queue]')
    pid = facts(folder, 'queue')['pid']
    (folder / 'shop.py').write_text('raise ValueError("not today")')
    assert command('deploy', HOST, '--config', door.file).returncode == 1
    assert processes.alive(pid) and companion(door)['pid'] == pid


@pytest.mark.parametrize('order, ends_well', [('tidy', True), ('deaf', False)])
def test_a_stop_tells_them_and_then_kills_them(start, folder, order, ends_well):
    door = start(f'queue: [python, companion.py, queue, parent, {order}]')
    said = facts(folder, 'queue')
    door.remember_descendants()
    door.signal(signal.SIGTERM)
    if not ends_well:
        door.wait_for_log('stopping: what runs')
        eventually(lambda: not processes.alive(said['child']), what='the end of its child, which is told too')
        assert processes.alive(said['pid'])
        door.signal(signal.SIGTERM)  # at once
    assert door.wait() == 0
    assert ('tidied up' in door.log()) == ends_well
    assert not processes.alive(said['pid']) and not processes.alive(said['child'])


@pytest.mark.parametrize('written, problem', [
    ('{queue: []}', 'write a command as a list of its words'),
    ('{queue: python manage.py}', 'write a command as a list of its words'),
    ('{queue: [""]}', 'write a command as a list of its words'),
    ('{"a b": [x]}', '"a b" is no name for a process'),
    ('[x]', 'names and commands'),
])
def test_mistakes_are_told(folder, written, problem):
    (folder / 'portico.yaml').write_text(f'sites:\n  {HOST}: {{wsgi: shop, directory: {folder}, processes: {written}}}\n')
    done = command('check', folder / 'portico.yaml')
    assert done.returncode == 2
    assert problem in done.stdout + done.stderr


def test_check_names_programs_that_are_not_there(folder):
    (folder / 'hello.py').write_text('')
    file = folder / 'portico.yaml'
    file.write_text(f'sites:\n  a.example:\n    wsgi: hello\n    directory: {folder}\n'
                    '    before_deploy: [[sh, -c, "true"], [no-such-tool, migrate]]\n'
                    '    processes:\n      queue: [./bin/queue]\n      mail: [python, mail.py]\n')
    done = command('check', file)
    assert done.returncode == 1
    assert re.search(r'yaml:5:\d+: warning: there is no program "no-such-tool" in \S+; install it', done.stderr)
    assert f'yaml:7:7: warning: there is no program "{folder}/./bin/queue"; install it' in done.stderr
    assert '2 things missing on this machine' in done.stderr
