"""Running out of things: slow clients, too many of them, descriptors, bodies, disks, patience.

Whoever hoards is cut off at a stated limit, and the door goes on serving others.
"""
import os
import socket
import struct
import threading
import time

import pytest

import processes
from endpoint import text
from waiting import eventually

MB = 1_000_000

# /large gives 10 MB, all else the length of the body.
APPLICATION = '''
def application(environ, start_response):
    start_response('200 OK', [('Content-Type', 'text/plain')])
    if environ['PATH_INFO'] == '/large':
        return (b'x' * 100000 for _ in range(100))
    return [b'%d' % len(environ['wsgi.input'].read())]
'''


def answer(request):
    """An endpoint that does the same."""
    if request.target == '/large':
        return text(b'x' * 10 * MB)
    return text(b'%d' % len(request.body))


@pytest.fixture
def two(portico, endpoint, folder):
    """two(more, code) -> a door before p.example, which is proxied, and w.example, an application, as above.

    s.example is the application with requests that are streamed.
    """
    end = endpoint(answer)

    def start(more='', code=APPLICATION, **options):
        (folder / 'counting.py').write_text(code)
        return portico(f'{more}\nsites:\n  p.example: {{to: "{end.address}"}}\n'
                       f'  w.example: {{wsgi: counting, directory: {folder}, workers: 1}}\n'
                       f'  s.example: {{wsgi: counting, directory: {folder}, workers: 1, request: stream}}\n',
                       **options)
    start.endpoint = end
    return start


SITES = ['p.example', 'w.example', 's.example']


def small_window(door):
    """A connection that takes little at a time."""
    connection = door.connect()
    connection.close()
    connection.socket = socket.socket()
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.socket.settimeout(30)
    connection.socket.connect(door.address)
    return connection


def post(host, length, fields=''):
    return f'POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n{fields}\r\n'


def wait_for_cause(door, cause, times=1):
    eventually(lambda: sum(cause in line for line in door.access_log()) >= times, what=f'{cause} in the log')


# Slow clients

@pytest.mark.parametrize('host', SITES)
def test_a_body_that_stops_coming_is_408(two, host):
    door = two('timeouts: {body: 300ms}\nlog: {format: json}')
    with door.connect() as connection:
        connection.send(post(host, 100) + 'some')
        assert connection.read_response().status == 408
        assert connection.at_end()
    wait_for_cause(door, 'body_timeout')
    assert door.get('/', host).status == 200


@pytest.mark.parametrize('host', SITES)
def test_a_body_that_trickles_is_408(two, host):
    door = two('timeouts: {body: 1s}\nlimits: {client_rate: 64B}')
    with door.connect() as connection:
        connection.send(post(host, 10_000))
        connection.socket.settimeout(0.05)  # the beat of the trickle

        def refused():
            try:
                connection.send('x')
                return connection.receive()
            except TimeoutError:
                return False
        eventually(refused, what='a refusal')
        connection.socket.settimeout(20)
        assert connection.read_response().status == 408


@pytest.mark.parametrize('host', SITES)
def test_a_reader_that_stops_is_cut(two, host):
    door = two('timeouts: {send: 300ms}\nlog: {format: json}')
    with small_window(door) as connection:
        connection.request('/large', host)
        wait_for_cause(door, 'send_timeout')
        with pytest.raises((EOFError, ConnectionError)):
            connection.read_response()
    assert door.get('/', host).status == 200


# Too many connections

def test_connections_of_one_client_are_limited(two):
    door = two('limits: {connections_per_client: 3}')
    mine = [door.connect() for _ in range(3)]
    for connection in mine:
        assert connection.get('/', 'p.example').status == 200
    with door.connect() as one_more:
        assert one_more.read_response().status == 503
        assert one_more.at_end()
    mine.pop().close()
    eventually(lambda: door.get('/', 'p.example').status == 200, what='room for one more')
    assert mine[0].get('/', 'p.example').status == 200
    for connection in mine:
        connection.close()


def test_when_it_gets_crowded_the_longest_idle_connection_makes_room(two):
    door = two('front_threads: 1\nlimits: {connections: 10}')
    crowd = []
    for _ in range(30):
        crowd.append(door.connect())
        assert crowd[-1].get('/', 'p.example').status == 200
    assert crowd[0].at_end()
    assert crowd[-2].get('/', 'p.example').status == 200
    for connection in crowd:
        connection.close()


def test_connections_that_are_busy_stay_and_further_ones_are_503(two):
    door = two('front_threads: 1\nlimits: {connections: 4}')
    busy = [door.connect() for _ in range(4)]
    for connection in busy:
        connection.send(post('p.example', 5))
    eventually(lambda: len(two.endpoint.connections) >= 4, what='four requests under way')
    with door.connect() as one_more:
        assert one_more.read_response().status == 503
    for connection in busy:
        connection.send('hello')
        assert connection.read_response().body == b'5'
        connection.close()


def processor_time(pid):
    """Seconds of a process so far, user and system."""
    fields = processes.stat(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


FEW = ('prlimit', '--nofile=64:64')  # open files; the front has some 20 of its own


def crowd_until_refused(door):
    """Connections on which one request was answered, until there is no descriptor for one more."""
    crowd = []
    while True:
        connection = door.connect()
        status = connection.get('/', 'nobody.example').status
        if status == 503:
            connection.close()
            return crowd
        crowd.append(connection)


def test_without_descriptors_it_pauses_without_spinning_and_recovers(two):
    door = two('front_threads: 1\nlimits: {connections: 1000}', through=FEW)
    assert door.get('/', 'w.example').status == 200
    crowd = crowd_until_refused(door)
    front = door.front()
    waiting = [door.connect() for _ in range(10)]
    began, used = time.monotonic(), processor_time(front)
    assert [each.read_response().status for each in waiting] == [503] * 10  # one each 100 ms, then a pause
    took, used = time.monotonic() - began, processor_time(front) - used
    assert took > 0.5 and used < 0.1 * took, f'{used:.2f} s of processor time in {took:.1f} s'
    assert crowd[0].get('/', 'w.example').status == 200  # who is in is served
    for connection in crowd + waiting:
        connection.close()
    eventually(lambda: door.get('/', 'p.example').status == 200, what='it serves again')


@pytest.mark.parametrize('host', SITES)
def test_a_request_that_needs_a_descriptor_when_there_is_none_fails_alone(two, host):
    """A connection to the endpoint; a file for the body."""
    door = two('front_threads: 1\nlimits: {connections: 1000}\nspool: {threshold: 4KB}\n', through=FEW)
    assert door.get('/', 'w.example').status == 200  # its workers are there before the crowd
    crowd = crowd_until_refused(door)
    assert crowd[0].get('/', host, method='POST', body=b'x' * 50_000).status in (503, 507)
    for connection in crowd[:-10]:
        connection.close()

    def served():
        return crowd[-1].get('/', host, method='POST', body=b'x' * 50_000).body == b'50000'
    eventually(served, what='it is served again')
    for connection in crowd[-10:]:
        connection.close()


def test_a_worker_that_comes_when_there_is_no_descriptor_for_it_waits(two, folder):
    door = two('front_threads: 1\nlimits: {connections: 1000}', through=FEW,
               code='import os\nwhile not os.path.exists("go"): os.sched_yield()\n' + APPLICATION)
    front, before = door.front(), processes.descendants(door.pid)
    crowd = crowd_until_refused(door)
    (folder / 'go').touch()
    eventually(lambda: set(processes.descendants(door.pid)) - set(before), what='a worker')
    for _ in range(3):  # 100 ms each: the front has heard of it
        with door.connect() as connection:
            connection.send('GET')  # a silent one is accepted later
            assert connection.read_response().status == 503
    for connection in crowd:
        connection.close()
    eventually(lambda: door.get('/', 'w.example').status == 200, what='it is served')
    assert door.front() == front and 'the front ended' not in door.log()


def test_a_small_limit_of_open_files_gives_small_caps_and_still_works(two):
    door = two('front_threads: 1', through=FEW)
    crowd = []
    for _ in range(100):
        crowd.append(door.connect())
        assert crowd[-1].get('/', 'p.example').status == 200
    assert len(processes.descriptors(door.front())) < 64
    for connection in crowd:
        connection.close()


# Bodies

@pytest.mark.parametrize('host', SITES)
@pytest.mark.parametrize('framing', ['Content-Length: 5000000', 'Transfer-Encoding: chunked'])
def test_a_body_too_large_is_413_which_a_client_reads_that_sends_on(two, host, framing):
    door = two('limits: {body: 1MB}')
    data = b'x' * 5 * MB
    if 'chunked' in framing:
        data = b''.join(b'%x\r\n%s\r\n' % (100_000, b'x' * 100_000) for _ in range(50)) + b'0\r\n\r\n'
    with door.connect() as connection:
        connection.send(f'POST / HTTP/1.1\r\nHost: {host}\r\n{framing}\r\n\r\n')
        connection.send(data)  # all of it, without looking for an answer
        response = connection.read_response()
        assert (response.status, response.field('connection')) == (413, 'close')
        assert b'limits.body' in response.body
    assert not [each for each in two.endpoint.requests if each.method == 'POST']
    assert door.get('/', host, method='POST', body=b'x' * MB).body == b'1000000'


def spooled(pid):
    """Bytes of unlinked files."""
    return sum(os.stat(f'/proc/{pid}/fd/{number}').st_size
               for number, what in processes.descriptors(pid).items() if what.endswith('(deleted)'))


@pytest.mark.skipif(os.geteuid() != 0, reason='the front may not be looked into')
def test_a_full_spool_is_507_and_harms_nobody(two):
    door = two('spool: {quota: 300KB, threshold: 4KB}')
    assert door.get('/', 'w.example', method='POST', body=b'x' * 200_000).body == b'200000'
    eventually(lambda: spooled(door.front()) == 0, what='an empty spool')  # just behind the answer
    with door.connect() as holder:
        holder.send(post('w.example', 250_000).encode() + b'x' * 240_000)
        eventually(lambda: spooled(door.front()) > 200_000, what='the body lies in the spool')
        with door.connect() as connection:
            full = connection.get('/', 'w.example', method='POST', body=b'x' * 200_000)
            assert full.status == 507 and b'spool' in full.body
        with door.connect() as connection:
            assert connection.get('/', 'w.example', method='POST', body=b'x' * 1000).body == b'1000'
            assert connection.get('/', 'p.example', method='POST', body=b'x' * 200_000).body == b'200000'
        holder.send(b'x' * 10_000)
        assert holder.read_response().body == b'250000'
    eventually(lambda: spooled(door.front()) == 0, what='an empty spool')
    assert door.get('/', 'w.example', method='POST', body=b'x' * 200_000).body == b'200000'


EXPECTATIONS = {  # (host, length, fields): the status before the body
    'proxied': ('p.example', 5, '', 100),
    'application': ('w.example', 5, '', 100),
    'streamed': ('s.example', 5, '', 100),
    'too large': ('w.example', 99_999_999, '', 413),
    'too large, proxied': ('p.example', 99_999_999, '', 413),
    'unknown host': ('nobody.example', 5, '', 421),
    'no body': ('p.example', 0, '', 200),
    'another expectation': ('p.example', 5, 'Expect: x\r\n', 417),
}


@pytest.mark.parametrize('name', EXPECTATIONS)
def test_expectation(two, name):
    host, length, fields, status = EXPECTATIONS[name]
    door = two()
    with door.connect() as connection:
        connection.send(post(host, length, 'Expect: 100-continue\r\n' + fields))
        first = connection.read_head()
        assert first.status == status
        if status == 100:
            connection.send('hello')
            assert connection.read_response().body == b'5'
            assert connection.get('/', host).status == 200
        if status >= 400:  # whether the body comes now is not known
            connection.read_body(first)
            assert first.field('connection') == 'close' and connection.at_end()


@pytest.mark.parametrize('host', SITES)
def test_a_client_that_does_not_wait_for_100_may_send(two, host):
    door = two()
    with door.connect() as connection:
        connection.send(post(host, 5, 'Expect: 100-continue\r\n') + 'hello')
        assert connection.read_response().body == b'5'
    with door.connect() as connection:
        connection.send(post(host, 5, 'Expect: 100-continue\r\n').replace('/1.1', '/1.0') + 'hello')
        assert connection.read_head().status == 200  # HTTP/1.0 knows no 100


# Requests in crowds

@pytest.mark.parametrize('host, count', [('w.example', 10_000), ('s.example', 2000), ('nobody.example', 10_000),
                                         ('p.example', 2000)])
def test_a_long_pipeline_is_answered_in_order(two, host, count):
    door = two('log: {access: "off"}')
    requests = b''.join(post(host, number % 7).encode() + b'x' * (number % 7) for number in range(count))
    with door.connect() as connection:
        sender = threading.Thread(target=connection.send, args=(requests,))
        sender.start()
        stream = connection.socket.makefile('rb')
        for number in range(count):
            status, length = stream.readline().split(b' ')[1], None
            while (line := stream.readline()) != b'\r\n':
                if line.lower().startswith(b'content-length:'):
                    length = int(line.split(b':')[1])
            body = stream.read(length)
            assert status == (b'421' if host == 'nobody.example' else b'200')
            assert status == b'421' or body == b'%d' % (number % 7), number
        sender.join()


@pytest.mark.parametrize('host', SITES)
@pytest.mark.parametrize('count', [1, 3])
def test_a_client_that_ends_its_side_is_answered(two, host, count):
    """printf ... | nc"""
    door = two()
    with door.connect() as connection:
        connection.send((post(host, 5) + 'hello') * count)
        connection.finish_sending()
        for _ in range(count):
            assert connection.read_response().body == b'5'
        assert connection.at_end()


@pytest.mark.parametrize('host', SITES)
def test_a_client_that_ends_within_its_body_is_not_served(two, host):
    door = two('log: {format: json}')
    with door.connect() as connection:
        connection.send(post(host, 5) + 'hell')
        connection.finish_sending()
        try:
            assert connection.read_to_end() == b''
        except ConnectionError:
            pass  # it counts as gone
    wait_for_cause(door, 'client_gone')
    assert not [each for each in two.endpoint.requests if each.body]


def sockets(pid):
    return sum(what.startswith('socket:') for what in processes.descriptors(pid).values())


def reset(connection):
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    connection.close()


ABANDONED = {  # what is sent, and how much of an answer is awaited
    'download': lambda host: (f'GET /large HTTP/1.1\r\nHost: {host}\r\n\r\n', 100_000),
    'download at once': lambda host: (f'GET /large HTTP/1.1\r\nHost: {host}\r\n\r\n', 0),
    'upload': lambda host: (post(host, 20 * MB) + 'x' * 300_000, 0),
    'upload of nothing': lambda host: (post(host, 20 * MB), 0),
    'half a head': lambda host: (f'GET / HTTP/1.1\r\nHost: {host}', 0),
}


@pytest.mark.parametrize('host', SITES)
@pytest.mark.parametrize('end', [reset, lambda connection: connection.close()], ids=['reset', 'close'])
def test_clients_that_leave_leave_no_descriptor_behind(two, host, end):
    door = two('front_threads: 1\nlog: {access: "off"}')
    for each in SITES:  # the worker is there, a connection to the endpoint is kept
        assert door.get('/', each).status == 200
    front = door.front()
    before = sockets(front)
    for number in range(40):
        sent, awaited = list(ABANDONED.values())[number % len(ABANDONED)](host)
        connection = door.connect()
        connection.send(sent)
        while len(connection.buffer) < awaited:
            connection.receive()
        end(connection)
    eventually(lambda: sockets(front) <= before, what='as many sockets as before')
    assert len(processes.descriptors(front)) <= before + 60  # a few pipes are kept for the next
    assert door.get('/', host).status == 200


# Logs and files

def test_a_full_disk_of_the_access_log_stalls_no_request(two):
    door = two('log: {access: /dev/full}')
    with door.connect() as connection:
        for _ in range(200):
            assert connection.get('/', 'w.example').status == 200
    door.wait_for_log('access log /dev/full loses lines: No space left on device')
    assert door.log().count('/dev/full') == 1
