"""Framing attacks of endpoints: a doubtful answer is 502, its connection is not used again, and nothing of
it leaks into anybody's next answer (response queue poisoning, response splitting; RFC 9112 §6, §9).
"""
import socket
import struct
import threading

import pytest

from endpoint import RawEndpoint, text
from waiting import PATIENCE

POISON = b'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\npoisoned'
CLEAN = text('clean')


class Attacker:
    """Answers /next cleanly, all else with the bytes `attack`.

    Behind /fair it serves on; behind others it only waits for the end. `rests` holds what each attacked connection was sent after its attack: it must be nothing.
    """

    def __init__(self):
        self.attack = b''
        self.after = lambda connection: None  # what it does behind the attack
        self.rests = []
        self.over = threading.Semaphore(0)  # released at the end of each attacked connection

    def __call__(self, connection):
        connection.settimeout(PATIENCE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        while head := self.read_head(connection):
            if b' /next ' in head:
                connection.sendall(CLEAN)
            elif b' /fair ' in head:
                connection.sendall(self.attack)
            else:
                self.do_attack(connection)
                self.over.release()
                return

    def do_attack(self, connection):
        try:
            connection.sendall(self.attack)
            self.after(connection)
            self.rests.append(connection.recv(65536))
        except OSError:
            self.rests.append(b'')

    @staticmethod
    def read_head(connection):
        data = b''
        while not data.endswith(b'\r\n\r\n'):
            more = connection.recv(1)
            if not more:
                return b''
            data += more
        return data

    def wait_for_the_end(self):
        assert self.over.acquire(timeout=PATIENCE)
        return self.rests.pop()


class Stand:
    """A door before an attacker."""

    def __init__(self, portico):
        self.attacker = Attacker()
        self.endpoint = RawEndpoint(self.attacker)
        self.door = portico(f'front_threads: 1\nsites:\n  a.example: {{to: "{self.endpoint.address}"}}\n')

    def next_is_clean(self):
        for _ in range(3):
            assert self.door.get('/next', 'a.example').body == b'clean'


@pytest.fixture(scope='module')
def lasting_stand(lasting_portico):
    made = Stand(lasting_portico)
    yield made
    made.endpoint.close()


@pytest.fixture
def stand(lasting_stand):
    lasting_stand.attacker.after = lambda connection: None
    return lasting_stand


def answer(*fields, body=b'', line=b'HTTP/1.1 200 OK'):
    return b'\r\n'.join([line, *fields]) + b'\r\n\r\n' + body


def field(text):
    return answer(b'Content-Length: 2', text, body=b'ok')


BAD = {
    'CL.TE': answer(b'Content-Length: 5', b'Transfer-Encoding: chunked', body=b'0\r\n\r\n'),
    'TE: xchunked': answer(b'Transfer-Encoding: xchunked', body=b'0\r\n\r\n'),
    'TE: two fields': answer(b'Transfer-Encoding: chunked', b'Transfer-Encoding: chunked', body=b'0\r\n\r\n'),
    'TE: chunked not last': answer(b'Transfer-Encoding: chunked, identity', body=b'0\r\n\r\n'),
    'TE: coding not known': answer(b'Transfer-Encoding: gzip, chunked', body=b'0\r\n\r\n'),
    'TE in HTTP/1.0': answer(b'Transfer-Encoding: chunked', body=b'0\r\n\r\n', line=b'HTTP/1.0 200 OK'),
    'length: two that differ': answer(b'Content-Length: 2', b'Content-Length: 3', body=b'ok!'),
    'length: list': answer(b'Content-Length: 2, 2', body=b'ok'),
    'length: plus': answer(b'Content-Length: +2', body=b'ok'),
    'length: minus': answer(b'Content-Length: -2', body=b'ok'),
    'length: underscore': answer(b'Content-Length: 0_2', body=b'ok'),
    'length: hexadecimal': answer(b'Content-Length: 0x2', body=b'ok'),
    'length: empty': answer(b'Content-Length:', body=b'ok'),
    'length: 2^64 + 2': answer(b'Content-Length: 18446744073709551618', body=b'ok'),
    'field: folded': field(b'X-A: a\r\n b'),
    'field: bare CR': field(b'X-A: a\rb'),
    'field: bare LF': field(b'X-A: a\nb: c'),
    'field: NUL': field(b'X-A: a\0b'),
    'field: control': field(b'X-A: a\x02b'),
    'field: space before colon': field(b'X-A : a'),
    'field: blank before the first': b'HTTP/1.1 200 OK\r\n Content-Length: 2\r\n\r\nok',
    'field: no name': field(b': a'),
    'field: no colon': field(b'X-A'),
    'field: name is no token': field(b'X(A): a'),
    'fields: too large': field(b'X-A: ' + b'a' * 300_000),
    'fields: too many': field(b'\r\n'.join([b'X-A: a'] * 2000)),
    'line: HTTP/0.9': b'<html>hello</html>\r\n\r\n',
    'line: HTTP/2.0': answer(b'Content-Length: 2', body=b'ok', line=b'HTTP/2.0 200 OK'),
    'line: HTTP/1.2': answer(b'Content-Length: 2', body=b'ok', line=b'HTTP/1.2 200 OK'),
    'line: another protocol': answer(b'Content-Length: 2', body=b'ok', line=b'ICY 200 OK'),
    'line: two digits': answer(b'Content-Length: 2', body=b'ok', line=b'HTTP/1.1 20 OK'),
    'line: four digits': answer(b'Content-Length: 2', body=b'ok', line=b'HTTP/1.1 2000 OK'),
    'line: no digits': answer(b'Content-Length: 2', body=b'ok', line=b'HTTP/1.1 abc OK'),
    'line: status 000': answer(b'Content-Length: 2', body=b'ok', line=b'HTTP/1.1 000 OK'),
    'line: two spaces': answer(b'Content-Length: 2', body=b'ok', line=b'HTTP/1.1  200 OK'),
    'line: tab': answer(b'Content-Length: 2', body=b'ok', line=b'HTTP/1.1\t200 OK'),
    'line: CR in the reason': answer(b'Content-Length: 2', body=b'ok', line=b'HTTP/1.1 200 O\rK'),
    'line: bare LF': b'HTTP/1.1 200 OK\nContent-Length: 2\n\nok',
    'line: empty line before': b'\r\n\r\n' + CLEAN,
    'line: another answer within': b'HTTP/1.1 200 OK HTTP/1.1 200 OK\nX: y\r\n\r\n',
    '101 that nobody asked for': answer(b'Upgrade: websocket', b'Connection: Upgrade',
                                        line=b'HTTP/1.1 101 Switching Protocols'),
    '101 to another protocol': answer(b'Upgrade: h2c', b'Connection: Upgrade',
                                      line=b'HTTP/1.1 101 Switching Protocols'),
    '1xx flood': answer(line=b'HTTP/1.1 103 Early Hints') * 10_000,
    '1xx with a bad field': answer(b'X A: b', line=b'HTTP/1.1 103 Early Hints') + CLEAN,
    'chunks: size with 0x': answer(b'Transfer-Encoding: chunked', body=b'0x2\r\nok\r\n0\r\n\r\n'),
    'chunks: size with blank': answer(b'Transfer-Encoding: chunked', body=b' 2\r\nok\r\n0\r\n\r\n'),
    'chunks: 17 digits': answer(b'Transfer-Encoding: chunked', body=b'0' * 16 + b'2\r\nok\r\n0\r\n\r\n'),
}


@pytest.mark.parametrize('name', BAD)
def test_a_doubtful_answer_is_502_and_its_connection_closed(stand, name):
    stand.attacker.attack = BAD[name] + POISON
    with stand.door.connect() as connection:
        interim = []
        connection.request('/attack', 'a.example')
        assert connection.read_response(interim=interim).status == 502
        assert len(interim) < 1000
        assert stand.attacker.wait_for_the_end() == b''
        assert connection.get('/next', 'a.example').body == b'clean'
    stand.next_is_clean()


CHUNKED = b'Transfer-Encoding: chunked'
FIRST = b'5\r\nhello\r\n'
CUT = {  # the head and some data are good
    'chunks: junk behind data': answer(CHUNKED, body=FIRST + b'2\r\nokXX0\r\n\r\n'),
    'chunks: data longer than told': answer(CHUNKED, body=FIRST + b'2\r\nok!\r\n0\r\n\r\n'),
    'chunks: bare LF behind size': answer(CHUNKED, body=FIRST + b'2\nok\r\n0\r\n\r\n'),
    'chunks: extension with bare LF': answer(CHUNKED, body=FIRST + b'2;a\nok\r\n0\r\n\r\n'),
    'chunks: extension too long': answer(CHUNKED, body=FIRST + b'2;a=' + b'b' * 9000 + b'\r\nok\r\n0\r\n\r\n'),
    'chunks: size overflows': answer(CHUNKED, body=FIRST + b'fffffffffffffffff\r\nok\r\n0\r\n\r\n'),
    'chunks: trailers folded': answer(CHUNKED, body=FIRST + b'0\r\nA: b\r\n c\r\n\r\n'),
    'chunks: trailers without end': answer(CHUNKED, body=FIRST + b'0\r\n' + b'A: b\r\n' * 5000),
}


@pytest.mark.parametrize('name', CUT)
def test_a_body_that_turns_bad_never_looks_complete(stand, name):
    stand.attacker.attack = CUT[name] + POISON
    with stand.door.connect() as connection:
        try:
            response = connection.get('/attack', 'a.example')
            assert response.status == 502 and b'poison' not in response.body
        except (EOFError, ConnectionError):
            pass
        assert stand.attacker.wait_for_the_end() == b''
    stand.next_is_clean()


LENGTH = b'Content-Length: '
SURPLUS = {  # (method, attack, status, body)
    'behind a length': ('GET', answer(LENGTH + b'2', body=b'ok'), 200, b'ok'),
    'behind a length of 0': ('GET', answer(LENGTH + b'0'), 200, b''),
    'behind chunks': ('GET', answer(CHUNKED, body=b'2\r\nok\r\n0\r\n\r\n'), 200, b'ok'),
    'HEAD with a body': ('HEAD', answer(LENGTH + b'2', body=b'ok'), 200, b''),
    'HEAD with chunks': ('HEAD', answer(CHUNKED, body=b'2\r\nok\r\n0\r\n\r\n'), 200, b''),
    '204 with a length': ('GET', answer(LENGTH + b'2', body=b'ok', line=b'HTTP/1.1 204 No'), 204, b''),
    '204 with chunks': ('GET', answer(CHUNKED, body=b'2\r\nok\r\n0\r\n\r\n', line=b'HTTP/1.1 204 No'), 204, b''),
    '304 with a length': ('GET', answer(LENGTH + b'2', body=b'ok', line=b'HTTP/1.1 304 No'), 304, b''),
    '304 with chunks': ('GET', answer(CHUNKED, body=b'2\r\nok\r\n0\r\n\r\n', line=b'HTTP/1.1 304 No'), 304, b''),
    '103 with a length': ('GET', answer(LENGTH + b'2', line=b'HTTP/1.1 103 Hints')
                          + answer(LENGTH + b'2', body=b'ok'), 200, b'ok'),
}


@pytest.mark.parametrize('name', SURPLUS)
def test_surplus_bytes_of_an_answer_reach_nobody(stand, name):
    method, attack, status, body = SURPLUS[name]
    stand.attacker.attack = attack + POISON
    with stand.door.connect() as connection:
        response = connection.get('/attack', 'a.example', method=method)
        assert (response.status, response.body) == (status, body)
        assert status != 204 or not response.field('content-length')
        assert stand.attacker.wait_for_the_end() == b''
        assert connection.get('/next', 'a.example').body == b'clean'
        connection.finish_sending()
        assert connection.at_end()
    stand.next_is_clean()


def test_late_surplus_bytes_close_an_idle_connection(stand):
    first_answer_read = threading.Event()

    def late(connection):
        assert first_answer_read.wait(PATIENCE)
        connection.sendall(POISON)
    stand.attacker.attack, stand.attacker.after = text('first'), late
    with stand.door.connect() as connection:
        assert connection.get('/attack', 'a.example').body == b'first'
        first_answer_read.set()
        assert stand.attacker.wait_for_the_end() == b''
    stand.next_is_clean()


def test_late_surplus_bytes_are_nobodys_answer_even_when_the_next_request_is_as_fast(stand):
    """They lie in the socket when the next request comes: whoever looks at it first decides."""
    for _ in range(50):
        poisoned, first_answer_read = threading.Event(), threading.Event()

        def late(connection, read=first_answer_read, sent=poisoned):
            read.wait(PATIENCE)
            connection.sendall(POISON)
            sent.set()
        stand.attacker.attack, stand.attacker.after = text('first'), late
        with stand.door.connect() as connection:
            assert connection.get('/attack', 'a.example').body == b'first'
            first_answer_read.set()
            assert poisoned.wait(PATIENCE)
            assert connection.get('/next', 'a.example').body == b'clean'
        stand.attacker.wait_for_the_end()


def close_rudely(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    connection.close()


ENDED = {  # (attack, how the connection ends, whether the answer is whole)
    'no length, closed': (answer(body=b'part'), socket.socket.close, True),
    'no length, reset': (answer(body=b'part'), close_rudely, False),
    'length, closed early': (answer(LENGTH + b'9', body=b'part'), socket.socket.close, False),
    'length, reset early': (answer(LENGTH + b'9', body=b'part'), close_rudely, False),
    'chunks, closed early': (answer(CHUNKED, body=b'4\r\npart\r\n'), socket.socket.close, False),
    'chunks, closed before the last CRLF': (answer(CHUNKED, body=b'4\r\npart\r\n0\r\n'), socket.socket.close, False),
}


@pytest.mark.parametrize('name', ENDED)
def test_only_a_whole_answer_looks_whole(stand, name):
    attack, end, whole = ENDED[name]
    stand.attacker.attack, stand.attacker.after = attack, end
    with stand.door.connect() as connection:
        if whole:
            response = connection.get('/attack', 'a.example')
            assert (response.status, response.body) == (200, b'part')
        else:
            connection.request('/attack', 'a.example')
            try:
                response = connection.read_response()
                assert response.status == 502  # the endpoint left before the head was passed on
            except (EOFError, ConnectionError):
                pass
    stand.attacker.wait_for_the_end()
    stand.next_is_clean()


def test_an_answer_without_length_to_http_1_0_ends_with_a_reset_when_it_was_cut(stand):
    """The client has no other way to tell: an orderly end would look like the whole."""
    stand.attacker.attack, stand.attacker.after = answer(body=b'part'), close_rudely
    with stand.door.connect() as connection:
        connection.send(b'GET /attack HTTP/1.0\r\nHost: a.example\r\n\r\n')
        try:
            assert connection.read_to_end().startswith(b'HTTP/1.1 502 ')  # it was known in time
        except ConnectionError:
            pass
    stand.attacker.wait_for_the_end()


def test_informational_answers_come_first_and_only_to_http_1_1(stand):
    stand.attacker.attack = answer(b'Link: </a.css>', line=b'HTTP/1.1 103 Early Hints') * 3 + CLEAN
    with stand.door.connect() as connection:
        interim = []
        connection.request('/fair', 'a.example')
        assert connection.read_response(interim=interim).body == b'clean'
        assert [(each.status, each.field('link')) for each in interim] == [(103, '</a.css>')] * 3
    with stand.door.connect() as connection:
        connection.send(b'GET /fair HTTP/1.0\r\nHost: a.example\r\n\r\n')
        assert connection.read_head().status == 200


def test_an_answer_before_the_body_has_come_is_passed_on_and_the_rest_reaches_nobody(stand):
    body = b'GET /smuggled HTTP/1.1\r\nHost: a.exam\r\n\r\n'
    stand.attacker.attack = text('early')
    with stand.door.connect() as connection:
        connection.send(b'POST /attack HTTP/1.1\r\nHost: a.example\r\nContent-Length: %d\r\n\r\n' % len(body))
        assert connection.read_response().body == b'early'
        connection.send(body)
        assert connection.get('/next', 'a.example').body == b'clean'
        assert body.startswith(stand.attacker.wait_for_the_end())
    stand.next_is_clean()


FIELDS = {
    'connection': b'Connection: X-Secret, close\r\nX-Secret: 1',
    'keep-alive': b'Keep-Alive: timeout=5',
    'proxy-authenticate': b'Proxy-Authenticate: Basic',
    'x-accel-redirect': b'X-Accel-Redirect: /etc/passwd',
    'x-sendfile': b'X-Sendfile: /etc/passwd',
    'upgrade': b'Upgrade: h2c',
    'trailer': b'Trailer: Expires',
    'x-secret': b'Connection: x-secret\r\nX-Secret: 1',
}


@pytest.mark.parametrize('name', FIELDS)
def test_fields_between_endpoint_and_proxy_stay_between_them(stand, name):
    stand.attacker.attack = answer(LENGTH + b'2', FIELDS[name], body=b'ok')
    with stand.door.connect() as connection:
        response = connection.get('/fair', 'a.example')
        assert response.status == 200
        assert response.field(name) is None


def test_values_beyond_ascii_pass_as_they_are(stand):
    stand.attacker.attack = answer(LENGTH + b'2', b'X-A: \xe4 b', body=b'ok')
    assert stand.door.get('/fair', 'a.example').field('x-a') == '\xe4 b'
