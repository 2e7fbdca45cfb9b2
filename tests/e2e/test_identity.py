"""Who is asked, for what, by whom: everybody behind the door sees one canonical request, and no client can lie.

Each row is looked at as the endpoint of a proxied site sees it and as the environ of an application.
"""
import json

import pytest

from endpoint import Endpoint, text
from waiting import eventually

PROXIED, APPLICATION, TRUSTING = 'proxied.example', 'application.example', 'trusting.example'

# Answers with its environ, that is with all of it that is text.
MIRROR = '''
import json
def application(environ, start_response):
    start_response('200 OK', [('Content-Type', 'application/json')])
    return [json.dumps({key: value for key, value in environ.items() if isinstance(value, str)}).encode()]
'''


def mirrored(request):
    return text(json.dumps({'method': request.method, 'target': request.target, 'fields': request.fields}))


def sites(endpoint, folder, more=''):
    return (f'{more}\nsites:\n'
            f'  {PROXIED}: {{to: "{endpoint.address}"}}\n'
            f'  {APPLICATION}:\n    wsgi: mirror\n    directory: {folder}\n'
            f'    routes:\n      /mount/: {{wsgi: mirror, directory: {folder}}}\n'
            f'  "[::1]": {{to: "{endpoint.address}"}}\n'
            f'  127.0.0.1: {{to: "{endpoint.address}"}}\n'
            f'  "*.wild.example": {{to: "{endpoint.address}"}}\n')


@pytest.fixture(scope='module')
def mirror(lasting_folder):
    (lasting_folder / 'mirror.py').write_text(MIRROR)
    made = Endpoint(mirrored)
    yield made
    made.close()


@pytest.fixture(scope='module')
def door(lasting_portico, mirror, lasting_folder):
    return lasting_portico(sites(mirror, lasting_folder))


@pytest.fixture(scope='module')
def trusting(lasting_portico, mirror, lasting_folder):
    """A door that believes its clients, which are on this machine, to be proxies."""
    return lasting_portico(sites(mirror, lasting_folder, 'trusted_proxies: [127.0.0.1, 10.0.0.0/8]'))


def ask(door, head):
    """Sends a whole request; returns its response."""
    with door.connect() as connection:
        connection.send(head)
        return connection.read_response()


def head(*lines, line='GET / HTTP/1.1'):
    return '\r\n'.join([line, *lines]) + '\r\n\r\n'


def seen_by_endpoint(response):
    """The fields that the endpoint got, with a repeated one as a list."""
    assert response.status == 200, response.body
    fields = {}
    for name, value in json.loads(response.body)['fields']:
        fields.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


HOSTS = {  # what is sent: (status, Host as the endpoint sees it)
    'as it is': ([f'Host: {PROXIED}'], 200, PROXIED),
    'upper case': (['Host: PROXIED.Example'], 200, PROXIED),
    'trailing dot': ([f'Host: {PROXIED}.'], 200, PROXIED),
    'default port': ([f'Host: {PROXIED}:80'], 200, PROXIED),
    'dot and port': ([f'Host: {PROXIED}.:80'], 200, PROXIED),
    'empty port': ([f'Host: {PROXIED}:'], 200, PROXIED),
    'another port': ([f'Host: {PROXIED}:8080'], 200, f'{PROXIED}:8080'),
    'blanks around': ([f'Host: \t {PROXIED} \t'], 200, PROXIED),
    'wildcard': (['Host: a.b.wild.example'], 200, 'a.b.wild.example'),
    'wildcard itself': (['Host: wild.example'], 421, None),
    'prefix of a wildcard': (['Host: xwild.example'], 421, None),
    'suffix of a name': ([f'Host: x{PROXIED}'], 421, None),
    'unknown': (['Host: other.example'], 421, None),
    'IPv4': (['Host: 127.0.0.1'], 200, '127.0.0.1'),
    'IPv6': (['Host: [0:0:0::1]'], 200, '[::1]'),
    'IPv6 zone': (['Host: [fe80::1%25eth0]'], 400, None),
    'IPv6 left open': (['Host: [::1'], 400, None),
    'IPv6 without brackets': (['Host: ::1'], 400, None),
    'missing': ([], 400, None),
    'empty': (['Host:'], 400, None),
    'two': ([f'Host: {PROXIED}', f'Host: {PROXIED}'], 400, None),
    'two that differ': ([f'Host: {PROXIED}', 'Host: other.example'], 400, None),
    'list': ([f'Host: {PROXIED}, other.example'], 400, None),
    'userinfo': ([f'Host: user@{PROXIED}'], 400, None),
    'path': ([f'Host: {PROXIED}/x'], 400, None),
    'backslash': ([f'Host: {PROXIED}\\x'], 400, None),
    'scheme': ([f'Host: http://{PROXIED}'], 400, None),
    'percent': (['Host: %70roxied.example'], 400, None),
    'underscore': (['Host: proxied_example'], 400, None),
    'inner blank': (['Host: proxied .example'], 400, None),
    'beyond ASCII': (['Host: pr\xf6xied.example'], 400, None),
    'two dots': ([f'Host: {PROXIED}..'], 400, None),
    'dot before': ([f'Host: .{PROXIED}'], 400, None),
    'port 0': ([f'Host: {PROXIED}:0'], 400, None),
    'port 65536': ([f'Host: {PROXIED}:65536'], 400, None),
    'port with a sign': ([f'Host: {PROXIED}:+80'], 400, None),
    'two ports': ([f'Host: {PROXIED}:80:80'], 400, None),
    'very long': (['Host: ' + 'a.' * 200 + 'example'], 400, None),
}


@pytest.mark.parametrize('name', HOSTS)
def test_host(door, name):
    lines, status, canonical = HOSTS[name]
    response = ask(door, head(*lines))
    assert response.status == status
    if canonical:
        assert seen_by_endpoint(response)['host'] == canonical


TARGETS = {  # request line's method and target, Host: (status, Host and target as the endpoint sees them)
    'the target names the site': (f'GET http://{PROXIED}/x?y', 'other.example', 200, PROXIED, '/x?y'),
    'upper case, default port': ('GET HTTP://PROXIED.example:80/x', 'other.example', 200, PROXIED, '/x'),
    'another port': (f'GET http://{PROXIED}:81/x', PROXIED, 200, f'{PROXIED}:81', '/x'),
    'empty path': (f'GET http://{PROXIED}', PROXIED, 200, PROXIED, '/'),
    'query without path': (f'GET http://{PROXIED}?a', PROXIED, 200, PROXIED, '/?a'),
    'OPTIONS without path': (f'OPTIONS http://{PROXIED}', PROXIED, 200, PROXIED, '*'),
    'OPTIONS *': ('OPTIONS *', PROXIED, 200, PROXIED, '*'),
    'the Host would have been the site': ('GET http://other.example/x', PROXIED, 421, None, None),
    'another scheme that we could speak': (f'GET https://{PROXIED}/x', PROXIED, 421, None, None),
    'another scheme': (f'GET ftp://{PROXIED}/x', PROXIED, 400, None, None),
    'userinfo': (f'GET http://user@{PROXIED}/x', PROXIED, 400, None, None),
    'no authority': ('GET http:///x', PROXIED, 400, None, None),
    'one slash': (f'GET http:/{PROXIED}/x', PROXIED, 400, None, None),
    'fragment': (f'GET http://{PROXIED}/x#y', PROXIED, 400, None, None),
    'GET *': ('GET *', PROXIED, 400, None, None),
    'authority-form': (f'GET {PROXIED}:80', PROXIED, 400, None, None),
}


@pytest.mark.parametrize('name', TARGETS)
def test_target(door, name):
    line, host, status, canonical, target = TARGETS[name]
    response = ask(door, head(f'Host: {host}', line=line + ' HTTP/1.1'))
    assert response.status == status
    if canonical:
        assert seen_by_endpoint(response)['host'] == canonical
        assert json.loads(response.body)['target'] == target


PATHS = {  # raw path: (status, target at the endpoint, PATH_INFO)
    '/a%2e': (200, '/a.', '/a.'),
    '/a/%2E%2e/b': (200, '/b', '/b'),
    '/a/./b': (200, '/a/b', '/a/b'),
    '/a/../../../b': (200, '/b', '/b'),
    '/a/b/..': (200, '/a/', '/a/'),
    '//a///b': (200, '/a/b', '/a/b'),
    '//evil.example/x': (200, '/evil.example/x', '/evil.example/x'),
    '/%41%7e': (200, '/A~', '/A~'),
    '/a%20b': (200, '/a%20b', '/a b'),
    '/%e4%c3%a4': (200, '/%E4%C3%A4', '/\xe4\xc3\xa4'),
    '/%252e%252e/x': (200, '/%252e%252e/x', '/%2e%2e/x'),
    '/a%3fb': (200, '/a%3Fb', '/a?b'),
    '/a%23b': (200, '/a%23b', '/a#b'),
    '/a%0d%0ab': (200, '/a%0D%0Ab', '/a\r\nb'),
    '/a;b=c': (200, '/a;b=c', '/a;b=c'),
    '/..a/...': (200, '/..a/...', '/..a/...'),
    '/a%2fb': (400, None, None),
    '/a%2Fb': (400, None, None),
    '/a%5cb': (400, None, None),
    '/a\\b': (400, None, None),
    '/a/..;/b': (400, None, None),
    '/a/..;x=y/b': (400, None, None),
    '/a/%2e.;/b': (400, None, None),
    '/a/.;/b': (400, None, None),
    '/a%00': (400, None, None),
    '/a%': (400, None, None),
    '/a%4': (400, None, None),
    '/a%zz': (400, None, None),
    '/a%u0041': (400, None, None),
    '/a^b': (400, None, None),
}


@pytest.mark.parametrize('path', PATHS)
def test_path(door, path):
    status, target, path_info = PATHS[path]
    response = ask(door, head(f'Host: {PROXIED}', line=f'GET {path}?q=%2f HTTP/1.1'))
    assert response.status == status
    if target:
        assert json.loads(response.body)['target'] == target + '?q=%2f'
    response = ask(door, head(f'Host: {APPLICATION}', line=f'GET {path}?q=%2f HTTP/1.1'))
    assert response.status == status
    if target:
        environ = json.loads(response.body)
        assert (environ['PATH_INFO'], environ['QUERY_STRING']) == (path_info, 'q=%2f')
        assert environ['RAW_URI'] == path + '?q=%2f'


MOUNTS = {  # raw path: (SCRIPT_NAME, PATH_INFO)
    '/mount': ('/mount', ''),
    '/mount/': ('/mount', '/'),
    '/mount/x': ('/mount', '/x'),
    '/%6dount/x': ('/mount', '/x'),
    '//mount//x': ('/mount', '/x'),
    '/a/../mount/x': ('/mount', '/x'),
    '/mount/../x': ('', '/x'),
    '/mount/%2e%2e/x': ('', '/x'),
    '/mounts': ('', '/mounts'),
    '/Mount/x': ('', '/Mount/x'),
    '/mount;/x': ('', '/mount;/x'),
}


@pytest.mark.parametrize('path', MOUNTS)
def test_mount(door, path):
    environ = json.loads(ask(door, head(f'Host: {APPLICATION}', line=f'GET {path} HTTP/1.1')).body)
    assert (environ['SCRIPT_NAME'], environ['PATH_INFO']) == MOUNTS[path]


LIES = {  # a field: (its value at the endpoint, its name in the environ, its value there)
    'X-Forwarded-For: 6.6.6.6': ('127.0.0.1', 'HTTP_X_FORWARDED_FOR', '127.0.0.1'),
    'X-Forwarded-Proto: https': ('http', 'HTTP_X_FORWARDED_PROTO', 'http'),
    'X-Forwarded-Host: evil': (PROXIED, 'HTTP_X_FORWARDED_HOST', APPLICATION),
    'X-Forwarded-Port: 443': (None, 'HTTP_X_FORWARDED_PORT', None),
    'X-Forwarded-Prefix: /evil': (None, 'HTTP_X_FORWARDED_PREFIX', None),
    'X-Forwarded-Ssl: on': (None, 'HTTP_X_FORWARDED_SSL', None),
    'Forwarded: for=6.6.6.6;proto=https;host=evil': (None, 'HTTP_FORWARDED', None),
    'X-Real-IP: 6.6.6.6': ('127.0.0.1', 'HTTP_X_REAL_IP', '127.0.0.1'),
    'X-Original-URL: /admin': (None, 'HTTP_X_ORIGINAL_URL', None),
    'X-Rewrite-URL: /admin': (None, 'HTTP_X_REWRITE_URL', None),
    'Client-IP: 6.6.6.6': (None, 'HTTP_CLIENT_IP', None),
    'True-Client-IP: 6.6.6.6': (None, 'HTTP_TRUE_CLIENT_IP', None),
    'Front-End-Https: on': (None, 'HTTP_FRONT_END_HTTPS', None),
    'Proxy: http://evil': (None, 'HTTP_PROXY', None),
    'Proxy-Authorization: Basic x': (None, 'HTTP_PROXY_AUTHORIZATION', None),
    'Script-Name: /evil': (None, 'HTTP_SCRIPT_NAME', None),
    'Path-Info: /evil': (None, 'HTTP_PATH_INFO', None),
    'SCRIPT_NAME: /evil': (None, 'SCRIPT_NAME', ''),
    'PATH_INFO: /evil': (None, 'PATH_INFO', '/'),
    'X_Forwarded_For: 6.6.6.6': (None, 'HTTP_X_FORWARDED_FOR', '127.0.0.1'),
    'X-Forwarded_For: 6.6.6.6': (None, 'HTTP_X_FORWARDED_FOR', '127.0.0.1'),
    'X.Forwarded.For: 6.6.6.6': (None, 'HTTP_X_FORWARDED_FOR', '127.0.0.1'),
    'X_Real_IP: 6.6.6.6': (None, 'HTTP_X_REAL_IP', '127.0.0.1'),
    'Content_Length: 99': (None, 'CONTENT_LENGTH', None),
    'Remote_User: root': (None, 'HTTP_REMOTE_USER', None),
    'X_Anything: 1': (None, 'HTTP_X_ANYTHING', None),
    'Keep-Alive: 300': (None, 'HTTP_KEEP_ALIVE', None),
    'TE: trailers': (None, 'HTTP_TE', None),
    'Trailer: X-A': (None, 'HTTP_TRAILER', None),
    'Proxy-Connection: close': (None, 'HTTP_PROXY_CONNECTION', None),
    'Expect: 100-continue': (None, 'HTTP_EXPECT', None),
    'Connection: close, X-Secret\r\nX-Secret: 1': (None, 'HTTP_X_SECRET', None),
}


@pytest.mark.parametrize('lie', LIES)
def test_a_client_cannot_lie(door, lie):
    name = lie.split('\r\n')[-1].split(':')[0].lower()
    at_endpoint, variable, in_environ = LIES[lie]
    fields = seen_by_endpoint(ask(door, head(f'Host: {PROXIED}', lie)))
    assert fields.get(name) == at_endpoint
    environ = json.loads(ask(door, head(f'Host: {APPLICATION}', lie)).body)
    assert environ.get(variable) == in_environ
    assert environ['wsgi.url_scheme'] == 'http'
    assert environ['REMOTE_ADDR'] == '127.0.0.1'


@pytest.mark.parametrize('name', ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Real-IP',
                                  'Host', 'Cookie', 'Authorization', 'Content-Type', 'Content-Length',
                                  'X-Request-ID', 'Range', 'If-None-Match'])
def test_connection_takes_away_nothing_that_others_rely_on(door, name):
    """CVE-2022-31813"""
    lines = ['Cookie: a=b', 'Authorization: Basic x', 'Content-Type: text/x', 'Content-Length: 0',
             'Range: bytes=0-', 'If-None-Match: "x"', f'Connection: close, {name}']
    fields = seen_by_endpoint(ask(door, head(f'Host: {PROXIED}', *lines)))
    assert fields[name.lower()]
    assert fields.get('connection', '').lower() in ('', 'keep-alive', 'close')
    environ = json.loads(ask(door, head(f'Host: {APPLICATION}', *lines)).body)
    variable = name.upper().replace('-', '_')
    assert environ[variable if variable in ('CONTENT_TYPE', 'CONTENT_LENGTH') else 'HTTP_' + variable]


CHAINS = {  # what a trusted proxy sends: (X-Forwarded-For, REMOTE_ADDR, scheme, X-Forwarded-Host)
    'nothing': ([], '127.0.0.1', '127.0.0.1', 'http', APPLICATION),
    'a client': (['X-Forwarded-For: 6.6.6.6'], '6.6.6.6, 127.0.0.1', '6.6.6.6', 'http', APPLICATION),
    'a lying client': (['X-Forwarded-For: 1.1.1.1, 6.6.6.6'], '6.6.6.6, 127.0.0.1', '6.6.6.6', 'http', APPLICATION),
    'two fields': (['X-Forwarded-For: 1.1.1.1', 'X-Forwarded-For: 6.6.6.6'],
                   '6.6.6.6, 127.0.0.1', '6.6.6.6', 'http', APPLICATION),
    'two proxies': (['X-Forwarded-For: 6.6.6.6, 10.1.2.3'],
                    '6.6.6.6, 10.1.2.3, 127.0.0.1', '6.6.6.6', 'http', APPLICATION),
    'proxies only': (['X-Forwarded-For: 10.9.9.9, 10.1.2.3'],
                     '10.9.9.9, 10.1.2.3, 127.0.0.1', '10.9.9.9', 'http', APPLICATION),
    'no address': (['X-Forwarded-For: 6.6.6.6, nonsense'], '127.0.0.1', '127.0.0.1', 'http', APPLICATION),
    'scheme': (['X-Forwarded-Proto: https'], '127.0.0.1', '127.0.0.1', 'https', APPLICATION),
    'a lie before the scheme': (['X-Forwarded-Proto: https, http'], '127.0.0.1', '127.0.0.1', 'http', APPLICATION),
    'unknown scheme': (['X-Forwarded-Proto: gopher'], '127.0.0.1', '127.0.0.1', 'http', APPLICATION),
    'host': (['X-Forwarded-Host: public.example'], '127.0.0.1', '127.0.0.1', 'http', 'public.example'),
    'bad host': (['X-Forwarded-Host: a/b'], '127.0.0.1', '127.0.0.1', 'http', APPLICATION),
    'Forwarded': (['Forwarded: for="[2001:db8::1]:99";proto=https;host=public.example'],
                  '2001:db8::1, 127.0.0.1', '2001:db8::1', 'https', 'public.example'),
    'half a Forwarded': (['Forwarded: for=6.6.6.6;proto="https'], '127.0.0.1', '127.0.0.1', 'http', APPLICATION),
}


@pytest.mark.parametrize('name', CHAINS)
def test_a_trusted_proxy_is_believed_as_far_as_it_can_know(trusting, name):
    lines, chain, client, scheme, host = CHAINS[name]
    environ = json.loads(ask(trusting, head(f'Host: {APPLICATION}', *lines)).body)
    assert environ['HTTP_X_FORWARDED_FOR'] == chain
    assert (environ['REMOTE_ADDR'], environ['HTTP_X_REAL_IP']) == (client, client)
    assert (environ['wsgi.url_scheme'], environ['HTTP_X_FORWARDED_PROTO']) == (scheme, scheme)
    assert environ['HTTP_X_FORWARDED_HOST'] == host
    assert 'HTTP_FORWARDED' not in environ


METHODS = {'TRACE': 501, 'CONNECT': 501, 'TRACK': 501, 'DEBUG': 501, 'PROPFIND': 200, 'QUERY': 200}


@pytest.mark.parametrize('method', METHODS)
@pytest.mark.parametrize('host', [PROXIED, APPLICATION])
def test_method(door, host, method):
    line = f'{method} {host + ":80" if method == "CONNECT" else "/"} HTTP/1.1'
    assert ask(door, head(f'Host: {host}', line=line)).status == METHODS[method]


SIZES = {
    'target as long as allowed': (head(f'Host: {PROXIED}', line=f'GET /{"a" * 8191} HTTP/1.1'), 200),
    'target too long': (head(f'Host: {PROXIED}', line=f'GET /{"a" * 8192} HTTP/1.1'), 414),
    'target without end': ('GET /' + 'a' * 60_000, 414),
    'as many fields as allowed': (head(f'Host: {PROXIED}', *['X-A: b'] * 99), 200),
    'a field too many': (head(f'Host: {PROXIED}', *['X-A: b'] * 100), 431),
    'a large field': (head(f'Host: {PROXIED}', 'X-A: ' + 'b' * 30_000), 200),
    'a field too large': (head(f'Host: {PROXIED}', 'X-A: ' + 'b' * 33_000), 431),
    'a field without end': (f'GET / HTTP/1.1\r\nHost: {PROXIED}\r\nX-A: ' + 'b' * 33_000, 431),
    'a name without end': (f'GET / HTTP/1.1\r\nHost: {PROXIED}\r\n' + 'b' * 33_000, 431),
}


@pytest.mark.parametrize('name', SIZES)
def test_size(door, name):
    sent, status = SIZES[name]
    with door.connect() as connection:
        connection.send(sent)
        assert connection.read_response().status == status
        if status != 200:
            assert connection.at_end()


def test_a_door_before_itself_is_a_loop(portico, folder):
    path = folder / 'loop.sock'
    door = portico(f'listen: ["127.0.0.1:0", "unix:{path}"]\nsites:\n  a.example: {{to: "unix:{path}"}}\n')
    assert door.get('/', 'a.example').status == 508
    assert len([line for line in door.access_log() if ' 508 ' in line]) <= 2


def test_two_doors_before_each_other_are_a_loop(portico, doors, folder, tmp_path):
    one, two = folder / 'one.sock', folder / 'two.sock'
    first = portico(f'listen: ["127.0.0.1:0", "unix:{one}"]\nsites:\n  a.example: {{to: "unix:{two}"}}\n')
    second = tmp_path / 'second.yaml'
    second.write_text(f'listen: ["unix:{two}"]\ncontrol: "off"\nsites:\n  a.example: {{to: "unix:{one}"}}\n')
    doors('run', second)
    assert first.get('/', 'a.example').status == 508


def test_a_via_of_others_is_no_loop(door):
    fields = seen_by_endpoint(ask(door, head(f'Host: {PROXIED}', 'Via: 1.1 portico, 1.0 other')))
    assert fields['via'][0] == '1.1 portico, 1.0 other'


def test_a_request_id_is_ours_unless_a_trusted_proxy_gave_one(door, trusting):
    line = 'X-Request-ID: given-by-the-client'
    response = ask(door, head(f'Host: {PROXIED}', line))
    assert seen_by_endpoint(response)['x-request-id'] == response.field('x-request-id') != 'given-by-the-client'
    response = ask(trusting, head(f'Host: {PROXIED}', line))
    assert seen_by_endpoint(response)['x-request-id'] == 'given-by-the-client'
    response = ask(trusting, head(f'Host: {PROXIED}', 'X-Request-ID: a"b\\c ' + 'd' * 3000))
    assert '"' not in response.field('x-request-id')


def test_what_a_client_sends_cannot_break_the_log(door):
    before = len(door.access_log())
    ask(door, head(f'Host: {PROXIED}', 'User-Agent: \x80\x9b31m" 200 1',
                   'Referer: " \\" \xe2\x80\xae', line='GET /a%0a%22 HTTP/1.1'))
    ask(door, 'GET /"\x1b[31m\n HTTP/1.1\r\n\r\n')
    eventually(lambda: len(door.access_log()) >= before + 2, what='two lines')
    data = door.output.read_bytes()
    assert all(byte == 10 or 32 <= byte < 127 for byte in data)
    assert len(door.access_log()) == before + 2
