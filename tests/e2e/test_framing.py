"""Framing attacks of clients: what two parties might read differently is refused, and nothing is smuggled.

Each row is tried on a site that is proxied, on one that an application answers, and on one where it reads
while the client sends. Behind what the attack sends stands a request for /smuggled, which nobody may ever
see (RFC 9112; request smuggling). The attacks of endpoints: test_framing_endpoint.py.
"""
import pytest

from endpoint import Endpoint, text

PROXIED, APPLICATION, STREAMED = 'proxied.example', 'application.example', 'streamed.example'
SMUGGLED = b'GET /smuggled HTTP/1.1\r\nHost: HOST\r\n\r\n'

# Answers with what it saw, and writes it down: method, target and body of each request.
WITNESS = '''
def application(environ, start_response):
    body = environ['wsgi.input'].read().decode('latin-1')
    line = ' '.join([environ['REQUEST_METHOD'], environ['RAW_URI'], repr(body)])
    with open('seen', 'a') as seen:
        seen.write(line + '\\n')
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return [line.encode('latin-1')]
'''


class Behind:
    """One door before an endpoint and an application that both answer "METHOD target 'body'"."""

    def __init__(self, portico, folder):
        self.endpoint = Endpoint(lambda request: text(self.line(request)))
        folder.chmod(0o777)
        (folder / 'witness.py').write_text(WITNESS)
        self.file = folder / 'seen'
        self.door = portico('sites:\n'
                            f'  {PROXIED}: {{to: "{self.endpoint.address}"}}\n'
                            f'  {APPLICATION}: {{wsgi: witness, directory: {folder}, workers: 1}}\n'
                            f'  {STREAMED}: {{wsgi: witness, directory: {folder}, workers: 1, request: stream}}\n')

    @staticmethod
    def line(request):
        return f'{request.method} {request.target} {request.body.decode("latin-1")!r}'

    def seen(self, host):
        """What came through since the last asking, after a request that nothing can overtake."""
        assert self.door.get('/barrier', host).status == 200
        lines = [self.line(each) for each in self.endpoint.requests]
        if host != PROXIED:
            lines = self.file.read_text().splitlines()
            self.file.write_text('')
        self.endpoint.requests.clear()
        return [line for line in lines if '/barrier' not in line]


@pytest.fixture(scope='module')
def behind(lasting_portico, lasting_folder):
    made = Behind(lasting_portico, lasting_folder)
    yield made
    made.endpoint.close()


@pytest.fixture(params=[PROXIED, APPLICATION, STREAMED])
def host(request):
    return request.param


def request(*fields, body=b'', line=b'POST /attack HTTP/1.1'):
    """A request for HOST, with these further field lines."""
    return b'\r\n'.join([line, b'Host: HOST', *fields]) + b'\r\n\r\n' + body


def chunks(body):
    return request(b'Transfer-Encoding: chunked', body=body)


def length(value):
    return request(b'Content-Length: ' + value, body=b'hello')


def coding(*values, body=b'0\r\n\r\n'):
    return request(*[b'Transfer-Encoding:' + value for value in values], body=body)


def line(text):
    return request(line=text)


def field(text):
    return request(text, line=b'GET /attack HTTP/1.1')


REFUSED = {
    'CL.TE': (400, request(b'Content-Length: 5', b'Transfer-Encoding: chunked', body=b'0\r\n\r\n')),
    'TE.CL': (400, request(b'Transfer-Encoding: chunked', b'Content-Length: 5', body=b'0\r\n\r\n')),
    'TE.TE: xchunked': (400, coding(b' xchunked')),
    'TE.TE: vertical tab': (400, coding(b' \x0bchunked')),
    'TE.TE: two fields': (400, coding(b' chunked', b' chunked')),
    'TE.TE: two fields, one other': (400, coding(b' chunked', b' identity')),
    'TE.TE: chunked twice': (400, coding(b' chunked, chunked')),
    'TE.TE: chunked not last': (400, coding(b' chunked, gzip')),
    'TE.TE: identity': (400, coding(b' identity')),
    'TE.TE: parameter': (400, coding(b' chunked;q=1')),
    'TE.TE: quoted': (400, coding(b' "chunked"')),
    'TE.TE: empty': (400, coding(b'')),
    'TE.TE: comma': (400, coding(b' chunked,')),
    'TE.TE: space before colon': (400, request(b'Transfer-Encoding : chunked', body=b'0\r\n\r\n')),
    'TE.TE: folded': (400, request(b'Transfer-Encoding:\r\n chunked', body=b'0\r\n\r\n')),
    'TE: coding not known': (501, coding(b' gzip, chunked')),
    'TE in HTTP/1.0': (400, request(b'Transfer-Encoding: chunked', body=b'0\r\n\r\n',
                                    line=b'POST /attack HTTP/1.0')),
    'length: two that differ': (400, request(b'Content-Length: 5', b'Content-Length: 6', body=b'hello')),
    'length: twice the same': (400, request(b'Content-Length: 5', b'Content-Length: 5', body=b'hello')),
    'length: list': (400, length(b'5, 5')),
    'length: plus': (400, length(b'+5')),
    'length: minus': (400, length(b'-5')),
    'length: underscore': (400, length(b'5_0')),
    'length: hexadecimal': (400, length(b'0x5')),
    'length: empty': (400, length(b'')),
    'length: inner blank': (400, length(b'1 5')),
    'length: fraction': (400, length(b'5.0')),
    'length: vertical tab': (400, length(b'5\x0b')),
    'length: 2^63': (400, length(b'9223372036854775808')),
    'length: 2^64 + 5': (400, length(b'18446744073709551621')),
    'length: on a GET, wrong': (400, request(b'Content-Length: 0x0', line=b'GET /attack HTTP/1.1')),
    'chunk size: 0x': (400, chunks(b'0x5\r\nhello\r\n0\r\n\r\n')),
    'chunk size: plus': (400, chunks(b'+5\r\nhello\r\n0\r\n\r\n')),
    'chunk size: minus': (400, chunks(b'-5\r\nhello\r\n0\r\n\r\n')),
    'chunk size: underscore': (400, chunks(b'0_5\r\nhello\r\n0\r\n\r\n')),
    'chunk size: blank before': (400, chunks(b' 5\r\nhello\r\n0\r\n\r\n')),
    'chunk size: blank behind': (400, chunks(b'5 \r\nhello\r\n0\r\n\r\n')),
    'chunk size: tab behind': (400, chunks(b'5\t\r\nhello\r\n0\r\n\r\n')),
    'chunk size: empty': (400, chunks(b'\r\nhello\r\n0\r\n\r\n')),
    'chunk size: no digit': (400, chunks(b'g\r\nhello\r\n0\r\n\r\n')),
    'chunk size: 17 digits': (400, chunks(b'00000000000000005\r\nhello\r\n0\r\n\r\n')),
    'chunk size: 2^64 + 5': (400, chunks(b'10000000000000005\r\nhello\r\n0\r\n\r\n')),
    'chunk size: bare LF': (400, chunks(b'5\nhello\r\n0\r\n\r\n')),
    'chunk extension: bare LF': (400, chunks(b'5;a\nhello\r\n0\r\n\r\n')),
    'chunk extension: bare CR': (400, chunks(b'5;a\rb\r\nhello\r\n0\r\n\r\n')),
    'chunk extension: quote left open': (400, chunks(b'5;a="b\r\nhello\r\n0\r\n\r\n')),
    'chunk extension: LF in quotes': (400, chunks(b'5;a="\n"\r\nhello\r\n0\r\n\r\n')),
    'chunk extension: CRLF in quotes': (400, chunks(b'5;a="\r\n"\r\nhello\r\n0\r\n\r\n')),
    'chunk extension: empty': (400, chunks(b'5;\r\nhello\r\n0\r\n\r\n')),
    'chunk extension: long': (400, chunks(b'5;a=' + b'x' * 5000 + b'\r\nhello\r\n0\r\n\r\n')),
    'chunk extension: many small ones': (400, chunks(b'1;a=%s\r\nx\r\n' % (b'b' * 200) * 100 + b'0\r\n\r\n')),
    'chunk data: junk behind': (400, chunks(b'5\r\nhelloXX0\r\n\r\n')),
    'chunk data: longer than told': (400, chunks(b'5\r\nhello!\r\n0\r\n\r\n')),
    'chunk data: bare LF behind': (400, chunks(b'5\r\nhello\n0\r\n\r\n')),
    'chunk data: bare CR behind': (400, chunks(b'5\r\nhello\r0\r\n\r\n')),
    'chunks: missing last CRLF': (400, chunks(b'0\r\n')),
    'chunks: bare LF at the end': (400, chunks(b'0\r\n\n')),
    'trailers: folded': (400, chunks(b'0\r\nA: b\r\n c\r\n\r\n')),
    'trailers: space before colon': (400, chunks(b'0\r\nA : b\r\n\r\n')),
    'trailers: too many': (431, chunks(b'0\r\n' + b'A: b\r\n' * 200 + b'\r\n')),
    'field: folded': (400, field(b'X-A: a\r\n b')),
    'field: folded with a tab': (400, field(b'X-A: a\r\n\tb')),
    'field: bare CR': (400, field(b'X-A: a\rb')),
    'field: bare CR as line end': (400, field(b'X-A: a\rX-B: b')),
    'field: bare LF as line end': (400, field(b'X-A: a\nX-B: b')),
    'field: CR CR LF': (400, field(b'X-A: a\r')),
    'field: NUL': (400, field(b'X-A: a\0b')),
    'field: control': (400, field(b'X-A: a\x01b')),
    'field: DEL': (400, field(b'X-A: a\x7fb')),
    'field: space before colon': (400, field(b'X-A : a')),
    'field: tab before colon': (400, field(b'X-A\t: a')),
    'field: blank before the first': (400, b'GET /attack HTTP/1.1\r\n Host: HOST\r\n\r\n'),
    'field: no name': (400, field(b': a')),
    'field: no colon': (400, field(b'X-A')),
    'field: name is no token': (400, field(b'X(A): a')),
    'field: name beyond ASCII': (400, field(b'X-\xe4: a')),
    'field: NUL in the name': (400, field(b'X\0A: a')),
    'head: bare LF only': (400, b'GET /attack HTTP/1.1\nHost: HOST\n\n'),
    'head: LF CRLF': (400, b'GET /attack HTTP/1.1\r\nHost: HOST\n\r\n'),
    'line: two spaces': (400, line(b'GET  /attack HTTP/1.1')),
    'line: two spaces before the version': (400, line(b'GET /attack  HTTP/1.1')),
    'line: tab': (400, line(b'GET\t/attack HTTP/1.1')),
    'line: tab before the version': (400, line(b'GET /attack\tHTTP/1.1')),
    'line: space before': (400, line(b' GET /attack HTTP/1.1')),
    'line: space behind': (400, line(b'GET /attack HTTP/1.1 ')),
    'line: HTTP/0.9': (400, b'GET /attack\r\n\r\n'),
    'line: version missing': (400, line(b'GET /attack')),
    'line: version 2.0': (505, line(b'GET /attack HTTP/2.0')),
    'line: version 1.2': (505, line(b'GET /attack HTTP/1.2')),
    'line: version 1.10': (400, line(b'GET /attack HTTP/1.10')),
    'line: version 01.1': (400, line(b'GET /attack HTTP/01.1')),
    'line: version in lower case': (400, line(b'GET /attack http/1.1')),
    'line: another protocol': (400, line(b'GET /attack HTTX/1.1')),
    'line: preface of HTTP/2': (505, b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    'line: TLS': (400, b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'),
    'line: method is no token': (400, line(b'G@T /attack HTTP/1.1')),
    'line: no method': (400, line(b'/attack HTTP/1.1')),
    'method: very long': (501, line(b'G' * 500 + b' /attack HTTP/1.1')),
    'target: fragment': (400, line(b'GET /attack#x HTTP/1.1')),
    'target: quote': (400, line(b'GET /attack"x HTTP/1.1')),
    'target: angle': (400, line(b'GET /attack<x> HTTP/1.1')),
    'target: beyond ASCII': (400, line(b'GET /attack\xe4 HTTP/1.1')),
    'target: control': (400, line(b'GET /attack\x01 HTTP/1.1')),
    'target: NUL': (400, line(b'GET /attack\0 HTTP/1.1')),
    'target: CR': (400, line(b'GET /attack\rX HTTP/1.1')),
    'target: relative': (400, line(b'GET attack HTTP/1.1')),
    'empty lines before: three': (400, b'\r\n\r\n\r\n' + field(b'X-A: a')),
    'empty lines before: bare LF': (400, b'\n' + field(b'X-A: a')),
    'expectation not known': (417, request(b'Expect: 200-ok', b'Content-Length: 5', body=b'hello')),
    'expectation: two': (417, request(b'Expect: 100-continue, x', b'Content-Length: 5', body=b'hello')),
}


@pytest.mark.parametrize('name', REFUSED)
def test_ambiguity_is_refused_and_the_connection_closed(behind, host, name):
    status, attack = REFUSED[name]
    with behind.door.connect() as connection:
        connection.send((attack + SMUGGLED).replace(b'HOST', host.encode()))
        connection.finish_sending()
        assert connection.read_response().status == status
        assert connection.at_end()
    assert behind.seen(host) == []


HELD = {  # refused as soon as it is seen, while the client keeps its side open
    'CL.TE': REFUSED['CL.TE'],
    'chunk size: plus': REFUSED['chunk size: plus'],
    'field: bare LF as line end': REFUSED['field: bare LF as line end'],
    'line: version 2.0': REFUSED['line: version 2.0'],
    'method: very long': REFUSED['method: very long'],
}


@pytest.mark.parametrize('name', HELD)
def test_the_connection_is_closed_by_portico_itself(behind, host, name):
    status, attack = HELD[name]
    with behind.door.connect() as connection:
        connection.send(attack.replace(b'HOST', host.encode()))
        response = connection.read_response()
        assert (response.status, response.field('connection')) == (status, 'close')
        assert connection.at_end()


@pytest.mark.parametrize('method', ['GETX', 'get', 'G', 'GE', 'GET-'])
def test_a_method_like_another_is_refused_with_its_own_body(behind, host, method):
    """Its framing is as clear as any other's, so the connection goes on behind the body."""
    body = b'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
    with behind.door.connect() as connection:
        assert connection.get('/attack', host, method=method, body=body).status == 501
        assert connection.get('/barrier', host).status == 200
    assert behind.seen(host) == []


# Accepted: (what stands in front of a second request, what the first is seen as)
ACCEPTED = {
    'TE.TE: case': (coding(b' CHUNKed', body=b'5\r\nhello\r\n0\r\n\r\n'), "POST /attack 'hello'"),
    'TE.TE: tabs around': (coding(b'\tchunked\t', body=b'5\r\nhello\r\n0\r\n\r\n'), "POST /attack 'hello'"),
    'chunk extension: by grammar': (chunks(b'5;a=b;c="d\\"; e" ; f\r\nhello\r\n0;last\r\n\r\n'),
                                    "POST /attack 'hello'"),
    'chunk size: 16 digits': (chunks(b'0000000000000005\r\nhello\r\n000\r\n\r\n'), "POST /attack 'hello'"),
    'chunks: none': (chunks(b'0\r\n\r\n'), "POST /attack ''"),
    'length: zeros before': (length(b'005'), "POST /attack 'hello'"),
    'empty line before: one': (b'\r\n' + length(b'5'), "POST /attack 'hello'"),
    'value: beyond ASCII': (request(b'X-A: \xe4\xff', line=b'GET /attack HTTP/1.1'), "GET /attack ''"),
    'expectation: 100-continue': (request(b'Expect: 100-Continue', b'Content-Length: 5', body=b'hello'),
                                  "POST /attack 'hello'"),
    'trailers smuggle length and host': (
        chunks(b'5\r\nhello\r\n0\r\nContent-Length: 60\r\nHost: evil\r\nAuthorization: x\r\n\r\n'),
        "POST /attack 'hello'"),
}
for _method in ('GET', 'OPTIONS', 'DELETE', 'PUT'):
    ACCEPTED[f'CL.0: body of {_method}'] = (
        request(b'Content-Length: 44', line=_method.encode() + b' /attack HTTP/1.1',
                body=b'GET /smuggled HTTP/1.1\r\nHost: x.example1\r\n\r\n'),
        f"{_method} /attack 'GET /smuggled HTTP/1.1\\r\\nHost: x.example1\\r\\n\\r\\n'")
    ACCEPTED[f'TE.0: body of {_method}'] = (
        request(b'Transfer-Encoding: chunked', line=_method.encode() + b' /attack HTTP/1.1',
                body=b'2c\r\nGET /smuggled HTTP/1.1\r\nHost: x.example1\r\n\r\n\r\n0\r\n\r\n'),
        f"{_method} /attack 'GET /smuggled HTTP/1.1\\r\\nHost: x.example1\\r\\n\\r\\n'")


@pytest.mark.parametrize('name', ACCEPTED)
def test_bodies_are_framed_alike_by_everybody(behind, host, name):
    first, seen_as = ACCEPTED[name]
    with behind.door.connect() as connection:
        connection.send((first + request(line=b'GET /barrier HTTP/1.1')).replace(b'HOST', host.encode()))
        assert connection.read_response().body.decode() == seen_as
        assert connection.read_response().body.decode() == "GET /barrier ''"
        connection.finish_sending()
        assert connection.at_end()
    assert behind.seen(host) == [seen_as]


@pytest.mark.parametrize('name, first', {
    'close': request(b'Connection: close', line=b'GET /barrier HTTP/1.1'),
    'close among others': request(b'Connection: x, CLOSE', line=b'GET /barrier HTTP/1.1'),
    'HTTP/1.0': request(line=b'GET /barrier HTTP/1.0'),
}.items(), ids=lambda value: value if isinstance(value, str) else '')
def test_what_stands_behind_the_last_request_is_ignored(behind, host, name, first):
    with behind.door.connect() as connection:
        connection.send((first + SMUGGLED).replace(b'HOST', host.encode()))
        assert connection.read_response().status == 200
        assert connection.at_end()
    assert behind.seen(host) == []


@pytest.mark.parametrize('name, fields, status', [
    ('unknown host', (b'Content-Length: 40',), 421),
    ('unknown host, chunked', (b'Transfer-Encoding: chunked',), 421),
    ('body too large', (b'Content-Length: 99999999999',), 413),
], ids=lambda value: value if isinstance(value, str) else '')
def test_a_body_left_unread_is_no_request(behind, name, fields, status):
    """0.CL: the answer is there before the body is."""
    target = 'nobody.example' if status == 421 else PROXIED
    with behind.door.connect() as connection:
        connection.send(request(*fields).replace(b'HOST', target.encode()))
        response = connection.read_response()
        assert response.status == status
        connection.send(SMUGGLED.replace(b'HOST', PROXIED.encode()))
        if response.field('connection') == 'close':
            connection.finish_sending()
            assert connection.at_end()
    assert behind.seen(PROXIED) == []


def test_pipelined_requests_are_answered_in_order_among_sites(behind):
    hosts = [PROXIED, APPLICATION, APPLICATION, PROXIED, 'nobody.example'] * 6
    with behind.door.connect() as connection:
        for number, each in enumerate(hosts):
            connection.request(f'/barrier/{number}', each, method='POST', body=b'hello')
        for number, each in enumerate(hosts):
            response = connection.read_response()
            if each == 'nobody.example':
                assert response.status == 421
            else:
                assert response.body.decode() == f"POST /barrier/{number} 'hello'"


UPGRADES = {
    'h2c': (200, [b'Connection: Upgrade, HTTP2-Settings', b'Upgrade: h2c', b'HTTP2-Settings: AAMAAABk']),
    'h2c, not listed in Connection': (200, [b'Upgrade: h2c', b'HTTP2-Settings: AAMAAABk']),
    'another protocol': (200, [b'Connection: Upgrade', b'Upgrade: TLS/1.0']),
    'websocket without a key': (400, [b'Connection: Upgrade', b'Upgrade: websocket',
                                      b'Sec-WebSocket-Version: 13']),
    'websocket with a bad key': (400, [b'Connection: Upgrade', b'Upgrade: websocket',
                                       b'Sec-WebSocket-Version: 13', b'Sec-WebSocket-Key: AAAA']),
    'websocket of another version': (400, [b'Connection: Upgrade', b'Upgrade: websocket',
                                           b'Sec-WebSocket-Version: 777',
                                           b'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==']),
}


@pytest.mark.parametrize('name', UPGRADES)
def test_only_a_proper_websocket_handshake_is_passed_on(behind, name):
    status, fields = UPGRADES[name]
    attack = request(*fields, line=b'GET /barrier HTTP/1.1').replace(b'HOST', PROXIED.encode())
    before = len(behind.endpoint.requests)
    with behind.door.connect() as connection:
        connection.send(attack)
        assert connection.read_response().status == status
    for seen in behind.endpoint.requests[before:]:
        assert not [key for key, _ in seen.fields if key in ('connection', 'upgrade', 'http2-settings')]
    assert len(behind.endpoint.requests) - before == (1 if status == 200 else 0)


def test_bytes_behind_a_refused_websocket_handshake_go_to_nobody(behind):
    attack = request(b'Connection: Upgrade', b'Upgrade: websocket', b'Sec-WebSocket-Version: 13',
                     b'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', line=b'GET /barrier HTTP/1.1')
    with behind.door.connect() as connection:  # the endpoint answers 200
        connection.send((attack + b'\x81\x05hello').replace(b'HOST', PROXIED.encode()))
        assert connection.read_response().status == 200
        connection.finish_sending()
        rest = connection.read_to_end()
        assert rest == b'' or rest.startswith(b'HTTP/1.1 400 ')
    assert behind.seen(PROXIED) == []
