"""Applications that sleep until they are asked, and workers that come and go."""
import json
import os
import signal
import subprocess
import threading
import time

import pytest

import processes
from applications import needs
from door import PYTHON, SANITIZED, command
from waiting import eventually

HELLO = '''
import os, time
def application(environ, start_response):
    if environ['PATH_INFO'] == '/slow': time.sleep(float(environ['QUERY_STRING']))
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return [b'%d' % os.getpid()]
'''

DJANGO = '''
import django
from django.conf import settings
settings.configure(DEBUG=False, ALLOWED_HOSTS=['*'], ROOT_URLCONF=__name__, SECRET_KEY='x',
                   INSTALLED_APPS=['django.contrib.contenttypes', 'django.contrib.auth', 'django.contrib.sessions',
                                   'django.contrib.messages', 'django.contrib.admin'])
from django.http import HttpResponse
from django.urls import path
urlpatterns = [path('', lambda request: HttpResponse('hello'))]
from django.core.wsgi import get_wsgi_application
application = get_wsgi_application()
'''


def start(portico, folder, workers='min: 0, max: 2, idle: 1s', more='', code=HELLO, **others):
    (folder / 'hello.py').write_text(code)
    return portico(f'sites:\n  a.example: {{wsgi: hello, directory: {folder}, workers: {{{workers}}}{more}}}\n', **others)


def zygotes(door):
    front = door.front()
    return [pid for pid in processes.children(door.pid) if pid != front]


def workers(door):
    return [worker for zygote in zygotes(door) for worker in processes.children(zygote)]


def application(door):
    """What status says of it, and the exit status."""
    done = command('status', '--json', door.file)
    return json.loads(done.stdout)['applications'][0], done.returncode


def ask(door, target='/'):
    """A request in a thread of its own; join() it, then look at its `answer`."""
    def run():
        try:
            thread.answer = door.get(target, 'a.example')
        except (OSError, EOFError):
            pass  # no answer
    thread = threading.Thread(target=run)
    thread.answer = None
    thread.start()
    return thread


def until_asleep(door):
    eventually(lambda: zygotes(door) == [], what='no process of the application')


def test_nothing_runs_until_somebody_asks_and_again_after_the_idle_time(portico, folder):
    door = start(portico, folder)
    assert zygotes(door) == []
    shown, code = application(door)
    assert (shown['phase'], shown['state'], code) == ('sleeping', 'well', 0)
    for times in range(1, 4):
        assert door.get('/', 'a.example').status == 200
        assert application(door)[0]['phase'] == 'ready'
        door.wait_for_log('sleeps: there was no request for 1s', times=times)
        until_asleep(door)
    assert application(door)[1] == 0
    assert ' error ' not in door.log() and ' warning ' not in door.log()


def test_many_that_come_at_once_wait_for_one_start(portico, folder):
    door = start(portico, folder, code='import time\ntime.sleep(0.5)\n' + HELLO, more=', timeouts: {queue: 100ms}')
    asked = [ask(door) for _ in range(20)]
    for thread in asked:
        thread.join()
    assert {thread.answer.status for thread in asked} == {200}
    assert door.log().count('starts: a request came') == 1


def test_requests_that_come_as_it_falls_asleep_are_answered(portico, folder):
    door = start(portico, folder, 'min: 0, max: 1, idle: 1ms')
    until = time.monotonic() + 10
    answered, longest = 0, 0.0
    while time.monotonic() < until:
        begun = time.monotonic()
        assert door.get('/', 'a.example').status == 200
        longest = max(longest, time.monotonic() - begun)
        answered += 1
        sleepy = answered % 7 / 1000  # at any moment of the way to sleep
        threading.Event().wait(sleepy)
    assert len([line for line in door.log().splitlines() if 'starts: a request came' in line]) > 5
    assert longest < (20 if SANITIZED else 5)


def test_more_workers_while_requests_wait_and_fewer_when_they_do_not(portico, folder):
    door = start(portico, folder, 'min: 1, max: 3, idle: 1s')
    eventually(lambda: len(workers(door)) == 1, what='the first')
    asked = [ask(door, '/slow?1') for _ in range(3)]
    eventually(lambda: len(workers(door)) == 3, what='three')
    for thread in asked:
        thread.join()
    assert len({thread.answer.body for thread in asked}) == 3
    eventually(lambda: len(workers(door)) == 1, what='one again')
    assert door.get('/', 'a.example').status == 200
    assert application(door)[0]['workers_min'] == 1


def test_a_short_burst_brings_no_other_worker(portico, folder):
    door = start(portico, folder, 'min: 1, max: 3, idle: 10m')
    eventually(lambda: len(workers(door)) == 1, what='the first')
    door.get('/', 'a.example')
    for thread in [ask(door, '/slow?0.005') for _ in range(3)]:
        thread.join()
    assert application(door)[0]['workers_wanted'] == 1


def test_what_runs_longer_than_the_idle_time_keeps_it_awake(portico, folder):
    door = start(portico, folder, 'min: 0, max: 1, idle: 200ms')
    assert door.get('/slow?2', 'a.example').status == 200
    assert 'sleeps' not in door.log()
    until_asleep(door)


def test_a_health_probe_neither_wakes_it_nor_counts_as_use(portico, folder):
    log = folder / 'asked'
    log.write_text('')
    log.chmod(0o666)
    (folder / 'hello.py').write_text(f'''
def application(environ, start_response):
    open({str(log)!r}, 'a').write(environ['HTTP_HOST'] + environ['PATH_INFO'] + '\\n')
    start_response('200 OK', [])
    return [b'']
''')
    both = f'wsgi: hello, directory: {folder}, health: {{path: /healthz, interval: 50ms}}'
    door = portico(f'sites:\n  a.example: {{{both}, workers: {{min: 0, max: 2, idle: 1s}}}}\n'
                   f'  b.example: {{{both}, workers: 1}}\n')

    def probes(host):
        return log.read_text().count(host + '/healthz')
    assert door.get('/', 'a.example').status == 200
    eventually(lambda: probes('a.example') >= 3, what='three probes')
    door.wait_for_log('sleeps: there was no request for 1s')
    eventually(lambda: len(zygotes(door)) == 1, what='only the other has processes')
    before, others = probes('a.example'), probes('b.example')
    eventually(lambda: probes('b.example') >= others + 10, what='ten intervals')
    assert probes('a.example') == before
    assert door.log().count('starts: a request came') == 1
    shown, code = application(door)
    assert (shown['phase'], code) == ('sleeping', 0)


def test_a_failing_import_is_told_at_once_and_tried_when_somebody_asks(portico, folder):
    tries = folder / 'tries'
    tries.write_text('')
    tries.chmod(0o666)
    broken = f'open({str(tries)!r}, "a").write("x")\nraise ValueError("not today")\n'
    door = start(portico, folder, code=broken)
    asked = [ask(door) for _ in range(5)]
    for thread in asked:
        thread.join()
    assert {thread.answer.status for thread in asked} == {503}
    assert b'importing the application' in asked[0].answer.body
    eventually(lambda: application(door)[0]['phase'] == 'sleeping', what='it sleeps again')
    begun = time.monotonic()
    while time.monotonic() < begun + 3:  # a storm of requests is no storm of starts
        assert door.get('/', 'a.example').status == 503
    assert len(tries.read_text()) <= 8  # 0.1, 0.2, 0.4, 0.8, 1.6 s between them
    (folder / 'hello.py').write_text(HELLO)
    eventually(lambda: door.get('/', 'a.example').status == 200, what='the mended one')


def test_a_zygote_that_is_killed_in_its_start_is_a_failed_start(portico, folder):
    door = start(portico, folder, code='import time\ntime.sleep(1)\n' + HELLO)
    asked = ask(door)
    zygote, = eventually(lambda: zygotes(door), what='the zygote')
    os.kill(zygote, signal.SIGKILL)
    asked.join()
    assert asked.answer.status == 503
    eventually(lambda: door.get('/', 'a.example').status == 200, what='another start')


def test_a_zygote_that_is_killed_while_it_is_awake_is_replaced(portico, folder):
    door = start(portico, folder, 'min: 0, max: 1, idle: 10m')
    assert door.get('/', 'a.example').status == 200
    zygote, = zygotes(door)
    os.kill(zygote, signal.SIGKILL)
    door.wait_for_log('another is started')
    assert door.get('/', 'a.example').status == 200


def test_a_stop_in_the_middle_of_a_start_ends_everything(portico, folder):
    door = start(portico, folder, code='import time\ntime.sleep(100)\n' + HELLO, more=', timeouts: {start: 100s}')
    asked = ask(door)
    eventually(lambda: zygotes(door), what='the zygote')
    door.remember_descendants()
    door.signal(signal.SIGTERM)
    door.wait_for_log('a second signal ends it at once')
    door.signal(signal.SIGTERM)
    door.wait()
    asked.join()


def test_a_deploy_of_one_that_sleeps_tries_the_code_and_lets_it_sleep(portico, folder):
    (folder / 'log').write_text('')
    (folder / 'log').chmod(0o666)
    door = start(portico, folder, code=HELLO.replace("b'%d' % os.getpid()", "b'one'"),
                 more=', before_deploy: [[touch, migrated]]')
    folder.chmod(0o777)
    assert door.get('/', 'a.example').body == b'one'
    until_asleep(door)
    (folder / 'hello.py').write_text(HELLO.replace("b'%d' % os.getpid()", "b'two'"))
    done = command('deploy', 'a.example', '--config', door.file)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'GET / answers 200' in done.stdout + done.stderr
    assert (folder / 'migrated').exists()
    until_asleep(door)
    (folder / 'hello.py').write_text('raise ValueError("not today")\n')
    done = command('deploy', 'a.example', '--config', door.file)
    assert done.returncode == 1
    assert application(door)[0]['phase'] == 'sleeping'
    (folder / 'hello.py').write_text(HELLO.replace("b'%d' % os.getpid()", "b'two'"))
    assert door.get('/', 'a.example').body == b'two'


def test_the_death_of_the_front_changes_nothing_for_one_that_sleeps(portico, folder):
    door = start(portico, folder)
    before = door.front()
    os.kill(before, signal.SIGKILL)
    eventually(lambda: processes.children(door.pid) not in ([], [before]), what='another front')

    def answers():
        try:
            return door.get('/', 'a.example').status == 200
        except (OSError, EOFError):
            return False
    eventually(answers, what='an answer')
    until_asleep(door)


def test_companions_do_not_sleep(portico, folder):
    door = start(portico, folder, more=', processes: {queue: [sleep, "1000"]}')

    def companions():
        return [pid for pid in zygotes(door) if processes.command_line(pid)[0].endswith(b'sleep')]
    before, = eventually(companions, what='the companion')
    assert application(door)[0]['phase'] == 'sleeping'
    assert door.get('/', 'a.example').status == 200
    eventually(lambda: zygotes(door) == [before], what='only the companion is left')


def plain_start(python, folder):
    """How long the interpreter takes to start and import, by itself: the best of three."""
    def once():
        begun = time.monotonic()
        subprocess.run([python, '-c', 'import hello'], cwd=folder, check=True)
        return time.monotonic() - begun
    return min(once() for _ in range(3))


def first_answer(door):
    begun = time.monotonic()
    assert door.get('/', 'a.example').status == 200
    return time.monotonic() - begun


def test_the_first_request_of_a_django_site_waits_little_longer_than_the_import(portico, folder, record_property):
    needs('django', 'python3-django')
    door = start(portico, folder, 'min: 0, max: 2, idle: 500ms', code=DJANGO)
    folder.chmod(0o777)  # the worker's user keeps its bytecode, as the plain start does
    alone = plain_start(PYTHON, folder)
    times = []
    for _ in range(3):
        until_asleep(door)
        times.append(first_answer(door))
    ratio = min(times) / alone
    print(f'first answer {min(times) * 1000:.0f} ms, import alone {alone * 1000:.0f} ms: {ratio:.2f}')
    assert ratio < 3  # 1.2 on a machine that does nothing else


def test_the_second_worker_is_ready_in_a_tenth_of_a_second(portico, folder):
    needs('django', 'python3-django')
    door = start(portico, folder, 'min: 0, max: 2, idle: 10m', code=DJANGO.replace(
        "lambda request: HttpResponse('hello')", "answer").replace(
        'from django.urls', 'import time\ndef answer(request):\n'
        '    if request.GET: time.sleep(1)\n    return HttpResponse("hello")\nfrom django.urls'))
    assert door.get('/', 'a.example').status == 200
    asked = [ask(door, '/?slow=1') for _ in range(2)]
    begun = time.monotonic()
    eventually(lambda: application(door)[0]['workers_wanted'] == 2, what='a second worker is wanted')
    eventually(lambda: len(workers(door)) == 2, what='the second worker')
    print(f'the second worker was there after {(time.monotonic() - begun) * 1000:.0f} ms, '
          'of which 100 ms are the patience with requests that wait')
    for thread in asked:
        thread.join()
        assert thread.answer.status == 200
    assert time.monotonic() - begun < 1.9  # one after the other they take 2 s
