"""The control socket and its commands: status, logs, stop; who may use them, and who may not."""
import json
import os
import signal
import socket
import stat
import subprocess
import threading

import pytest

import processes
from door import binary, command, environment
from endpoint import text
from waiting import PATIENCE, eventually

TALKATIVE = '''import os, signal
def application(environ, start_response):
    if environ['PATH_INFO'] == '/die':
        os.kill(os.getpid(), signal.SIGKILL)
    print('asked for', environ['PATH_INFO'], flush=True)
    start_response('200 OK', [])
    return [b'ok']
'''
OTHER = 65533  # a user who has nothing to do with any of it

as_root = pytest.mark.skipif(os.geteuid() != 0, reason='needs root')


@pytest.fixture
def site(portico, folder):
    """A door with an application in a.example, and its control socket where everybody may come."""
    (folder / 'talkative.py').write_text(TALKATIVE)
    door = portico(f'control: {folder}/c.sock\n'
                   f'sites:\n  a.example: {{wsgi: talkative, directory: {folder}, workers: 2}}\n')
    door.get('/hello', 'a.example')
    return door


def status(door):
    """What `portico status --json` says, and its exit status."""
    done = command('status', '--json', door.file)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout), done.returncode


def wait_for_status(door, wanted):
    """Asks until the exit status is that; returns what was said then. Who asked before may still be counted (4)."""
    def holds():
        done = command('status', '--json', door.file)
        assert done.returncode in (0, 1, 4), done.stderr
        return json.loads(done.stdout) if done.returncode == wanted else None
    return eventually(holds, what=f'exit status {wanted} of portico status')


def command_as(user, *words):
    with open(binary(), 'rb') as program:  # by its descriptor: it may lie where the user may not go
        return subprocess.run([f'/proc/self/fd/{program.fileno()}', *map(str, words)], env=environment(), text=True,
                              capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, user=user, group=user,
                              extra_groups=[], pass_fds=(program.fileno(),))


# status

def test_status_tells_of_sites_workers_and_requests(site):
    said = wait_for_status(site, 0)
    assert (said['state'], said['supervisor']['pid'], said['front']['pid']) == ('well', site.pid, site.front())
    application = said['applications'][0]
    assert (application['name'], application['phase'], application['reason']) == ('a.example', 'ready', None)
    workers = application['workers']
    assert [worker['state'] for worker in workers] == ['ready', 'ready']
    assert {worker['pid'] for worker in workers} == set(processes.children(application['zygote']['pid']))
    assert all(worker['memory'] > 100_000 and worker['age'] > 0 for worker in workers)
    assert sum(worker['requests'] for worker in workers) == 1
    assert said['sites'][0]['requests']['2xx'] == 1


def test_status_for_people_is_plain_where_it_is_no_terminal(site):
    wait_for_status(site, 0)
    done = command('status', site.file)
    assert done.returncode == 0
    assert f'is well: process {site.pid}' in done.stdout
    assert 'WORKER' in done.stdout and '\x1b' not in done.stdout


def test_a_worker_that_dies_is_among_the_errors_and_another_is_there(site):
    before = wait_for_status(site, 0)['applications'][0]['workers']
    site.get('/die', 'a.example', method='POST')
    after = eventually(lambda: [said for said in [status(site)[0]['applications'][0]]
                                if said['errors'] and len(said['workers']) == 2], what='a new worker')[0]
    assert 'killed by signal 9' in after['errors'][0]['text']
    assert {worker['pid'] for worker in after['workers']} != {worker['pid'] for worker in before}


def test_a_site_that_cannot_be_imported_is_down_and_says_why(portico, folder):
    (folder / 'broken.py').write_text('import no_such_module\n')
    door = portico(f'sites:\n  a.example: {{wsgi: broken, directory: {folder}}}\n')
    door.wait_for_log('is not running: importing broken failed')
    said = wait_for_status(door, 1)
    assert (said['state'], said['applications'][0]['state']) == ('down', 'down')
    assert 'no_such_module' in said['applications'][0]['reason']
    assert 'no_such_module' in command('status', door.file).stdout


def test_an_endpoint_that_is_down_is_named_with_its_reason(portico, endpoint):
    end = endpoint(lambda request: text('ok'))
    with socket.create_server(('127.0.0.1', 0)) as gone:
        port = gone.getsockname()[1]
    door = portico(f'''
pools:
  api: {{endpoints: ["{end.address}", "127.0.0.1:{port}"], health: {{interval: 50ms}}}}
sites: {{a.example: {{to: api}}}}
''')
    said = wait_for_status(door, 1)
    endpoints = {each['address']: each for each in said['pools'][0]['endpoints']}
    assert endpoints[end.address]['state'] == 'up'
    assert endpoints[f'127.0.0.1:{port}'] == {'address': f'127.0.0.1:{port}', 'state': 'down', 'running': 0,
                                              'reason': 'its health check fails'}
    with socket.create_server(('127.0.0.1', port)):
        assert wait_for_status(door, 0)['state'] == 'well'


def test_a_front_that_does_not_answer_is_said_within_a_short_time(site):
    wait_for_status(site, 0)
    os.kill(site.front(), signal.SIGSTOP)
    try:
        said, code = status(site)
    finally:
        os.kill(site.front(), signal.SIGCONT)
    assert (code, said['reasons'], said['front_answers']) == (1, ['the front does not answer'], False)
    assert said['applications'][0]['workers'][0]['requests'] is None


def test_status_without_a_portico_is_3(tmp_path):
    file = tmp_path / 'portico.yaml'
    file.write_text(f'control: {tmp_path}/c.sock\nsites: {{a.example: {{to: "127.0.0.1:9"}}}}\n')
    for verb in ('status', 'stop'):
        done = command(verb, file)
        assert done.returncode == 3
        assert f'not running: nobody listens at {tmp_path}/c.sock' in done.stderr


def test_a_file_that_has_no_control_says_so(tmp_path):
    file = tmp_path / 'portico.yaml'
    file.write_text('control: "off"\nsites: {a.example: {to: "127.0.0.1:9"}}\n')
    done = command('status', file)
    assert done.returncode == 4
    assert '"control" off' in done.stderr


# logs

def test_logs_are_what_the_site_wrote(site):
    site.get('/one', 'a.example')
    site.get('/two', 'a.example')
    done = eventually(lambda: [done for done in [command('logs', 'a.example', '-n', '2', '--config', site.file)]
                               if '/two' in done.stdout], what='the line in the log')[0]
    assert done.returncode == 0
    assert [line.split(' ', 1)[1] for line in done.stdout.splitlines()] == ['asked for /one', 'asked for /two']


def test_logs_follow(site):
    with subprocess.Popen([binary(), 'logs', 'a.example', '-f', '-n', '0', '--config', str(site.file)],
                          env=environment(), stdout=subprocess.PIPE, text=True) as following:
        try:
            # The first line may come before it listens: ask until one arrives, then others must.
            stop = threading.Event()
            asking = threading.Thread(target=lambda: [site.get('/again', 'a.example')
                                                      for _ in iter(lambda: stop.wait(0.05), True)])
            asking.start()
            first = following.stdout.readline()
            stop.set()
            asking.join()
            assert 'asked for /again' in first
            site.get('/the-last', 'a.example')
            assert any('asked for /the-last' in line for line in iter(following.stdout.readline, ''))
        finally:
            following.kill()


def test_logs_end_with_portico(site):
    with subprocess.Popen([binary(), 'logs', 'a.example', '-f', '--config', str(site.file)],
                          env=environment(), stdout=subprocess.PIPE, text=True) as following:
        assert 'asked for /hello' in following.stdout.readline()
        assert site.stop() == 0
        assert following.wait(PATIENCE) == 0


def test_logs_of_a_site_that_there_is_not(site):
    done = command('logs', 'b.example', '--config', site.file)
    assert (done.returncode, done.stderr) == (1, 'portico: there is no site b.example\n')


def test_logs_of_a_site_without_an_application(portico):
    door = portico('sites: {a.example: {to: "127.0.0.1:9"}}\n')
    done = command('logs', 'a.example', '--config', door.file)
    assert done.returncode == 1
    assert 'has no application' in done.stderr


# stop

def test_stop_waits_until_all_has_ended(site):
    everyone = site.remember_descendants()
    done = command('stop', site.file)
    assert done.returncode == 0
    assert site.wait() == 0
    assert not [pid for pid in everyone if processes.alive(pid)]
    assert 'told to stop over the control socket' in site.log()


def test_stop_lets_what_runs_finish(portico, endpoint):
    arrived, release = threading.Event(), threading.Event()

    def answer(request):
        arrived.set()
        release.wait(PATIENCE)
        return text('done')
    door = portico(f'sites:\n  a.example: {{to: "{endpoint(answer).address}"}}\n')
    with door.connect() as connection:
        connection.request('/', 'a.example')
        assert arrived.wait(PATIENCE)
        with subprocess.Popen([binary(), 'stop', str(door.file)], env=environment()) as stopping:
            door.wait_for_log('stopping: ')
            said, code = status(door)
            assert (code, said['stopping']) == (1, True)
            assert stopping.poll() is None
            release.set()
            assert connection.read_response().body == b'done'
            assert stopping.wait(PATIENCE) == 0
    assert door.wait() == 0


# who may

@as_root
def test_others_may_nothing(site, folder):
    file = folder / 'portico.yaml'  # the same place, in a file that everybody may read
    file.write_text(site.file.read_text())
    for words in (('status', file), ('stop', file), ('logs', 'a.example', '--config', file)):
        done = command_as(OTHER, *words)
        assert done.returncode == 1, done.stderr
        assert f'user {OTHER} may not do this; root and user 0, who runs Portico, may' in done.stderr
    assert site.process.poll() is None


@as_root
def test_the_front_s_and_the_workers_user_may_nothing(site):
    user = int(processes.status(site.front(), 'Uid')[0])
    assert user != 0
    ask = f'GET /v1/status HTTP/1.0\r\n\r\n'
    script = ('import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); '
              's.sendall(sys.argv[2].encode()); print(s.makefile().readline())')
    done = subprocess.run(['/usr/bin/python3', '-c', script, socket_of(site), ask], text=True, capture_output=True,
                          user=user, group=user, extra_groups=[], timeout=PATIENCE)
    assert ' 403 ' in done.stdout


def socket_of(door):
    return next(line.split(': ')[1] for line in door.file.read_text().splitlines() if line.startswith('control: '))


def ask_raw(door, data):
    """Sends bytes to the control socket; returns what it answered until it closed."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE)
        client.connect(socket_of(door))
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        return b''.join(iter(lambda: client.recv(65536), b''))


def test_there_is_nothing_else_to_be_asked(site):
    for request in (b'GET / HTTP/1.0\r\n\r\n', b'GET /v1/stop HTTP/1.0\r\n\r\n', b'GET /v1/status/ HTTP/1.0\r\n\r\n',
                    b'DELETE /v1/sites/a.example/log HTTP/1.0\r\nContent-Length: 0\r\n\r\n',
                    b'GET /v1/../v1/status HTTP/1.0\r\n\r\n'):
        assert b' 404 ' in ask_raw(site, request)
    assert b' 40' in ask_raw(site, b'nonsense\r\n\r\n')
    assert site.process.poll() is None


def test_callers_that_hoard_or_say_nothing_harm_nobody(site):
    hoard = []
    try:
        for _ in range(300):
            client = socket.socket(socket.AF_UNIX)
            client.setblocking(False)
            try:
                client.connect(socket_of(site))
            except BlockingIOError:
                client.close()
                continue
            hoard.append(client)
        assert site.get('/', 'a.example').status == 200
        crowded = command('status', site.file)
        assert (crowded.returncode, crowded.stdout) == (4, '')
        assert 'Too many connections' in crowded.stderr
    finally:
        for client in hoard:
            client.close()
    wait_for_status(site, 0)


def test_a_follower_that_does_not_read_harms_nobody(site):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(socket_of(site))
        client.sendall(b'GET /v1/sites/a.example/log?follow=yes&lines=0 HTTP/1.0\r\n\r\n')
        for number in range(50):
            assert site.get('/' + 'x' * 4000, 'a.example').status == 200
        wait_for_status(site, 0)


# the socket's place

def test_the_socket_is_there_with_the_right_mode_and_gone_after_the_end(site):
    path = socket_of(site)
    assert stat.S_IMODE(os.stat(path).st_mode) == (0o666 if os.geteuid() == 0 else 0o600)
    assert site.stop() == 0
    assert not os.path.exists(path)


def test_that_of_a_dead_instance_is_replaced_that_of_a_living_one_is_an_error(portico, doors, site):
    second = command('run', site.file)
    assert second.returncode == 1
    assert 'another Portico runs there' in second.stderr
    wait_for_status(site, 0)  # the first one still has its socket
    site.kill()
    assert os.path.exists(socket_of(site))
    again = doors('run', site.file)
    again.file = site.file
    wait_for_status(again, 0)


def test_a_place_that_cannot_be_made_is_told_and_stops_nothing(portico, endpoint):
    end = endpoint(lambda request: text('ok'))
    door = portico(f'control: /proc/nowhere/c.sock\nsites:\n  a.example: {{to: "{end.address}"}}\n')
    door.wait_for_log('error no control socket at /proc/nowhere/c.sock: .*write another path after "control"')
    assert door.get('/', 'a.example').status == 200


@pytest.mark.parametrize('trap', ['others may write in it', 'it is no directory'])
def test_a_directory_that_is_a_trap_is_not_used(portico, endpoint, folder, trap):
    place = folder / 'place'
    if trap == 'it is no directory':
        place.write_text('')
    else:
        place.mkdir()
        place.chmod(0o777)
    end = endpoint(lambda request: text('ok'))
    door = portico(f'control: {place}/c.sock\nsites:\n  a.example: {{to: "{end.address}"}}\n')
    door.wait_for_log(f'error no control socket at .*: {trap}')


@as_root
def test_another_user_s_portico_is_not_asked(tmp_path, folder):
    """Somebody who listens where the socket is looked for could tell lies, or learn."""
    path = folder / 'place' / 'c.sock'
    path.parent.mkdir()
    os.chown(path.parent, OTHER, OTHER)
    script = ('import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); '
              'import os; os.chmod(sys.argv[1], 0o777); print("listens", flush=True); sys.stdin.read()')
    with subprocess.Popen(['/usr/bin/python3', '-c', script, str(path)], user=OTHER, group=OTHER, extra_groups=[],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as liar:
        assert liar.stdout.readline() == 'listens\n'
        file = folder / 'portico.yaml'
        file.write_text(f'control: {path}\nsites: {{a.example: {{to: "127.0.0.1:9"}}}}\n')
        done = command_as(65532, 'status', file)
        liar.stdin.close()
    assert done.returncode == 4
    assert f'is run by user {OTHER}, who is neither you nor root' in done.stderr
