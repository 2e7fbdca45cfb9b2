"""Start: application references, errors that name what was looked for, the zygote's state, and its end."""
import os
import signal
import subprocess

import pytest

from driver import hear, tell, wait_until

HELLO = '''
def make(text):
    def application(environ, start_response):
        start_response('200 OK', [])
        return [text]
    return application

def factory():
    return make(b'factory')

class Holder:
    inner = staticmethod(make(b'inner'))
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / 'shop').mkdir()
    (tmp_path / 'shop/__init__.py').write_text('')
    (tmp_path / 'shop/wsgi.py').write_text(HELLO + 'application = make(b"application")\n')
    (tmp_path / 'only_app.py').write_text(HELLO + 'app = make(b"app")\n')
    (tmp_path / 'both.py').write_text(HELLO + 'app = make(b"app")\napplication = make(b"application")\n')
    (tmp_path / 'script.wsgi').write_text(HELLO + 'application = make(b"script")\n')
    (tmp_path / 'two').mkdir()
    (tmp_path / 'two/wsgi.py').write_text(HELLO + 'application = make(b"the module")\n')
    (tmp_path / 'two.wsgi').write_text(HELLO + 'application = make(b"the script")\n')
    (tmp_path / 'neither.py').write_text('x = 1\n')
    (tmp_path / 'with-dash.py').write_text(HELLO + 'import beside\napplication = make(beside.text)\n')
    (tmp_path / 'beside.py').write_text('text = b"beside"\n')
    (tmp_path / 'broken.py').write_text('import no_such_thing_at_all\n')
    (tmp_path / 'syntax.py').write_text('def (\n')
    (tmp_path / 'exits.py').write_text('raise SystemExit("bye")\n')
    return tmp_path


@pytest.mark.parametrize('reference, body', [
    ('shop.wsgi', b'application'), ('shop.wsgi:application', b'application'), ('shop.wsgi:factory()', b'factory'),
    ('shop.wsgi:Holder.inner', b'inner'), ('only_app', b'app'), ('both', b'application'), ('both:app', b'app'),
    ('script.wsgi', b'script'), ('./script.wsgi:factory()', b'factory'), ('two.wsgi', b'the module'),
    ('./two.wsgi', b'the script'), ('shop/wsgi.py', b'application'), ('shop/wsgi.py:factory()', b'factory'), ('with-dash.py', b'beside')])
def test_references(make_site, folder, reference, body):
    site = make_site(reference, folder).start()
    site.fork()
    assert site.ask().body == body


@pytest.mark.parametrize('reference, words', [
    ('no_such', ["no module 'no_such'"]), ('shop.views', ["'shop.views'"]), ('neither', ['neither', 'application', 'app']),
    ('shop.wsgi:missing', ['shop.wsgi', 'missing']), ('neither:x', ['not callable', 'int']), ('no.py', ['no file', 'no.py']),
    ('shop.wsgi:', ['module:callable']), ('broken', ['ModuleNotFoundError', 'no_such_thing_at_all']),
    ('syntax', ['SyntaxError']), ('exits', ['SystemExit', 'bye'])])
def test_failures_name_the_cause(make_site, folder, reference, words):
    site = make_site(reference, folder)
    message = hear(site.control)
    assert message.verb == 'failed'
    assert site.zygote.wait() == 1
    for word in words:
        assert word in message.values['reason'], message.values
    assert make_site.log() == '' or make_site.log().startswith('Traceback')  # the supervisor tells the reason


def test_the_traceback_of_a_failed_import_is_whole(make_site, folder):
    site = make_site('broken', folder)
    assert hear(site.control).verb == 'failed'
    site.zygote.wait()
    assert 'Traceback' in make_site.log() and 'broken.py", line 1' in make_site.log()


def test_a_script_leaves_no_bytecode_that_a_module_could_be_taken_for(make_site, folder):
    make_site('script.wsgi', folder).start()
    assert not list(folder.glob('__pycache__/script*'))


@pytest.mark.parametrize('arguments, fits', [
    ('', False), ('config', False), ('config=None', False), ('a, b, c', False), ('a, b, *, c', False), ('**options', False),
    ('a, b', True), ('environ, start_response, more=1', True), ('*both', True), ('a, *rest', True), ('a, b, *, c=1', True)])
def test_a_factory_named_without_parentheses_is_told(make_site, tmp_path, arguments, fits):
    (tmp_path / 'made.py').write_text(f'def create_app({arguments}):\n    return None\n')
    message = hear(make_site('made:create_app', tmp_path).control)
    assert message.verb == ('imported' if fits else 'failed')
    if not fits:
        assert message.values['reason'] == ('create_app in made cannot be called with environ and start_response; '
                                            'if it makes the application, write made:create_app()')


def test_a_missing_directory_is_a_failure(make_site, tmp_path):
    site = make_site('apps', tmp_path / 'nowhere')
    assert 'nowhere' in hear(site.control).values['reason']


STATE = '''
import gc, os, signal, sys
collecting_at_import = gc.isenabled()
def application(environ, start_response):
    start_response('200 OK', [])
    state = dict(cwd=os.getcwd(), path=sys.path[0], argv=sys.argv, gc=gc.isenabled(), frozen=gc.get_freeze_count(),
                 mask=[int(s) for s in signal.pthread_sigmask(signal.SIG_BLOCK, [])],
                 int=signal.getsignal(signal.SIGINT) is signal.default_int_handler,
                 chld=signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL,
                 modules=sorted(sys.modules),
                 fds=sorted(os.readlink('/proc/self/fd/' + n).split(':')[0] for n in os.listdir('/proc/self/fd')
                            if os.path.lexists('/proc/self/fd/' + n)),
                 stop=os.getppid())
    return [repr(state).encode()]
'''


def test_the_workers_state(make_site, tmp_path, python):
    (tmp_path / 'state.py').write_text(STATE)
    site = make_site('state', tmp_path).start()
    site.fork()
    state = eval(site.ask().body)
    assert state['cwd'] == state['path'] == str(tmp_path)
    assert state['argv'] == ['portico']
    assert state['gc'] is True and state['frozen'] > 1000
    assert state['mask'] == [] and state['int'] and state['chld']
    bare = subprocess.run([python, '-c', 'import sys, importlib.machinery, gc, atexit, signal, traceback, faulthandler; print(*sys.modules)'],
                          check=True, capture_output=True, text=True).stdout.split()
    extra = set(state['modules']) - set(bare) - {'_portico', 'state'}
    assert not extra, extra
    assert state['stop'] == site.zygote.pid
    # queue, control, one answer socket; cells; epoll, eventfd; standard streams. Nothing of the zygote's or of another's.
    assert state['fds'].count('socket') == 3


def test_a_second_worker_has_none_of_the_firsts_sockets(make_site, tmp_path):
    (tmp_path / 'state.py').write_text(STATE)
    site = make_site('state', tmp_path).start()
    first = site.fork()
    second = site.fork()
    first.stop()
    site.exited()
    assert eval(site.ask(second).body)['fds'].count('socket') == 3


def test_a_safe_path_keeps_its_entries(make_site, tmp_path):
    (tmp_path / 'state.py').write_text(STATE)
    site = make_site('state', tmp_path, environment=dict(os.environ, PYTHONSAFEPATH='1')).start()
    site.fork()
    assert eval(site.ask().body)['path'] == str(tmp_path)


def test_printed_lines_leave_at_once(make_site, tmp_path):
    (tmp_path / 'printer.py').write_text('def application(environ, start_response):\n    print("a line")\n'
                                         '    start_response("200 OK", [])\n    return []\n')
    with open(tmp_path / 'stdout', 'wb') as stdout:
        site = make_site('printer', tmp_path, stdout=stdout).start()
    site.fork()
    site.ask()
    assert (tmp_path / 'stdout').read_text() == 'a line\n'


def test_collection_stays_off_when_the_application_turned_it_off(make_site, tmp_path):
    (tmp_path / 'off.py').write_text('import gc\ngc.disable()\n' + STATE)
    site = make_site('off', tmp_path).start()
    site.fork()
    assert eval(site.ask().body)['gc'] is False


def test_a_death_is_reported_with_its_raw_status(make_site):
    site = make_site().start()
    worker = site.fork()
    worker.kill()
    gone, status = site.exited()
    assert gone is worker and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def test_children_of_the_application_are_not_reaped(make_site, tmp_path):
    (tmp_path / 'parent.py').write_text('import subprocess\nchild = subprocess.Popen(["true"])\n' + STATE)
    site = make_site('parent', tmp_path).start()
    worker = site.fork()
    worker.stop()
    assert site.exited() == (worker, 0)


def test_the_zygote_leaves_when_its_control_ends(make_site):
    site = make_site().start()
    site.control.close()
    assert site.zygote.wait(20) == 0


def test_stop_ends_the_zygote_after_its_last_worker(make_site):
    site = make_site().start()
    worker = site.fork()
    tell(site.control, 'stop')
    assert site.ask(target='/hello').status == 200
    assert site.zygote.poll() is None
    worker.stop()
    assert site.exited() == (worker, 0)
    assert site.zygote.wait(20) == 0


def test_workers_die_with_the_zygote(make_site):
    site = make_site().start()
    worker = site.fork()
    site.zygote.kill()
    site.zygote.wait()
    wait_until(lambda: not os.path.exists('/proc/%d/exe' % worker.pid) or
               open('/proc/%d/stat' % worker.pid).read().split()[2] in 'ZX', 'death')


def test_descriptors_may_come_ahead_in_more_messages(make_site, tmp_path):
    import socket
    site = make_site(threads=3, front_threads=2).start()
    control, control_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pairs = [socket.socketpair() for _ in range(6)]
    tell(site.control, 'more', [control_end.fileno(), pairs[0][1].fileno()])
    tell(site.control, 'more', [pairs[1][1].fileno()])
    tell(site.control, 'fork', [end.fileno() for _, end in pairs[2:]], worker=9)
    assert hear(site.control).values['worker'] == '9'
    assert hear(control).verb == 'ready'
    for end in [control, control_end] + [end for pair in pairs for end in pair]:
        end.close()


def test_unknown_messages_are_ignored(make_site):
    site = make_site().start()
    tell(site.control, 'dance', style='tango')
    site.fork()
    assert site.ask(target='/hello').status == 200


AT_EXIT = '''
import atexit, os, sys, threading, time
atexit.register(os.write, 2, b'atexit ran\\n')
def application(environ, start_response):
    threading.Thread(target=lambda: (time.sleep(0.05), os.write(2, b'thread ended\\n'))).start()
    print('printed', end='')
    start_response('200 OK', [])
    return [b'']
'''


def test_a_worker_leaves_as_an_interpreter_does(make_site, tmp_path):
    (tmp_path / 'leaver.py').write_text(AT_EXIT)
    site = make_site('leaver', tmp_path).start()
    worker = site.fork()
    site.ask()
    worker.stop()
    assert site.exited() == (worker, 0)
    assert make_site.log() == 'thread ended\natexit ran\n'
