"""Workers that make room for new ones: no request fails or waits, one at a time, and the log says why."""
import collections
import json
import os
import re

import processes
from door import command
from load import Load
from test_worker_deaths import place, workers_of
from waiting import eventually

HELLO = '''
import os
kept = []
def application(environ, start_response):
    if environ['PATH_INFO'] == '/grow': kept.append(bytearray(os.urandom(1 << 20) * 8))
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return [b'%d' % os.getpid()]
'''


def start(portico, folder, recycle, workers=2, threads=1):
    door = portico(f'sites:\n  a.example: {{wsgi: hello, directory: {folder}, workers: {workers}, threads: {threads}, '
                   f'recycle: {{{recycle}}}}}\n')
    eventually(lambda: len(workers_of(door)) == workers, what='the workers')
    return door


def recycled(door):
    """(worker, reason) of each, in order."""
    return re.findall(r'worker (\d+) is recycled (.*)$', door.log(), re.MULTILINE)


def status(door):
    done = command('status', '--json', door.file)
    return json.loads(done.stdout)['applications'][0], done.returncode


def test_recycling_under_load_loses_no_request_and_runs_none_twice(portico, folder, threads):
    place(folder)
    door = start(portico, folder, 'requests: 100, jitter: 50%', threads=threads)
    loads = [Load(door, method, number, '/?') for number, method in enumerate(['GET', 'POST'] * 4)]
    for load in loads:
        load.start()
    most = 0

    def ten_have_gone():
        nonlocal most
        most = max(most, len(workers_of(door)))
        return len(recycled(door)) >= 10
    eventually(ten_have_gone, 60, what='ten exchanges')
    for load in loads:
        load.stop.set()
    for load in loads:
        load.join()
    assert sum((load.statuses for load in loads), collections.Counter()).keys() == {200}
    ran = collections.Counter((folder / 'ran').read_text().split())
    assert [name for name, count in ran.items() if count != 1] == []
    assert len(ran) == sum(load.statuses[200] for load in loads if load.method == 'POST')
    assert most <= 3
    answers = [int(re.fullmatch(r'after (\d+) requests', why).group(1)) for _, why in recycled(door)]
    assert all(100 <= each <= 150 for each in answers)
    assert len(set(answers)) > 1
    eventually(lambda: len(workers_of(door)) == 2, what='two workers again')


def test_a_worker_that_grows_is_recycled_for_its_memory(portico, folder):
    (folder / 'hello.py').write_text(HELLO)
    door = start(portico, folder, 'memory: 60MiB', workers=1)
    before = int(door.get('/', 'a.example').body)
    for _ in range(10):
        assert int(door.get('/grow', 'a.example').body) == before
    eventually(lambda: int(door.get('/', 'a.example').body) != before, what='its successor')
    door.wait_for_log('is recycled')
    (worker, why), = recycled(door)
    assert worker == '1'
    size = int(re.fullmatch(r'for (\d+) MiB of memory of its own, above 60MiB', why).group(1))
    assert 80 <= size <= 120
    eventually(lambda: workers_of(door) and before not in workers_of(door), what='the end of the old one')
    assert status(door)[0]['workers_recycled'] == 1


def test_a_worker_that_only_shares_memory_stays(portico, folder):
    (folder / 'hello.py').write_text('shared = bytearray(100 << 20)\nshared[::4096] = b"x" * len(shared[::4096])\n' + HELLO)
    door = start(portico, folder, 'memory: 60MiB', workers=1)
    worker = int(door.get('/', 'a.example').body)
    rss = int(processes.status(worker, 'VmRSS')[0])
    assert rss > 100 << 10
    # A look is taken five seconds after an answer; what tells that they are over is another door's worker.
    other = start(portico, folder, 'lifetime: 6s, jitter: 0%', workers=1)
    eventually(lambda: recycled(other), what='six seconds')
    assert recycled(door) == []
    assert int(door.get('/', 'a.example').body) == worker


def test_a_worker_is_recycled_at_its_age_without_any_request(portico, folder):
    (folder / 'hello.py').write_text(HELLO)
    door = start(portico, folder, 'lifetime: 1s, jitter: 0%')
    before = set(workers_of(door))
    eventually(lambda: len(recycled(door)) >= 2, what='both have had their time')
    assert all(re.fullmatch('at an age of [1-9]+s', why) for _, why in recycled(door))
    eventually(lambda: not before & set(workers_of(door)), what='others')


def test_a_request_that_runs_is_finished_by_the_one_that_leaves(portico, folder):
    (folder / 'hello.py').write_text(
        'import os\n'
        'def application(environ, start_response):\n'
        '    start_response("200 OK", [])\n'
        '    if environ["PATH_INFO"] == "/wait": os.open(environ["QUERY_STRING"], os.O_RDONLY)\n'
        '    return [b"%d" % os.getpid()]\n')
    os.mkfifo(folder / 'gate')
    (folder / 'gate').chmod(0o666)
    door = start(portico, folder, 'requests: 3, jitter: 0%', workers=1, threads=2)
    with door.connect() as waiting:
        waiting.request(f'/wait?{folder}/gate', 'a.example')
        first = int(door.get('/', 'a.example').body)
        for _ in range(2):
            assert int(door.get('/', 'a.example').body) == first
        eventually(lambda: int(door.get('/', 'a.example').body) != first, what='its successor')
        assert first in workers_of(door)
        shown = status(door)[0]['workers']
        assert [worker['state'] for worker in shown if worker['pid'] == first] == ['leaving']
        with open(folder / 'gate', 'w'):
            assert waiting.read_response().body == b'%d' % first
    eventually(lambda: first not in workers_of(door), what='its end')


def test_embedded_it_is_refused(folder):
    (folder / 'hello.py').write_text(HELLO)
    file = folder / 'portico.yaml'
    file.write_text(f'sites: {{a.example: {{wsgi: hello, directory: {folder}, embedded: true, recycle: {{requests: 5}}}}}}\n')
    done = command('check', file)
    assert done.returncode == 2
    assert '"recycle" needs processes of the application\'s own' in done.stdout + done.stderr
