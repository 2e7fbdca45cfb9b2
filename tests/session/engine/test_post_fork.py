"""import portico: what post_fork hooks do, and when."""
import os
import socket

from driver import hear, tell

HOOKED = '''
import os
import portico
calls = []

@portico.post_fork
def first():
    calls.append(('first', os.getpid()))

@portico.post_fork
def second():
    calls.append(('second', os.getpid()))

at_import = (list(calls), os.getpid())

def application(environ, start_response):
    start_response('200 OK', [('X-Version', portico.__version__)])
    return [repr((at_import, calls, callable(first))).encode()]
'''
SECOND = "calls.append(('second', os.getpid()))"


def test_hooks_run_in_each_worker_once_and_in_order(make_site, tmp_path):
    (tmp_path / 'hooked.py').write_text(HOOKED)
    site = make_site('hooked', tmp_path).start()
    site.fork().stop()
    site.exited()
    second = site.fork()
    for _ in range(2):
        at_import, calls, is_kept = eval(site.ask(second).body)
        assert at_import == ([], site.zygote.pid) and is_kept
        assert calls == [('first', second.pid), ('second', second.pid)]


def fork_in_vain(site):
    """Asks for a worker that ends before it is ready; returns its wait status."""
    control, control_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    answers, answers_end = socket.socketpair()
    tell(site.control, 'fork', [control_end.fileno(), answers_end.fileno()], worker=9)
    control_end.close()
    answers_end.close()
    assert hear(site.control).verb == 'forked'
    message = hear(site.control)
    assert (message.verb, message.values['worker']) == ('exited', '9')
    assert hear(control).verb == ''  # no ready
    control.close()
    answers.close()
    return int(message.values['status'])


def test_a_hook_that_raises_ends_the_worker_before_it_is_ready(make_site, tmp_path):
    (tmp_path / 'failing.py').write_text(HOOKED.replace(SECOND, 'raise ValueError("no connection")'))
    site = make_site('failing', tmp_path).start()
    status = fork_in_vain(site)
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 1
    log = make_site.log()
    assert 'portico: the post_fork hook second raised' in log
    assert 'Traceback' in log and 'in second' in log and 'ValueError: no connection' in log
    assert site.zygote.poll() is None


def test_a_hook_that_exits_does_likewise(make_site, tmp_path):
    (tmp_path / 'exiting.py').write_text(HOOKED.replace(SECOND, 'raise SystemExit(0)'))
    site = make_site('exiting', tmp_path).start()
    assert os.WEXITSTATUS(fork_in_vain(site)) == 1
    assert 'the post_fork hook second raised' in make_site.log()


def test_what_is_no_hook_is_refused_at_once(make_site, tmp_path):
    (tmp_path / 'wrong.py').write_text('import portico\nportico.post_fork(5)\n')
    site = make_site('wrong', tmp_path)
    assert 'portico.post_fork takes a callable, not 5' in hear(site.control).values['reason']


def test_a_module_of_the_sites_own_by_that_name_is_found_first(make_site, tmp_path):
    (tmp_path / 'portico.py').write_text('def application(environ, start_response):\n    start_response("200 OK", [])\n'
                                         '    return [b"its own"]\n')
    site = make_site('portico', tmp_path).start()
    site.fork()
    assert site.ask().body == b'its own'
