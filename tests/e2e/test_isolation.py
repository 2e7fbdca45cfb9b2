"""What an application can see and reach: its own user, directory, environment and descriptors, and nobody else's."""
import json
import os
import re
import signal

import pytest

import processes
from door import SANITIZED
from load import Load
from waiting import eventually

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason='users are changed by root only')

# Answers with the value of the expression in the body, as JSON: what it sees from the inside.
CODE = '''
import ctypes, json, os, resource, subprocess, sys, time
def attempt(act):
    try:
        act()
    except OSError as error:
        return type(error).__name__
    return 'done'
def link(number):
    try:
        return os.readlink('/proc/self/fd/%d' % number)
    except OSError:
        return 'gone'
def attach(pid):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(16, pid, 0, 0) != 0:  # PTRACE_ATTACH
        raise OSError(ctypes.get_errno(), 'ptrace')
def leave_child():
    return subprocess.Popen(['sleep', '3600']).pid
def application(environ, start_response):
    length = int(environ.get('CONTENT_LENGTH') or 0)
    text = environ['wsgi.input'].read(length).decode()
    result = json.dumps(eval(text, globals()))
    start_response('200 OK', [('Content-Type', 'application/json')])
    return [result.encode()]
'''


def start(portico, folder, **sites):
    """A door with sites NAME.example; the value: further keys of each."""
    (folder / 'inside.py').write_text(CODE)
    lines = [f'  {name}.example: {{wsgi: inside, directory: {folder}, workers: 1{more}}}\n'
             for name, more in sites.items()]
    return portico('sites:\n' + ''.join(lines))


def ask(door, expression, name='a'):
    answer = door.get('/', f'{name}.example', method='POST', body=expression.encode())
    assert answer.status == 200, answer.body
    return json.loads(answer.body)


@needs_root
def test_each_site_runs_as_its_user_with_all_its_groups(portico, folder):
    door = start(portico, folder, a=', user: daemon', b='')
    assert ask(door, 'os.getresuid()') == [1, 1, 1]
    assert ask(door, 'os.getresgid()') == [1, 1, 1]
    assert set(ask(door, 'os.getgroups()')) == set(os.getgrouplist('daemon', 1))
    assert ask(door, 'os.umask(0)') == 0o022
    assert ask(door, 'os.getcwd()') == str(folder)
    assert ask(door, 'os.getuid()', 'b') not in (0, 1)
    assert ask(door, 'attempt(lambda: os.setuid(0))') == 'PermissionError'


@needs_root
def test_a_user_that_is_not_there_is_503_and_named(portico, folder):
    door = start(portico, folder, a=', user: no-such-user-here', b='')
    door.wait_for_log(r'\[a.example\] is not running: there is no user "no-such-user-here"')
    answer = door.get('/', 'a.example')
    assert answer.status == 503 and b'becoming its user' in answer.body
    assert ask(door, '1 + 1', 'b') == 2


def test_nothing_of_our_environment_leaks_in(portico, folder):
    (folder / 'inside.py').write_text(CODE)
    door = portico(f'sites: {{a.example: {{wsgi: inside, directory: {folder}, environment: {{OWN: value}}}}}}\n',
                   env={'PORTICO_SECRET': 'x', 'NOTIFY_SOCKET': '/x', 'PYTHONPATH': '/x', 'LC_TIME': 'C.UTF-8'})
    seen = ask(door, 'dict(os.environ)')
    assert seen['OWN'] == 'value' and seen['LC_TIME'] == 'C.UTF-8'
    allowed = {'OWN', 'PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LANGUAGE', 'LC_TIME', 'LC_CTYPE', 'TZ'}
    assert {name for name in seen if not name.endswith('SAN_OPTIONS')} <= allowed


def test_secrets_reach_the_application_and_no_log(portico, folder):
    secrets = folder / 'secrets'
    secrets.write_text('# of the shop\nPASSWORD="hunter2 and more"\nOTHER=plain\n')
    secrets.chmod(0o600)
    door = start(portico, folder, a=f', environment_file: {secrets}, environment: {{OTHER: first}}')
    assert ask(door, '[os.environ["PASSWORD"], os.environ["OTHER"]]') == ['hunter2 and more', 'first']
    assert 'hunter2' not in door.log() + ''.join(door.access_log())


def test_a_mistake_in_the_secrets_is_told_with_its_line_and_mended(portico, folder):
    secrets = folder / 'secrets'
    secrets.write_text('A=1\nhunter2\n')
    door = start(portico, folder, a=f', environment_file: {secrets}')
    door.wait_for_log(rf'\[a.example\] is not running: {secrets}:2: no "=" in the line; write NAME=value')
    answer = door.get('/', 'a.example')
    assert answer.status == 503 and b'reading its environment file' in answer.body
    secrets.write_text('A=mended\n')
    eventually(lambda: door.get('/', 'a.example', method='POST', body=b'1').status == 200, what='the site runs')
    assert ask(door, 'os.environ["A"]') == 'mended'
    assert 'hunter2' not in door.log()


def test_no_descriptor_of_ours_but_those_of_the_hand_over(portico, folder):
    (folder / 'log').mkdir()
    door = start(portico, folder, a=f', log: {{access: {folder}/log/access}}')
    links = ask(door, '[link(int(n)) for n in os.listdir("/proc/self/fd")]')
    allowed = re.compile(r'/dev/null|pipe:|socket:|anon_inode:\[(eventpoll|eventfd)\]|/memfd:portico-cells|gone|/proc/')
    assert [link for link in links if not allowed.match(link)] == []
    script = 'import os; print(sorted(os.listdir("/proc/self/fd")))'
    children = ask(door, f'subprocess.run([sys.executable, "-c", {script!r}], close_fds=False, '
                         'capture_output=True, text=True).stdout')
    assert eval(children) == ['0', '1', '2', '3']  # 3: the listing itself


def test_limits_and_privileges(portico, folder):
    door = start(portico, folder, a='')
    worker = ask(door, 'os.getpid()')
    assert processes.status(worker, 'NoNewPrivs') == ['1']
    assert ask(door, 'resource.getrlimit(resource.RLIMIT_CORE)') == [0, 0]
    if os.geteuid() == 0:
        assert ask(door, 'resource.getrlimit(resource.RLIMIT_NPROC)') == [1024, 1024]
    scores = {pid: int(open(f'/proc/{pid}/oom_score_adj').read()) for pid in (worker, door.front(), door.pid)}
    assert scores[worker] > scores[door.front()] >= scores[door.pid]


@needs_root
@pytest.mark.parametrize('users', [('daemon', 'nobody'), ('nobody', 'nobody')])
def test_one_site_cannot_look_into_another(portico, folder, users):
    door = start(portico, folder, a=f', user: {users[0]}', b=f', user: {users[1]}')
    other = ask(door, 'os.getpid()', 'b')
    everyone = [other, processes.parent(other), door.pid]
    if not SANITIZED:  # whose search for leaks needs a front that can be looked into
        everyone.append(door.front())
    for pid in everyone:
        for what in ('mem', 'environ', 'fd/0', 'maps'):
            assert ask(door, f'attempt(lambda: open("/proc/{pid}/{what}").close())') == 'PermissionError', what
        assert ask(door, f'attempt(lambda: attach({pid}))') == 'PermissionError'
    if users[0] != users[1]:
        for pid in everyone:
            assert ask(door, f'attempt(lambda: os.kill({pid}, 9))') == 'PermissionError'
    assert ask(door, 'os.getpid()', 'b') == other


def test_what_a_killed_worker_leaves_behind_ends_with_it(portico, folder):
    door = start(portico, folder, a='')
    worker, child = ask(door, '[os.getpid(), leave_child()]')
    assert processes.parent(child) == worker
    os.kill(worker, signal.SIGKILL)
    eventually(lambda: not processes.alive(child), what='the end of the child')
    assert ask(door, '1') == 1


def test_what_an_application_leaves_behind_ends_with_portico(portico, folder):
    door = start(portico, folder, a='')
    child = ask(door, 'leave_child()')
    door.remember_descendants()
    assert door.stop() == 0
    eventually(lambda: not processes.alive(child), what='the end of the child')


# It goes on in each of its children; who cannot fork waits for the end.
BOMB = '''
import os, time
def application(environ, start_response):
    start_response('200 OK', [])
    if environ['PATH_INFO'] != '/bomb':
        return [b'ok']
    while True:
        try:
            os.fork()
        except OSError:
            time.sleep(3600)
'''


@needs_root
def test_a_fork_bomb_is_bounded_and_another_site_does_not_notice(portico, folder):
    (folder / 'bomb.py').write_text(BOMB)
    door = portico('sites:\n'
                   f'  a.example: {{wsgi: bomb, directory: {folder}, user: daemon, timeouts: {{response: 2s}}}}\n'
                   f'  b.example: {{wsgi: bomb, directory: {folder}, user: nobody}}\n')
    assert door.get('/', 'a.example').status == 200
    load = Load(door, 'POST', 0, host='b.example')
    load.start()
    assert door.get('/bomb', 'a.example').status == 504
    assert len(processes.descendants(door.pid)) < 1200
    door.wait_for_log(r'\[a.example\] worker \d+ .*hangs', within=60)
    eventually(lambda: len(processes.descendants(door.pid)) < 20, 60, 'the end of what the bomb left')
    eventually(lambda: door.get('/', 'a.example').status == 200, 60, 'the site is well again')
    load.stop.set()
    load.join()
    assert set(load.statuses) == {200} and load.statuses[200] > 10


def test_what_is_printed_without_end_is_cut_and_dropped(portico, folder):
    door = start(portico, folder, a='')
    ask(door, 'sys.stderr.write("y" * 100000 + "\\n")')
    door.wait_for_log(r'\[a.example\] y+ \[line cut\]')
    ask(door, '[sys.stderr.write("z" * 1000 + "\\n") for _ in range(20000)] and None')
    told = r'\[a.example\] \[\d+ lines dropped: too many in a second\]'
    eventually(lambda: ask(door, 'print("on")') is None and re.search(told, door.log()), what=told)
    assert len(door.log()) < 10_000_000
