"""New code under load: no request fails, none runs twice; what cannot serve never takes over."""
import collections
import json
import os
import re
import signal

import pytest

import processes
from door import command
from load import Load
from waiting import eventually

DEPLOYS = 5 * int(os.environ.get('PORTICO_SCALE', '1'))

# Answers with the code's version, and leaves a line for each POST, so that one run twice is seen.
CODE = '''
import os
VERSION = {version!r}
LOG = os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
{more}
def application(environ, start_response):
    if environ['REQUEST_METHOD'] == 'POST':
        os.write(LOG, (environ['QUERY_STRING'] + '\\n').encode())
        assert len(environ['wsgi.input'].read()) == int(environ['CONTENT_LENGTH'])
    total = sum(range(20000))
    start_response({status!r}, [('Content-Type', 'text/plain')])
    return [b'%s %d' % (VERSION.encode(), os.getpid())]
'''


class Shop:
    """An application whose code can be exchanged, behind a door that watches the file `touched`."""

    def __init__(self, portico, folder, more=''):
        self.folder = folder
        self.write('1')
        (folder / 'ran').write_text('')
        (folder / 'ran').chmod(0o666)
        (folder / 'touched').write_text('')
        self.door = portico(f'sites:\n  a.example: {{wsgi: hello, directory: {folder}, workers: 2, '
                            f'touch: {folder}/touched{more}}}\n')
        eventually(lambda: len(self.workers()) == 2, what='two workers')

    def write(self, version, status='200 OK', more=''):
        code = CODE.format(version=version, status=status, more=more, log=str(self.folder / 'ran'))
        other = self.folder / 'hello.new'
        other.write_text(code)
        other.rename(self.folder / 'hello.py')

    def touch(self):
        times = os.stat(self.folder / 'touched').st_mtime_ns + 1_000_000
        os.utime(self.folder / 'touched', ns=(times, times))

    def version(self):
        return self.door.get('/', 'a.example').body.decode().split()[0]

    def workers(self):
        front = self.door.front()
        zygotes = [pid for pid in processes.children(self.door.pid) if pid != front]
        return [worker for zygote in zygotes for worker in processes.children(zygote)]

    def deploy(self, version, **more):
        self.write(version, **more)
        self.touch()
        eventually(lambda: self.version() == version, what=f'version {version}')

    def refused(self, why):
        """Waits for the line that says why new code does not serve; the old does all the while."""
        self.door.wait_for_log(rf'deploy: {why}.*; the old code stays')
        assert self.version() == '1'


def answered(loads, method):
    return sum((load.statuses for load in loads if load.method == method), collections.Counter())


@pytest.mark.parametrize('more, body', [('', b''), (', request: stream', b'body')], ids=['complete', 'streamed'])
def test_deploys_under_load_lose_no_request_and_run_none_twice(portico, folder, more, body):
    shop = Shop(portico, folder, more)
    loads = [Load(shop.door, method, number, '/?', body=body) for number, method in enumerate(['GET', 'POST'] * 3)]
    for load in loads:
        load.start()
    for number in range(2, 2 + DEPLOYS):
        before = set(shop.workers())
        shop.deploy(str(number))
        eventually(lambda before=before: not before & set(shop.workers()) and len(shop.workers()) == 2,
                   what='two workers of the new code, and no old one')
    for load in loads:
        load.stop.set()
    for load in loads:
        load.join()
    assert set(answered(loads, 'GET')) == {200}
    posts = answered(loads, 'POST')
    assert set(posts) == {200}
    ran = collections.Counter((folder / 'ran').read_text().split())
    assert [name for name, count in ran.items() if count != 1] == []
    assert len(ran) == posts[200]


def test_kills_during_deploys_run_no_post_twice(portico, folder):
    shop = Shop(portico, folder)
    loads = [Load(shop.door, method, number, '/?') for number, method in enumerate(['GET', 'POST'] * 2)]
    for load in loads:
        load.start()
    for number in range(2, 2 + DEPLOYS):
        shop.write(str(number))
        shop.touch()
        shop.door.wait_for_log('deploy: importing', times=number - 1)
        kill_one(shop.workers())
        eventually(lambda number=number: shop.version() == str(number) or again(shop, number),
                   what=f'version {number}')
        eventually(lambda: len(shop.workers()) == 2, what='two workers')
    for load in loads:
        load.stop.set()
    for load in loads:
        load.join()
    assert set(answered(loads, 'GET')) == {200}
    posts = answered(loads, 'POST')
    assert set(posts) <= {200, 502}
    ran = collections.Counter((folder / 'ran').read_text().split())
    assert [name for name, count in ran.items() if count != 1] == []
    assert posts[200] <= len(ran) <= posts[200] + posts[502]


def kill_one(workers):
    try:
        os.kill(workers[0], signal.SIGKILL)
    except ProcessLookupError:
        pass  # it was about to leave


def again(shop, number):
    """Touches once more where the victim was the first worker of the new code."""
    if len(shop.door.log().split('deploy: its first worker')) > 1:
        shop.touch()
    return shop.version() == str(number)


def test_code_that_cannot_be_imported_keeps_the_old(portico, folder):
    shop = Shop(portico, folder)
    shop.write('2', more='raise ValueError("not today")')
    shop.touch()
    shop.refused('importing hello failed: ValueError: not today')
    shop.deploy('3')


def test_code_that_dies_while_it_is_imported_keeps_the_old(portico, folder):
    shop = Shop(portico, folder)
    shop.write('2', more='os._exit(3)')
    shop.touch()
    shop.refused('its Python ended with status 3')


def test_a_worker_that_cannot_start_keeps_the_old(portico, folder):
    shop = Shop(portico, folder)
    shop.write('2', more='os.register_at_fork(after_in_child=lambda: os._exit(1))')
    shop.touch()
    shop.refused('its first worker ended with status 1')
    assert len(shop.workers()) == 2


def test_an_error_of_the_warm_up_keeps_the_old(portico, folder):
    shop = Shop(portico, folder, ', warm: [/, /healthz]')
    shop.write('2', status='500 Oh')
    shop.touch()
    shop.refused('GET / answers 500')
    shop.write('3', status='404 Not Found')
    shop.touch()
    eventually(lambda: shop.version() == '3', what='the new code')
    assert 'GET /healthz answers 404' in shop.door.log()


def test_a_warm_up_without_an_answer_keeps_the_old(portico, folder):
    shop = Shop(portico, folder, ', timeouts: {response: 500ms}')
    shop.write('2', more='import threading\nos.write = None\napplication_ = threading.Event().wait')
    with (folder / 'hello.py').open('a') as file:
        file.write('\n    \ndef application(environ, start_response):\n    application_()\n')
    shop.touch()
    shop.refused('GET / is not answered in time')


def test_hooks_run_in_order_as_the_site_and_before_the_new_code_serves(portico, folder):
    out = folder / 'hooked'
    out.write_text('')
    out.chmod(0o666)
    note = 'import os, sys; open("hooked", "a").write(sys.argv[1] + os.environ.get("NAME", "") + "\\n"); print("said", sys.argv[1])'
    (folder / 'note.py').write_text(note)
    shop = Shop(portico, folder, ', environment: {NAME: "!"}, before_deploy: [[python, note.py, one], '
                                 '[python3, note.py, two]]')
    assert out.read_text() == ''  # a start is no deploy
    shop.deploy('2')
    assert out.read_text() == 'one!\ntwo!\n'
    shop.door.wait_for_log(r'\[a.example\] said one')


def test_a_hook_that_fails_keeps_the_old(portico, folder):
    shop = Shop(portico, folder, ', before_deploy: [[python, -c, "print(123); raise SystemExit(4)"], [touch, never]]')
    shop.write('2')
    shop.touch()
    shop.refused(r'python -c .* ended with status 4')
    assert '[a.example] 123' in shop.door.log()
    assert not (folder / 'never').exists()


def test_a_hook_that_is_not_there_keeps_the_old(portico, folder):
    shop = Shop(portico, folder, ', before_deploy: [[no-such-program]]')
    shop.touch()
    shop.refused('no-such-program: .*executing the program')


def test_what_is_imported_late_comes_from_the_release_that_was_deployed(portico, folder):
    for name in ('one', 'two'):
        (folder / name).mkdir()
        (folder / name / 'late.py').write_text(f'name = {name!r}\n')
        (folder / name / 'hello.py').write_text(
            'def application(environ, start_response):\n    start_response("200 OK", [])\n'
            '    if environ["PATH_INFO"] == "/late":\n        import late\n        return [late.name.encode()]\n'
            f'    return [b"{name}"]\n')
    (folder / 'current').symlink_to('one')
    (folder / 'touched').write_text('')
    door = portico(f'sites:\n  a.example: {{wsgi: hello, directory: {folder}/current, workers: 1, '
                   f'touch: {folder}/touched}}\n')
    assert door.get('/', 'a.example').body == b'one'
    (folder / 'other').symlink_to('two')
    (folder / 'other').rename(folder / 'current')
    assert door.get('/late', 'a.example').body == b'one'
    for zygote in set(processes.children(door.pid)) - {door.front()}:
        os.kill(zygote, signal.SIGKILL)  # a crash is no deploy
    door.wait_for_log('another is started')
    assert door.get('/', 'a.example').body == b'one'
    (folder / 'touched').write_text('now')
    eventually(lambda: door.get('/', 'a.example').body == b'two', what='the other release')
    assert door.get('/late', 'a.example').body == b'two'


def test_reload_deploys_when_a_source_changes(portico, folder):
    shop = Shop(portico, folder, ', reload: true, warm: []')
    shop.write('2')
    eventually(lambda: shop.version() == '2', what='the change')


def test_a_stop_in_the_middle_of_a_deploy_ends_everything(portico, folder):
    shop = Shop(portico, folder, ', before_deploy: [[sleep, "100"]]')
    shop.touch()
    shop.door.wait_for_log('running sleep 100')
    assert shop.door.stop() == 0


def portico_deploy(door, *words):
    """Runs `portico deploy` against a door; returns what it printed and its exit status."""
    done = command('deploy', *words, '--config', door.file)
    return done.stdout + done.stderr, done.returncode


def test_the_command_ends_well_once_the_new_code_serves(portico, folder):
    shop = Shop(portico, folder, ', before_deploy: [[python, -c, "print(12 * 12)"]]')
    shop.write('2')
    said, status = portico_deploy(shop.door, 'a.example')
    assert status == 0
    assert shop.version() == '2'
    assert 'a.example: importing hello in' in said
    assert 'a.example: 144\n' in said
    assert said.endswith('a.example: the new code serves\n')


def test_the_command_fails_and_says_why_the_old_code_stays(portico, folder):
    shop = Shop(portico, folder)
    shop.write('2', more='raise ValueError("not today")')
    said, status = portico_deploy(shop.door, 'a.example')
    assert status == 1
    assert 'a.example: importing hello failed: ValueError: not today; the old code stays' in said
    assert shop.version() == '1'


def deploy_status(door):
    return json.loads(command('status', '--json', door.file).stdout)['applications'][0]['deploy']


def test_status_tells_of_a_deploy_that_runs_and_how_the_last_one_ended(portico, folder):
    shop = Shop(portico, folder, f', before_deploy: [[sh, -c, "until test -e {folder}/go; do sleep 0.05; done"]]')
    assert deploy_status(shop.door) is None
    shop.write('2')
    shop.touch()
    told = eventually(lambda: (now := deploy_status(shop.door)) and now['step'].startswith('running sh') and now, what='the step')
    assert (told['state'], told['reason']) == ('running', None) and told['began'] <= told['since']
    assert re.search(r'a deploy runs since \S+Z: running sh -c .* since \S+Z$', command('status', shop.door.file).stdout, re.M)
    (folder / 'go').touch()
    told = eventually(lambda: (now := deploy_status(shop.door))['state'] == 'done' and now, what='the end')
    assert (told['step'], told['reason']) == (None, None)
    shop.write('3', more='raise ValueError("not today")')
    assert portico_deploy(shop.door, 'a.example')[1] == 1
    told = deploy_status(shop.door)
    assert (told['state'], told['step']) == ('failed', 'importing hello')
    assert told['reason'] == 'importing hello failed: ValueError: not today'
    assert re.search(r'the last deploy failed \S+Z, importing hello: .*not today; the old code stays', command('status', shop.door.file).stdout)
    assert command('status', shop.door.file).returncode == 0  # the old code serves


def test_a_directory_that_is_gone_keeps_the_old(portico, folder):
    (folder / 'one').mkdir()
    (folder / 'one/hello.py').write_text('def application(environ, start_response):\n    start_response("200 OK", [])\n'
                                         '    return [b"one"]\n')
    (folder / 'current').symlink_to('one')
    door = portico(f'sites:\n  a.example: {{wsgi: hello, directory: {folder}/current, workers: 1}}\n')
    assert door.get('/', 'a.example').body == b'one'
    (folder / 'current').unlink()
    said, status = portico_deploy(door, 'a.example')
    assert status == 1 and f'there is no directory {folder}/current; the old code stays' in said
    door.wait_for_log(r'deploy: there is no directory .*; the old code stays')
    assert deploy_status(door)['reason'] == f'there is no directory {folder}/current'
    assert door.get('/', 'a.example').body == b'one'


def test_another_deploy_of_a_site_is_refused_while_one_runs(portico, folder):
    shop = Shop(portico, folder, ', before_deploy: [[sleep, "100"]]')
    shop.touch()
    shop.door.wait_for_log('running sleep 100')
    said, status = portico_deploy(shop.door, '--all')
    assert (said, status) == ('a.example: a deploy of a.example runs already; wait for its end; the old code stays\n', 1)


def test_a_deploy_of_what_is_not_there_is_refused(portico, folder):
    shop = Shop(portico, folder)
    assert portico_deploy(shop.door, 'b.example') == ('portico: there is no site b.example\n', 1)
    said, status = portico_deploy(shop.door)
    assert status == 2
    assert '--all' in said


def test_all_sites_are_deployed_one_after_the_other(portico, folder):
    (folder / 'hello.py').write_text('def application(environ, start_response):\n    start_response("200 OK", [])\n'
                                     '    return [b"hello"]\n')
    door = portico('sites:\n' + ''.join(f'  {name}.example: {{wsgi: hello, directory: {folder}, workers: 1}}\n'
                                        for name in 'ab'))
    for name in 'ab':
        eventually(lambda name=name: door.get('/', f'{name}.example').status == 200, what='a worker')
    said, status = portico_deploy(door, '--all')
    assert status == 0
    ends = [line for line in said.splitlines() if line.endswith('the new code serves')]
    assert ends == ['a.example: the new code serves', 'b.example: the new code serves']
    assert said.index('b.example: importing') > said.index('a.example: the new code serves')


def test_serve_reloads_what_changes(doors, folder):
    (folder / 'hello.py').write_text('def app(environ, start_response):\n    start_response("200 OK", [])\n'
                                     '    return [b"one"]\n')
    door = doors('serve', 'hello', '--listen', '127.0.0.1:0', '--reload', cwd=folder)
    eventually(lambda: door.get().body == b'one', what='the code')
    (folder / 'hello.py').write_text('def app(environ, start_response):\n    start_response("200 OK", [])\n'
                                     '    return [b"other"]\n')
    eventually(lambda: door.get().body == b'other', what='the change')
