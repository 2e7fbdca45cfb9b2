"""What an import leaves behind is found, and without preload each worker imports by itself."""
import os
import re
import socket

import pytest

from driver import hear, tell

APPLICATION = '''
import os
importer = os.getpid()
def application(environ, start_response):
    start_response('200 OK', [])
    return [repr((importer, os.getpid())).encode()]
'''

THREADS = '''
import threading, time, _thread
threading.Thread(target=time.sleep, args=(60,), name="culprit", daemon=True).start()
_thread.start_new_thread(time.sleep, (60,))
'''
LISTENS = '''
import socket
kept = socket.create_server(('127.0.0.1', 0))
print(kept.getsockname()[1], flush=True)
'''
PAIR = '''
import socket
kept = socket.socketpair()
'''
HARMLESS = '''
import socket, tempfile, threading
kept = [socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM), tempfile.TemporaryFile()]
kept[1].connect(('127.0.0.1', 9))
socket.create_server(('127.0.0.1', 0)).close()
worker = threading.Thread(target=print)
worker.start()
worker.join()
'''


@pytest.fixture
def start(make_site, tmp_path):
    """start(code, ...) -> the site, and what its zygote says of the import"""
    def run(code='', **options):
        (tmp_path / 'shop.py').write_text(code + APPLICATION)
        site = make_site('shop', tmp_path, **options)
        return site, hear(site.control)
    return run


def findings(message):
    assert message.verb == 'imported'
    return message.values.get('unfit')


def test_threads_are_found_and_named(start):
    _, message = start(THREADS)
    assert re.fullmatch(r'the thread culprit, a thread of a library, named \S+', findings(message))


def test_sockets_that_listen_are_found_and_named(start, make_site, tmp_path):
    _, message = start(LISTENS, stdout=open(tmp_path / 'stdout', 'wb'))
    port = (tmp_path / 'stdout').read_text().strip()
    assert re.fullmatch(rf'descriptor \d+, which listens on 127.0.0.1:{port}', findings(message))


@pytest.mark.parametrize('where', ['tcp4', 'tcp6', 'path', 'abstract'])
def test_connections_are_found_and_named(start, tmp_path, where):
    path = str(tmp_path / 'server')
    if where.startswith('tcp'):
        family, address = {'4': (socket.AF_INET, '127.0.0.1'), '6': (socket.AF_INET6, '::1')}[where[-1]]
        server = socket.create_server((address, 0), family=family)
        name = '%s:%d' % ('[::1]' if where == 'tcp6' else address, server.getsockname()[1])
    else:
        family = socket.AF_UNIX
        name = path if where == 'path' else '@' + path
        server = socket.socket(family)
        server.bind(name.replace('@', '\0'))
        server.listen()
    address = server.getsockname()
    with server:
        _, message = start(f'import socket\nkept = socket.socket(socket.AddressFamily({int(family)}))\nkept.connect({address!r})\n')
    assert re.fullmatch(rf'descriptor \d+, which is connected to {re.escape(name)}', findings(message))


def test_each_end_of_a_pair_is_found(start):
    _, message = start(PAIR)
    assert findings(message).count('which is connected to a socket without a name') == 2


def test_many_findings_are_cut(start):
    _, message = start('import socket\nkept = [socket.create_server(("127.0.0.1", 0)) for _ in range(20)]\n')
    assert findings(message).count('listens on') == 8 and findings(message).endswith(', and more')


def test_what_workers_may_share_is_not_a_finding(start):
    site, message = start(HARMLESS)
    assert findings(message) is None
    worker = site.fork()
    assert eval(site.ask(worker).body) == (site.zygote.pid, worker.pid)


def test_connections_of_django_are_closed_first(start, tmp_path):
    (tmp_path / 'django').mkdir()
    (tmp_path / 'django/__init__.py').write_text('')
    (tmp_path / 'django/db.py').write_text(
        'import socket\nclass connections:\n    kept = socket.create_server(("127.0.0.1", 0))\n'
        '    close_all = kept.close\n')
    _, message = start('import django.db\n')
    assert findings(message) is None


def test_without_preload_each_worker_imports(start):
    site, message = start(THREADS, preload=0)
    assert findings(message) is None
    first, second = site.fork(), site.fork()
    second.stop()
    site.exited()
    assert eval(site.ask(first).body) == (first.pid, first.pid)


def test_without_preload_the_zygote_stays_bare(start, tmp_path):
    site, message = start('raise ValueError("not today")\n', preload=0)
    assert message.verb == 'imported'
    (tmp_path / 'shop.py').write_text(APPLICATION)
    worker = site.fork()
    assert eval(site.ask(worker).body) == (worker.pid, worker.pid)


def test_a_worker_says_why_its_import_failed_and_ends(start, make_site):
    site, _ = start('import no_such_thing_at_all\n', preload=0)
    control, control_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    answers, answers_end = socket.socketpair()
    tell(site.control, 'fork', [control_end.fileno(), answers_end.fileno()], worker=3)
    control_end.close()
    answers_end.close()
    message = hear(control)
    assert message.verb == 'failed'
    assert message.values['reason'] == "ModuleNotFoundError: No module named 'no_such_thing_at_all'"
    assert hear(site.control).verb == 'forked'
    message = hear(site.control)
    assert message.verb == 'exited' and os.WEXITSTATUS(int(message.values['status'])) == 1
    assert 'Traceback' in make_site.log() and 'shop.py", line 1' in make_site.log()
    control.close()
    answers.close()


def test_hooks_run_after_the_workers_own_import(start):
    site, _ = start('import portico\ncalls = []\n@portico.post_fork\ndef connect():\n    calls.append(1)\n', preload=0)
    worker = site.fork()
    assert eval(site.ask(worker).body) == (worker.pid, worker.pid)
