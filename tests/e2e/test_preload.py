"""preload: false, and imports after which nothing may be forked: each worker imports by itself."""
import json
import os
import re
import signal
import socket

import pytest

import processes
from door import command
from waiting import eventually

HOST = 'a.example'

# Says who imported it, and what its background thread has counted; `more` comes first.
CODE = '''
import json, os, threading, time
importer = os.getpid()
ticks = []
{more}
def application(environ, start_response):
    if environ['PATH_INFO'] == '/slow':
        time.sleep(0.2)
    start_response('200 OK', [('Content-Type', 'application/json')])
    return [json.dumps({{'importer': importer, 'pid': os.getpid(), 'ticks': len(ticks),
                        'release': os.path.basename(os.path.dirname(__file__))}}).encode()]
'''
# As a scheduler does it that begins where it is imported.
SCHEDULER = '''
def tick():
    while True:
        ticks.append(os.getpid())
        time.sleep(0.01)
threading.Thread(target=tick, name='scheduler', daemon=True).start()
'''


def write(folder, more=''):
    other = folder / 'shop.new'
    other.write_text(CODE.format(more=more))
    other.rename(folder / 'shop.py')


def start(portico, folder, options, more=''):
    write(folder, more)
    return portico(f'sites:\n  {HOST}: {{wsgi: shop, directory: {folder}, {options}}}\n')


def facts(door):
    return json.loads(door.get('/', HOST).body)


def application_status(door):
    done = command('status', '--json', door.file)
    return json.loads(done.stdout)['applications'][0], done.returncode


def zygote(door):
    front = door.front()
    return next(pid for pid in processes.children(door.pid) if pid != front)


def workers(door):
    return processes.children(zygote(door))


def one_of_each(door, count):
    """pid -> what that worker says, for so many workers: while one is busy the other is asked."""
    def ask():
        connections = [door.connect() for _ in range(count)]
        for connection in connections:
            connection.request('/slow', HOST)
        said = [json.loads(connection.read_response().body) for connection in connections]
        for connection in connections:
            connection.close()
        seen = {each['pid']: each for each in said}
        return seen if len(seen) == count else None
    return eventually(ask, what=f'answers of {count} workers')


def test_without_preload_each_worker_imports_by_itself(portico, folder):
    door = start(portico, folder, 'workers: 2, preload: false', 'time.sleep(0.05)')
    seen = one_of_each(door, 2)
    assert all(pid == said['importer'] for pid, said in seen.items())
    eventually(lambda: set(workers(door)) == set(seen), what='both are children of the one zygote')
    status, health = application_status(door)
    assert (status['preload'], health) == (False, 0)
    assert 'leaves behind' not in door.log()


@pytest.mark.parametrize('options, more', [('preload: false, ', ''), ('', SCHEDULER)])
def test_a_site_that_sleeps_imports_at_each_waking(portico, folder, options, more):
    door = start(portico, folder, options + 'workers: {min: 0, max: 2, idle: 1s}', more)
    first = facts(door)
    assert first['importer'] == first['pid']
    door.wait_for_log(r'\[a.example\] sleeps')
    second = eventually(lambda: (said := facts(door))['pid'] != first['pid'] and said, what='another worker')
    assert second['importer'] == second['pid']
    assert all(pid == said['importer'] for pid, said in one_of_each(door, 2).items())
    assert door.log().count('leaves behind') == bool(more)


def test_with_preload_the_zygote_imports(portico, folder):
    door = start(portico, folder, 'workers: 2')
    assert facts(door)['importer'] == zygote(door)
    assert application_status(door)[0]['preload'] is True


def test_threads_of_the_import_live_in_each_worker(portico, folder):
    door = start(portico, folder, 'workers: 2', SCHEDULER)
    seen = one_of_each(door, 2)
    assert all(pid == said['importer'] for pid, said in seen.items())
    later = eventually(lambda: (now := one_of_each(door, 2)).keys() == seen.keys() and now, what='the same two workers')
    assert all(later[pid]['ticks'] > seen[pid]['ticks'] for pid in seen)
    assert len(re.findall(r'leaves behind the thread scheduler: workers forked .*@portico.post_fork', door.log())) == 1
    status, health = application_status(door)
    assert (status['preload'], health) == (False, 0)
    assert ['the thread scheduler' in error['text'] for error in status['errors']] == [True]
    assert 'each worker imports by itself' in command('status', door.file).stdout


def test_connections_of_the_import_are_named(portico, folder):
    with socket.create_server(('127.0.0.1', 0)) as database:
        port = database.getsockname()[1]
        door = start(portico, folder, 'workers: 1', f'import socket\nkept = socket.create_connection(("127.0.0.1", {port}))')
        said = facts(door)
    assert said['importer'] == said['pid']
    door.wait_for_log(rf'importing shop leaves behind descriptor \d+, which is connected to 127.0.0.1:{port}: ')


def test_preload_false_is_silent_about_threads(portico, folder):
    door = start(portico, folder, 'workers: 1, preload: false', SCHEDULER)
    assert facts(door)['ticks'] >= 0
    assert 'leaves behind' not in door.log()


def test_a_crash_of_the_zygote_does_not_tell_again(portico, folder):
    door = start(portico, folder, 'workers: 1', SCHEDULER)
    facts(door)
    os.kill(zygote(door), signal.SIGKILL)
    door.wait_for_log('another is started')
    assert facts(door)['ticks'] >= 0
    assert door.log().count('leaves behind') == 1


@pytest.mark.parametrize('failing, why', [('raise ValueError("not today")', 'importing shop failed: ValueError: not today'),
                                          ('os._exit(3)', 'importing shop: its worker ended with status 3'),
                                          ('os.abort()', r'importing shop: its worker crashed with signal 6 \(Aborted\)')])
def test_an_import_that_fails_is_503_with_back_off_until_it_is_mended(portico, folder, failing, why):
    door = start(portico, folder, 'workers: 4, preload: false', failing)
    door.wait_for_log(rf'\[a.example\] is not running: {why}')
    response = door.get('/', HOST)
    assert response.status == 503
    status, health = application_status(door)
    assert health != 0 and re.match(why, status['reason'])
    door.wait_for_log('is not running', times=3)
    assert door.log().count('is not running') < 8  # 0.1 s, 0.2 s, 0.4 s ...: one at a time
    write(folder)
    eventually(lambda: door.get('/', HOST).status == 200, what='the mended code')
    eventually(lambda: len(workers(door)) == 4, what='four workers')


def test_a_failed_import_is_tried_where_the_link_leads_then(portico, folder):
    for name, code in (('one', 'raise ValueError(1)'), ('two', '')):
        (folder / name).mkdir()
        write(folder / name, code)
    (folder / 'current').symlink_to('one')
    door = portico(f'sites:\n  {HOST}: {{wsgi: shop, directory: {folder}/current, workers: 1, preload: false}}\n')
    door.wait_for_log('is not running: importing shop failed: ValueError: 1')
    (folder / 'other').symlink_to('two')
    (folder / 'other').rename(folder / 'current')
    eventually(lambda: door.get('/', HOST).status == 200, what='the other release')


def test_an_import_that_hangs_shows_where_and_is_tried_again(portico, folder):
    door = start(portico, folder, 'workers: 2, preload: false, timeouts: {start: 500ms}',
                 'def wait_for_ever():\n    while not os.path.exists("go"): time.sleep(3600)\nwait_for_ever()')
    door.wait_for_log(r'worker \d+ is not ready after 0.5 s \(timeouts.start\)')
    door.wait_for_log(r'File ".*shop.py", line \d+ in wait_for_ever$')
    door.wait_for_log(r'\[a.example\] is not running: importing shop hung')
    assert door.get('/', HOST).status == 503
    (folder / 'go').write_text('')
    eventually(lambda: door.get('/', HOST).status == 200, what='the site runs')


def test_a_failed_import_whose_threads_go_on_is_ended(portico, folder):
    door = start(portico, folder, 'workers: 1, preload: false',
                 'threading.Thread(target=threading.Event().wait).start()\nraise ValueError("and yet it runs")')
    door.wait_for_log('is not running: importing shop failed: ValueError: and yet it runs', times=2)


def test_hooks_run_in_each_worker(portico, folder):
    door = start(portico, folder, 'workers: 2, preload: false',
                 'import portico\n@portico.post_fork\ndef hooked():\n    ticks.append(1)')
    assert [said['ticks'] for said in one_of_each(door, 2).values()] == [1, 1]


def test_workers_that_come_later_import_the_release_that_was_deployed(portico, folder):
    for name in ('one', 'two'):
        (folder / name).mkdir()
        write(folder / name)
    (folder / 'current').symlink_to('one')
    door = portico(f'sites:\n  {HOST}: {{wsgi: shop, directory: {folder}/current, workers: 1, preload: false}}\n')
    first = facts(door)
    assert first['release'] == 'one'
    (folder / 'other').symlink_to('two')
    (folder / 'other').rename(folder / 'current')
    os.kill(first['pid'], signal.SIGKILL)
    door.wait_for_log('was killed by signal 9')
    second = facts(door)
    assert second['release'] == 'one' and second['pid'] != first['pid']
    assert command('deploy', HOST, '--config', door.file).returncode == 0
    assert facts(door)['release'] == 'two'


def test_a_deploy_imports_before_its_hooks_and_refuses_what_fails(portico, folder):
    hook = 'before_deploy: [[python, -c, "open(\'hooked\', \'a\').write(\'.\')"]]'
    folder.chmod(0o777)
    door = start(portico, folder, f'workers: 2, preload: false, {hook}')
    before = facts(door)['pid']
    write(folder, 'raise ValueError("not today")')
    done = command('deploy', HOST, '--config', door.file)
    assert done.returncode == 1
    assert 'importing shop failed: ValueError: not today; the old code stays' in done.stdout + done.stderr
    assert not (folder / 'hooked').exists()
    assert processes.alive(before)
    write(folder)
    assert command('deploy', HOST, '--config', door.file).returncode == 0
    assert (folder / 'hooked').read_text() == '.'
    eventually(lambda: facts(door)['pid'] not in (before,) and len(workers(door)) == 2, what='two new workers')


def test_a_deploy_falls_back_and_says_so(portico, folder):
    door = start(portico, folder, 'workers: 1')
    assert facts(door)['importer'] == zygote(door)
    write(folder, SCHEDULER)
    done = command('deploy', HOST, '--config', door.file)
    assert done.returncode == 0
    assert 'leaves behind the thread scheduler' in done.stdout
    said = facts(door)
    assert said['importer'] == said['pid']
    write(folder)
    assert command('deploy', HOST, '--config', door.file).returncode == 0
    said = facts(door)
    assert said['importer'] != said['pid']


def test_always_forks_whatever_the_import_leaves(portico, folder):
    door = start(portico, folder, 'workers: 2, preload: always', SCHEDULER)
    said = facts(door)
    assert said['importer'] == zygote(door) != said['pid']
    door.wait_for_log(r'leaves behind the thread scheduler: workers are forked all the same \(preload: always\)')
    assert 'preload: always' in command('check', door.file, '--effective').stdout


def test_a_deploy_whose_import_hangs_shows_where(portico, folder):
    door = start(portico, folder, 'workers: 1, preload: false, timeouts: {start: 3s}')
    before = facts(door)['pid']
    write(folder, 'def wait_for_ever():\n    time.sleep(3600)\nwait_for_ever()')
    assert command('deploy', HOST, '--config', door.file).returncode == 1
    door.wait_for_log(r'File ".*shop.py", line \d+ in wait_for_ever$')
    assert facts(door)['pid'] == before


def test_a_stop_does_not_wait_for_imports(portico, folder):
    door = start(portico, folder, 'workers: 1, preload: false', 'open("begun", "w")\ntime.sleep(3600)')
    folder.chmod(0o777)
    eventually((folder / 'begun').exists, what='the import has begun')
    door.signal(signal.SIGTERM)
    assert door.wait(15) == 0  # of 30 s that it might take


def test_an_embedded_application_is_not_preloaded(folder):
    (folder / 'portico.yaml').write_text(
        f'sites:\n  {HOST}: {{wsgi: shop, directory: {folder}, embedded: true, preload: false}}\n')
    done = command('check', folder / 'portico.yaml')
    assert done.returncode == 2
    assert '"preload" needs processes of the application\'s own' in done.stdout + done.stderr
