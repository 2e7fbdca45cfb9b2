"""PEP 3333 over HTTP: the traps that servers were seen to fall into, each a row by its name.

All of it in each of the MODES, by one door each. /told/NAME gives what the application NAME has noted down, and
before that told() lets every thread of the application come to the end of what it does.
"""
import contextlib
import json
import pathlib
import shutil

import pytest

from modes import MODES

HOST = 'a.example'
TRAPS = pathlib.Path(__file__).parent / 'sites/traps.py'


@pytest.fixture(scope='module', params=MODES)
def mode(request):
    return request.param


@pytest.fixture(scope='module')
def place(lasting_folder, mode):
    place = lasting_folder / mode
    place.mkdir()
    place.chmod(0o777)
    shutil.copyfile(TRAPS, place / 'traps.py')
    return place


@pytest.fixture(scope='module')
def door(lasting_portico, place, mode):
    options, threads, top = MODES[mode]
    door = lasting_portico(f'{top}sites:\n  {HOST}: {{wsgi: traps, directory: {place}, {options}, '
                           f'environment: {{THREADS: "{threads}"}}}}\n')
    door.threads = threads
    return door


@pytest.fixture
def connection(door):
    with door.connect() as made:
        yield made


def told(door, name):
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(door.connect()) for _ in range(door.threads)]
        for each in connections:
            each.request('/meet', HOST)
        for each in connections:
            assert each.read_response().status == 200
    return json.loads(door.get(f'/told/{name}', HOST).body)


def target(name, *values):
    """The path of an application with values as its query."""
    return f'/{name}?' + ''.join(f'%{byte:02x}' for byte in repr(values).encode())


WHOLE = {  # the application's name: (status, body)
    'empty_first': (202, b'late'),                  # 5
    'start_in_first_next': (202, b'late'),          # 4
    'never_starts': (500, None),                    # 6
    'never_starts_nor_says': (500, None),
    'none': (500, None),                            # 7
    'number': (500, None),
    'text_item': (500, None),                       # 8
    'number_item': (500, None),
    'bytes_whole': (200, b'whole'),
    'old_sequence': (200, b'old sequence'),         # 3
    'closes_after_early_error': (500, None),        # 14
    'close_fails': (200, b'sent'),                  # 10
    'writes': (200, b'written, twice, given'),      # 16, 17
    'starts_twice': (200, b'refused'),              # 18
    'replaces': (503, b'replaced'),                 # 19
}


@pytest.mark.parametrize('name', WHOLE)
def test_answer(connection, name):
    status, body = WHOLE[name]
    for _ in range(2):  # the connection and the worker go on
        response = connection.get(f'/{name}', HOST)
        assert response.status == status
        assert body is None or response.body == body


CUT = ['closes_after_error', 'text_item_later', 'replaces_too_late']  # 8, 15, 20


@pytest.mark.parametrize('name', CUT)
@pytest.mark.parametrize('version', ['1.1', '1.0'])
def test_what_breaks_after_the_first_byte_never_looks_complete(door, name, version):
    with door.connect() as connection:
        connection.send(f'GET /{name} HTTP/{version}\r\nHost: {HOST}\r\n\r\n')
        try:
            response = connection.read_response()
            assert response.status == 500  # nothing had been sent yet
        except (EOFError, ConnectionError):
            pass
    assert door.get('/closes', HOST).body == b'ab'


def test_20_exc_info_too_late_raises_the_given_exception(door, connection):
    told(door, 'replaces_too_late')
    connection.request('/replaces_too_late', HOST)
    try:
        connection.read_response()
    except (EOFError, ConnectionError):
        pass
    assert told(door, 'replaces_too_late') == ["ValueError('mine')"]


def test_19_exc_info_replaces_status_and_all_headers(connection):
    response = connection.get('/replaces', HOST)
    assert (response.status, response.reason) == (503, 'Replaced')
    assert response.field('x-first') is None and response.field('x-second') == '2'
    assert response.field('content-type') is None


def test_17_write_takes_bytes_only(connection):
    assert connection.get('/writes_text', HOST).body in (b'TypeError', b'AssertionError')


def test_22_headers_are_those_of_the_call(connection):
    response = connection.get('/changes_headers_later', HOST)
    assert response.field('x-a') == 'before' and response.field('x-b') is None


def test_9_a_chunk_does_not_wait_for_the_next(connection, place):
    connection.request('/waits_between', HOST)
    response = connection.read_head()
    assert response.field('transfer-encoding') == 'chunked'
    assert int(connection.read_line(), 16) == 5
    assert connection.read_bytes(7) == b'first\r\n'
    (place / 'go').touch()
    assert int(connection.read_line(), 16) == 6


CLOSES = {  # 10: name: (method, what it notes)
    'closes': ('GET', ['next', 'next', 'close']),
    'closes_after_error': ('GET', ['next', 'next', 'close']),
    'closes_after_early_error': ('GET', ['next', 'close']),
    'close_fails': ('GET', ['next', 'close']),
    'text_item_later': ('GET', ['next', 'next', 'close']),
}


@pytest.mark.parametrize('name', CLOSES)
def test_10_close_is_called_once(door, name):
    method, notes = CLOSES[name]
    told(door, name)
    try:
        door.get(f'/{name}', HOST, method=method)
    except (EOFError, ConnectionError):
        pass
    assert told(door, name) == notes


@pytest.mark.parametrize('method', ['GET', 'HEAD'])
def test_10_close_is_called_once_when_nobody_listens_any_more(door, method):
    told(door, 'closes_unread')
    with door.connect() as connection:
        connection.request('/closes_unread', HOST, method=method)
        assert connection.read_head().status == 200
    notes = told(door, 'closes_unread')
    assert notes.count('close') == 1 and notes[-1] == 'close'
    assert len(notes) < 10_000


STATUSES = {  # 24: whether it is refused, else (status, reason) as sent
    '200 OK': (200, 'OK'),
    '299 My own': (299, 'My own'),
    '200': (200, 'OK'),
    '404 ': None,
    '200 \xe4': (200, 'OK'),  # 25
    'abc def': None,
    '100 Continue': None,
    '101 Switching': None,
    '199 Low': None,
    '600 High': None,
    '2000 OK': None,
    '20 OK': None,
    '200OK': None,
    ' 200 OK': None,
    '200 OK ': None,
    '200\tOK': None,
    '200 OK\r\nX: y': None,
    '200 OK\n': None,
    '200 O\0K': None,
    '-200 OK': None,
    '': None,
    b'200 OK': None,
    200: None,
    None: None,
}


@pytest.mark.parametrize('status', STATUSES, ids=repr)
def test_24_status(connection, status):
    response = connection.get(target('refused', status, []), HOST)
    if STATUSES[status] is None:
        assert response.field('x-refused'), response
    else:
        assert (response.status, response.reason, response.field('x-refused')) == (*STATUSES[status], None)
    assert connection.get('/closes', HOST).body == b'ab'


HEADERS = {  # 23, 26, 27, 28, 33
    'name with a colon': [('X-A:', 'b')],
    'name with a blank': [('X A', 'b')],
    'name empty': [('', 'b')],
    'name with CRLF': [('X-A: b\r\nX-C', 'd')],
    'name beyond ASCII': [('X-\xe4', 'b')],
    'name of bytes': [(b'X-A', 'b')],
    'value with CRLF': [('X-A', 'b\r\nX-C: d')],
    'value with LF': [('X-A', 'b\nX-C: d')],
    'value with CR': [('X-A', 'b\rc')],
    'value with NUL': [('X-A', 'b\0c')],
    'value with control': [('X-A', 'b\x01c')],
    'value with DEL': [('X-A', 'b\x7fc')],
    'value beyond latin-1': [('X-A', '\u20ac')],
    'value of bytes': [('X-A', b'b')],
    'value of None': [('X-A', None)],
    'value of int': [('X-A', 5)],
    'pair of three': [('X-A', 'b', 'c')],
    'list, no pair': [['X-A', 'b']],
    'text, no pair': ['X-A: b'],
    'tuple, no list': (('X-A', 'b'),),
    'dict, no list': {'X-A': 'b'},
    'None': None,
    'length negative': [('Content-Length', '-3')],
    'length no number': [('Content-Length', 'abc')],
    'length with a sign': [('Content-Length', '+3')],
    'length empty': [('Content-Length', '')],
    'length list': [('Content-Length', '3, 3')],
    'length huge': [('Content-Length', '99999999999999999999')],
    'length twice': [('Content-Length', '3'), ('Content-Length', '3')],
}
for _name in ('Connection', 'Keep-Alive', 'Proxy-Authenticate', 'Proxy-Connection', 'TE', 'Trailer',
              'Transfer-Encoding', 'Upgrade', 'transfer-encoding'):
    HEADERS[f'hop by hop: {_name}'] = [(_name, 'chunked')]


@pytest.mark.parametrize('name', HEADERS)
def test_26_bad_headers_are_refused_within_start_response(connection, name):
    response = connection.get(target('refused', '200 OK', HEADERS[name]), HOST)
    assert response.field('x-refused'), response
    assert response.field('x-c') is None
    assert connection.get('/closes', HOST).body == b'ab'


def test_27_values_of_latin_1_pass_and_blanks_around_them_go(connection):
    response = connection.get(target('refused', '200 OK', [('X-A', ' caf\xe9 b ')]), HOST)
    assert response.field('x-refused') is None
    assert response.field('x-a') == 'caf\xe9 b'


def length(value):
    return ('Content-Length', str(value))


FRAMING = {  # 31-37: (method, status line, headers, chunks): (body, Content-Length), None: cut
    '31 longer than told': ('GET', '200 OK', [length(3)], [b'ab', b'cdef', b'gh'], (b'abc', '3')),
    '32 shorter than told': ('GET', '200 OK', [length(9)], [b'abc'], None),
    '32 nothing of what was told': ('GET', '200 OK', [length(9)], [], None),
    '34 none': ('GET', '200 OK', [], [], (b'', '0')),
    '34 empty ones': ('GET', '200 OK', [], [b'', b''], (b'', '0')),
    '36 HEAD': ('HEAD', '200 OK', [length(3)], [b'abc'], (b'', '3')),
    '36 HEAD without length': ('HEAD', '200 OK', [], [b'abc'], (b'', None)),
    '36 HEAD of more than the body': ('HEAD', '200 OK', [length(99)], [], (b'', '99')),
    '37 204 with a body': ('GET', '204 None', [], [b'abc'], (b'', None)),
    '37 204 with a length': ('GET', '204 None', [length(3)], [b'abc'], (b'', None)),
    '37 304 with a body': ('GET', '304 None', [], [b'abc'], (b'', None)),
    '37 304 with a length': ('GET', '304 None', [length(3)], [], (b'', '3')),
}


@pytest.mark.parametrize('name', FRAMING)
def test_framing(door, name):
    method, status, headers, chunks, expected = FRAMING[name]
    with door.connect() as connection:
        try:
            response = connection.get(target('gives', status, headers, chunks), HOST, method=method)
        except (EOFError, ConnectionError):
            assert expected is None
        else:
            assert (response.status == 500) == (expected is None)
            if expected:
                assert response.body == expected[0]
                if expected[1] or status.startswith('204'):
                    assert response.field('content-length') == expected[1]
                assert status[:3] == '200' or response.field('transfer-encoding') is None
                assert connection.get('/closes', HOST).body == b'ab'
    assert told(door, 'gives').count('close') == 1


def test_31_what_is_too_long_is_not_asked_for_any_further(door):
    door.get(target('gives', '200 OK', [length(3)], [b'abcd'] * 50), HOST)
    assert told(door, 'gives') == ['next', 'close']


def test_34_a_list_of_one_has_its_length(connection):
    response = connection.get('/bytes_whole', HOST)
    assert response.field('content-length') == '5'


def test_34_without_a_length_http_1_0_ends_with_the_connection_or_is_told_one(door):
    with door.connect() as connection:
        connection.send(f'GET /writes HTTP/1.0\r\nHost: {HOST}\r\n\r\n')
        response = connection.read_response()
        assert response.body == b'written, twice, given'
        assert response.field('transfer-encoding') is None
        assert connection.at_end()


def test_38_date_is_added_once_and_nothing_else(connection):
    response = connection.get(target('gives', '200 OK', [], [b'a']), HOST)
    assert response.field('date').endswith(' GMT')
    assert {name for name, _ in response.fields} <= {'date', 'x-request-id', 'content-length', 'transfer-encoding'}
    own = 'Thu, 01 Jan 1970 00:00:00 GMT'
    headers = [('Date', own), ('Server', 'mine')]
    response = connection.get(target('gives', '200 OK', headers, [b'a']), HOST)
    assert (response.field('date'), response.field('server')) == (own, 'mine')


ENVIRON = {  # 42-50, 61: (lines of the request, variables; None: absent)
    '42 method as sent': (['PROPFIND /mirror HTTP/1.1'], {'REQUEST_METHOD': 'PROPFIND'}),
    '43 PATH_INFO decoded': (['GET /mirror/a%20%e4 HTTP/1.1'], {'PATH_INFO': '/mirror/a \xe4', 'SCRIPT_NAME': ''}),
    '44 the raw target is kept': (['GET //mirror/./a?b HTTP/1.1'], {'RAW_URI': '//mirror/./a?b',
                                                                    'PATH_INFO': '/mirror/a'}),
    '46 absolute-form': ([f'GET http://{HOST}/mirror?a HTTP/1.1'], {'HTTP_HOST': HOST, 'PATH_INFO': '/mirror'}),
    '47 no query': (['GET /mirror HTTP/1.1'], {'QUERY_STRING': ''}),
    '47 empty query': (['GET /mirror? HTTP/1.1'], {'QUERY_STRING': '', 'RAW_URI': '/mirror?'}),
    '47 raw query': (['GET /mirror?a=%2f%zz&b=+%00 HTTP/1.1'], {'QUERY_STRING': 'a=%2f%zz&b=+%00'}),
    '48 no body': (['GET /mirror HTTP/1.1'], {'CONTENT_LENGTH': None, 'CONTENT_TYPE': None}),
    '48 type and length': (['POST /mirror HTTP/1.1', 'Content-Type: text/x', 'Content-Length: 5'],
                           {'CONTENT_LENGTH': '5', 'CONTENT_TYPE': 'text/x', 'HTTP_CONTENT_LENGTH': None,
                            'HTTP_CONTENT_TYPE': None, 'body': 'hello'}),
    '49 names': (['GET /mirror HTTP/1.1', 'x-MiXed: 1', 'X_Under: 2', 'X-Under: 3'],
                 {'HTTP_X_MIXED': '1', 'HTTP_X_UNDER': '3'}),
    '50 repeated': (['GET /mirror HTTP/1.1', 'X-A: 1', 'X-B: 2', 'X-A: 3'], {'HTTP_X_A': '1, 3'}),
    '50 cookies': (['GET /mirror HTTP/1.1', 'Cookie: a=1', 'Cookie: b=2'], {'HTTP_COOKIE': 'a=1; b=2'}),
    '51 latin-1': (['GET /mirror HTTP/1.1', 'X-A: \xe4\x80'], {'HTTP_X_A': '\xe4\x80'}),
    '53 server': (['GET /mirror HTTP/1.1'], {'SERVER_NAME': HOST, 'SERVER_PORT': '80'}),
    '54 protocol': (['GET /mirror HTTP/1.0'], {'SERVER_PROTOCOL': 'HTTP/1.0', 'REMOTE_ADDR': '127.0.0.1'}),
    '61 chunked': (['POST /mirror HTTP/1.1', 'Transfer-Encoding: chunked'],
                   {'CONTENT_LENGTH': '5', 'HTTP_TRANSFER_ENCODING': None, 'body': 'hello'}),
    '61 chunked, nothing': (['POST /mirror HTTP/1.1', 'Transfer-Encoding: chunked', 'X-Empty: 1'],
                            {'CONTENT_LENGTH': '0', 'body': ''}),
}


@pytest.mark.parametrize('name', ENVIRON)
def test_environ(connection, name):
    lines, variables = ENVIRON[name]
    body = ''
    if any('chunked' in line for line in lines):
        body = '0\r\n\r\n' if 'nothing' in name else '2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n'
    elif 'Content-Length: 5' in lines:
        body = 'hello'
    connection.send('\r\n'.join([lines[0], f'Host: {HOST}', *lines[1:]]) + '\r\n\r\n' + body)
    response = connection.read_response()
    assert response.status == 200
    environ = json.loads(response.body)
    assert {key: environ.get(key) for key in variables} == variables
    assert environ['types'] == ['str']


@pytest.mark.parametrize('field', ['Content-Type: a', 'Authorization: a', f'Host: {HOST}', 'Content-Length: 0'])
def test_50_what_may_stand_once_is_refused_twice(door, field):
    lines = [field] * 2 if field.startswith('Host') else [f'Host: {HOST}', field, field]
    with door.connect() as connection:
        connection.send('\r\n'.join(['GET /mirror HTTP/1.1', *lines]) + '\r\n\r\n')
        assert connection.read_response().status == 400


def test_45_nul_in_the_path_is_400(connection):
    assert connection.get('/mirror%00', HOST).status == 400


def test_46_the_server_as_a_whole_has_an_asterisk_for_a_path(place, mode, portico):
    (place / 'star.py').write_text('def application(environ, start_response):\n'
                                   '    start_response("200 OK", [])\n'
                                   '    return [environ["PATH_INFO"].encode()]\n')
    options, _, top = MODES[mode]
    other = portico(f'{top}sites:\n  {HOST}: {{wsgi: star, directory: {place}, {options}}}\n')
    assert other.get('*', HOST, method='OPTIONS').body == b'*'


VALIDATED = {  # under wsgiref.validate.validator: (method, body, answer)
    'plain': ('GET', None, b'><'),
    'plain, posted to': ('POST', b'hello', b'>hello<'),
    'plain, HEAD': ('HEAD', None, b''),
    'lines': ('POST', b'a\nb\nc', b'a\nb\nc'),
    'writes': ('GET', None, b'written'),
    'empty': ('GET', None, b''),
}


@pytest.mark.parametrize('name', VALIDATED)
def test_the_validator_has_nothing_to_complain(door, connection, name):
    method, body, answer = VALIDATED[name]
    for _ in range(2):
        response = connection.get(f'/valid_{name.split(",")[0]}', HOST, method=method, body=body)
        assert response.status in (200, 204), response.body
        assert response.body == answer
    told(door, 'valid')  # what it says of close() comes behind the answer
    assert '/valid_' not in door.log() and 'Iterator garbage collected' not in door.log()
