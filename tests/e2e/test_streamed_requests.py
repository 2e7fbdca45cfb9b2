"""request: stream, over HTTP: the application reads while the client sends. Items 59 to 63 of the server's checklist.

By one door in each of the modes that can. /NAME is the application NAME; files in its directory tell what it does,
and let it go on.
"""
import hashlib
import json
import pathlib
import random
import select
import shutil
import signal
import socket
import struct
import time
from urllib.parse import quote

import pytest

from modes import MODES, STREAMING
from waiting import eventually

HOST = 'a.example'
READING = pathlib.Path(__file__).parent / 'sites/reading.py'
MB = 1_000_000

in_workers = pytest.mark.parametrize('mode', ['pool', 'threaded'], indirect=True, scope='module')


@pytest.fixture(scope='module', params=STREAMING)
def mode(request):
    return request.param


@pytest.fixture(scope='module')
def lasting_place(lasting_folder, mode):
    place = lasting_folder / mode
    place.mkdir()
    place.chmod(0o777)
    shutil.copyfile(READING, place / 'reading.py')
    return place


@pytest.fixture
def place(lasting_place):
    """The application's directory, without the files of the test before."""
    for name in ('called', 'go', 'caught', 'ran'):
        (lasting_place / name).unlink(missing_ok=True)
    return lasting_place


@pytest.fixture(scope='module')
def door(lasting_portico, lasting_place, mode):
    options, _, top = MODES[mode]
    return lasting_portico(f'''{top}sites:
  {HOST}:
    wsgi: reading
    directory: {lasting_place}
    {options.replace(', ', chr(10) + '    ')}
    request: stream
    routes:
      /catch: {{limits: {{body: 100KB, client_rate: 0B}}, timeouts: {{body: 1s}}}}
      /digest: {{limits: {{body: 200MB}}}}
      /refuse: {{limits: {{body: 10GB}}}}
      /lockstep: {{timeouts: {{response: 2s}}}}
      /hangs: {{timeouts: {{response: 1s}}}}
      /evaluate/complete: {{request: complete}}
''')


@pytest.fixture
def connection(door):
    with door.connect() as made:
        yield made


def head(target, framing, method='POST', version='1.1', fields=''):
    """framing: a length, or None for chunks"""
    how = 'Transfer-Encoding: chunked' if framing is None else f'Content-Length: {framing}'
    return f'{method} {target} HTTP/{version}\r\nHost: {HOST}\r\n{how}\r\n{fields}\r\n'


def chunk(data):
    return b'%x\r\n%s\r\n' % (len(data), data)


def read_chunks(connection):
    """The chunks up to the last, behind a head."""
    body = b''
    while size := int(connection.read_line(), 16):
        body += connection.read_bytes(size + 2)[:-2]
    return body


def evaluated(response):
    assert response.status == 200, response.body
    return eval(response.body)


def silent(connection):
    """Whether nothing lies there to be read."""
    return not connection.buffer and not select.select([connection.socket], [], [], 0)[0]


def caught(place):
    return json.loads(eventually((place / 'caught').exists) and (place / 'caught').read_text())


def reset(connection):
    """Leaves with a reset in place of an orderly end."""
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    connection.close()


# 62: the request comes before its body

@pytest.mark.parametrize('framing', [4, None])
def test_62_the_first_read_sends_100_and_nothing_before_it(connection, place, framing):
    connection.send(head('/waits', framing, fields='Expect: 100-continue\r\n'))
    eventually((place / 'called').exists)
    assert silent(connection)
    (place / 'go').touch()
    assert connection.read_head().status == 100
    connection.send(b'body' if framing else chunk(b'body') + b'0\r\n\r\n')
    interim = []
    response = connection.read_response(interim=interim)
    assert (response.status, response.body, interim) == (200, b'body', [])


@pytest.mark.parametrize('framing', [4_000_000_000, 4, None])
def test_62_an_upload_is_refused_by_its_head_alone(connection, framing):
    connection.send(head('/refuse', framing, fields='Expect: 100-continue\r\n'))
    interim = []
    response = connection.read_response(interim=interim)
    assert (response.status, interim) == (403, [])
    assert response.field('connection') == 'close'  # whether the body follows is not known


def test_an_early_answer_keeps_the_connection_when_little_is_left(connection):
    connection.send(head('/refuse', 5))
    assert connection.read_response().status == 403
    connection.send(b'12345' + head('/evaluate?f.read()', 2).encode() + b'ab')
    assert evaluated(connection.read_response()) == b'ab'


def test_an_early_answer_arrives_though_much_is_left(connection):
    connection.send(head('/refuse', 20 * MB))
    connection.send(b'x' * 100_000)
    response = connection.read_response()
    assert (response.status, response.field('connection')) == (403, 'close')


@pytest.mark.parametrize('framing', [8, None])
def test_a_part_is_read_while_the_rest_is_not_sent(connection, framing):
    connection.send(head('/lockstep', framing))
    for line in (b'one\n', b'two\n'):
        connection.send(line if framing else chunk(line))
        if line == b'one\n':
            assert connection.read_head().status == 200
        assert connection.read_line() == '4'
        assert connection.read_bytes(6) == line + b'\r\n'
    if framing is None:
        connection.send(b'0\r\n\r\n')
    assert connection.read_line() == '0'


# 59, 60, 61: as complete bodies

BODY = b'first\nsecond line\n\nlast without end'
READS = {
    'f.read()': BODY,
    'f.read(-1)': BODY,
    'f.read(None)': BODY,
    '[f.read(10**9), f.read(), f.read(3), f.readline(), list(f)]': [BODY, b'', b'', b'', []],
    '[f.readline(), f.readline(3), f.readlines(5), f.tell()]': [b'first\n', b'sec', [b'ond line\n'], 18],
    'list(f)': BODY.splitlines(True),
    '[f.readinto(b := bytearray(6)), bytes(b)]': [6, b'first\n'],
    'list(io.TextIOWrapper(io.BufferedReader(f)))': BODY.decode().splitlines(True),
}


@pytest.mark.parametrize('framing', ['length', 'chunked', 'HTTP/1.0'])
@pytest.mark.parametrize('code', READS)
def test_59_reads(door, code, framing):
    with door.connect() as connection:
        connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        connection.send(head('/evaluate?' + quote(code), None if framing == 'chunked' else len(BODY),
                             version='1.0' if framing == 'HTTP/1.0' else '1.1'))
        for at in range(0, len(BODY), 5):
            part = BODY[at:at + 5]
            connection.send(chunk(part) if framing == 'chunked' else part)
        if framing == 'chunked':
            connection.send(b'0\r\n\r\n')
        assert evaluated(connection.read_response()) == READS[code]


FACTS = '[environ.get(k) for k in ("CONTENT_LENGTH", "wsgi.input_terminated", "HTTP_TRANSFER_ENCODING")]'


@pytest.mark.parametrize('path, framing, length',
                         [('', 0, '0'), ('', 4, '4'), ('', None, None), ('/complete', None, '4')])
def test_61_environ_tells_what_is_known(connection, path, framing, length):
    connection.send(head(f'/evaluate{path}?' + quote(FACTS), framing, fields='Expect: 100-continue\r\n'))
    connection.send(chunk(b'body') + b'0\r\n\r\n' if framing is None else b'body'[:framing])
    assert evaluated(connection.read_response()) == [length, True, None]


def test_a_request_without_a_body_ends_at_once(connection):
    for method in ('GET', 'HEAD', 'POST', 'DELETE'):
        connection.request('/evaluate?' + quote('[f.read(), f.readline(), list(f)]'), HOST, method=method)
        response = connection.read_response(method)
        assert method == 'HEAD' or evaluated(response) == [b'', b'', []]


@pytest.mark.parametrize('name, body, answer', [('plain', b'hello', b'>hello<'), ('lines', b'a\nb\nc', b'a\nb\nc')])
def test_the_validator_has_nothing_to_complain(door, connection, name, body, answer):
    for _ in range(2):
        response = connection.get(f'/valid_{name}', HOST, method='POST', body=body)
        assert (response.status, response.body) == (200, answer)
    assert '/valid_' not in door.log()


@pytest.mark.parametrize('framing', ['length', 'chunked'])
def test_a_large_body_arrives_whole_and_the_connection_goes_on(connection, framing):
    body = random.Random(1).randbytes(10 * MB)
    for _ in range(2):
        connection.send(head('/digest', len(body) if framing == 'length' else None))
        parts = [body[at:at + 123_457] for at in range(0, len(body), 123_457)]
        for part in parts if framing == 'length' else [*map(chunk, parts), b'0\r\n\r\n']:
            connection.send(part)
        assert connection.read_response().body.decode() == hashlib.sha256(body).hexdigest()


# 63: a body that will not be complete is never taken for one that is

@pytest.mark.parametrize('framing', [10, None])
@pytest.mark.parametrize('leave', [lambda each: each.close(), reset, lambda each: each.finish_sending()],
                         ids=['close', 'reset', 'half'])
def test_63_a_client_that_leaves_is_a_connection_error(door, place, framing, leave):
    connection = door.connect()
    connection.send(head('/catch', framing))
    connection.send(b'some' if framing else chunk(b'some') + b'6\r\nha')
    leave(connection)
    assert caught(place)[:2] == ['ConnectionResetError', True]
    connection.close()
    assert evaluated(door.get('/evaluate?1', HOST)) == 1


def test_63_no_traceback_for_a_client_that_leaves(door, place):
    connection = door.connect()
    connection.send(head('/catch?quiet', 10) + 'some')
    connection.close()
    door.wait_for_log(r'POST /catch\?quiet: the request body could not be read: the client left before')
    assert 'Traceback' not in door.log().split('/catch?quiet')[1]


def test_too_large_a_body_is_413(connection, place):
    connection.send(head('/catch', None))
    try:
        for _ in range(3):
            connection.send(chunk(b'x' * 50_000))
    except ConnectionError:
        pass
    assert connection.read_response().status == 413
    assert caught(place)[:2] == ['ConnectionAbortedError', True] and 'limits.body' in caught(place)[2]


def test_too_large_a_body_cuts_an_answer_that_has_begun(connection, place):
    connection.send(head('/catch?headed', None))
    connection.send(chunk(b'some'))
    assert connection.read_head().status == 200
    assert connection.read_line() == '5'
    connection.send(chunk(b'x' * 50_000) * 3)
    assert caught(place)[0] == 'ConnectionAbortedError'
    try:
        assert b'0\r\n\r\n' not in connection.read_to_end()
    except ConnectionError:
        pass


def test_chunks_that_are_none_are_400(connection, place):
    connection.send(head('/catch', None).encode() + chunk(b'some') + b'nonsense\r\n')
    assert connection.read_response().status == 400
    assert caught(place)[0] == 'ConnectionAbortedError' and 'malformed' in caught(place)[2]


def test_too_much_told_is_413_at_once_and_the_application_hears_nothing(connection, place):
    connection.send(head('/catch', 200_000, fields='Expect: 100-continue\r\n'))
    assert connection.read_response().status == 413
    assert not (place / 'caught').exists()


def test_a_client_that_stalls_is_408(connection, place):
    connection.send(head('/catch', 10) + 'some')
    assert connection.read_response().status == 408
    assert caught(place)[0] == 'ConnectionAbortedError' and 'timeouts.body' in caught(place)[2]


# Times and amounts

def test_the_time_of_the_client_is_not_the_applications(connection):
    connection.send(head('/lockstep', None))
    over = time.monotonic() + 3  # timeouts.response is 2s
    sent = 0
    while time.monotonic() < over:
        connection.send(chunk(b'x'))
        sent += 1
        select.select([connection.socket], [], [], 0.2)
    connection.send(b'0\r\n\r\n')
    assert connection.read_response().body == b'x' * sent


@in_workers
def test_an_application_that_neither_reads_nor_answers_is_504(door, place):
    with door.connect() as connection:
        connection.send(head('/hangs', 10) + 'some')
        assert connection.read_response().status == 504
    eventually(lambda: door.get('/evaluate?1', HOST).status == 200)


def test_a_client_is_read_no_further_than_the_application_has_read(door, place):
    with door.connect() as connection:
        body = b'x' * (100 * MB)
        connection.send(head('/digest?late', len(body)))
        connection.socket.setblocking(False)
        sent = 0
        while select.select([], [connection.socket], [], 0.5)[1]:  # the kernel's buffers fill, and no more
            sent += connection.socket.send(body[sent:sent + 65536])
        assert sent < 40 * MB
        connection.socket.settimeout(20)
        (place / 'go').touch()
        connection.send(body[sent:])
        assert connection.read_response().body.decode() == hashlib.sha256(body).hexdigest()


# Workers

@in_workers
@pytest.mark.parametrize('read', ['read', ''])
def test_a_worker_that_dies_in_the_middle_is_502_and_nobody_else_gets_the_request(door, place, read):
    with door.connect() as connection:
        connection.send(head('/dies?' + read, 10) + 'some')
        assert connection.read_response().status == 502
    assert (place / 'ran').read_text() == 'x'
    eventually(lambda: door.get('/evaluate?1', HOST).status == 200)


@pytest.mark.parametrize('mode', ['pool'], indirect=True, scope='module')
def test_an_application_that_closes_the_descriptor_hurts_only_itself(door, connection):
    connection.get('/remembers', HOST)
    connection.send(head('/closes_descriptor', 10) + 'some')
    response = connection.read_response()
    assert (response.status, response.body) == (200, b"['closed', True]")
    assert evaluated(door.get('/evaluate?f.read()', HOST, method='POST', body=b'body')) == b'body'


def start(portico, folder, options, top='', request='stream'):
    folder.chmod(0o777)
    shutil.copyfile(READING, folder / 'reading.py')
    return portico(f'{top}sites:\n  {HOST}: {{wsgi: reading, directory: {folder}, {options}, request: {request}}}\n')


def test_an_upload_that_runs_when_the_code_changes_ends_with_the_old_code(portico, folder):
    (folder / 'touched').touch()
    door = start(portico, folder, f'workers: 1, warm: [], touch: {folder}/touched')
    with door.connect() as connection:
        connection.send(head('/lockstep', None).encode() + chunk(b'one\n'))
        assert connection.read_head().status == 200
        (folder / 'reading.py').write_text(READING.read_text().replace("'403 Forbidden'", "'410 Gone'"))
        (folder / 'touched').touch()
        eventually(lambda: door.get('/refuse', HOST).status == 410)
        connection.send(chunk(b'two\n') + b'0\r\n\r\n')
        assert read_chunks(connection) == b'one\ntwo\n'


@pytest.mark.parametrize('options', ['workers: 1', 'embedded: true'])
def test_an_upload_that_runs_at_a_stop_is_finished(portico, folder, options):
    door = start(portico, folder, options)
    with door.connect() as connection:
        connection.send(head('/lockstep', None).encode() + chunk(b'one\n'))
        assert connection.read_head().status == 200
        door.signal(signal.SIGTERM)
        door.wait_for_log('stopping')
        connection.send(chunk(b'two\n') + b'0\r\n\r\n')
        assert read_chunks(connection) == b'one\ntwo\n'
    assert door.wait() == 0


@pytest.mark.parametrize('options', ['workers: 1', 'embedded: true'])
def test_an_upload_that_stalls_does_not_keep_a_stop(portico, folder, options):
    door = start(portico, folder, options, 'timeouts: {shutdown: 1s}\n')
    with door.connect() as connection:
        connection.send(head('/catch', 10, fields='Expect: 100-continue\r\n'))
        assert connection.read_head().status == 100
        assert door.stop() == 0


def test_where_the_front_itself_calls_the_application_bodies_are_complete(portico, folder):
    """62 and 63 where nothing can wait: the front answers 100, and who leaves is never heard of."""
    options, _, top = MODES['embedded-in-the-loop']
    door = start(portico, folder, options, top, 'complete')
    with door.connect() as connection:
        connection.send(head('/catch', 10) + 'some')
    with door.connect() as connection:
        connection.send(head('/evaluate?f.read()', 4, fields='Expect: 100-continue\r\n'))
        assert connection.read_head().status == 100
        connection.send(b'body')
        assert evaluated(connection.read_response()) == b'body'
    assert not (folder / 'caught').exists()
