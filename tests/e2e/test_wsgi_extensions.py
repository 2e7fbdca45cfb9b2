"""What environ offers beyond PEP 3333, over HTTP and in each of the MODES."""
import pytest

from modes import MODES

HOST = 'a.example'
APPLICATION = '''
import os

def application(environ, start_response):
    return globals()[environ['PATH_INFO'].strip('/')](environ, start_response)

def hints(environ, start_response):
    hint = environ['wsgi.early_hints']
    hint([('Link', '</a.css>; rel=preload'), ('Link', '</b.js>; rel=preload')])
    yield b''
    while not os.path.exists('go'):
        os.sched_yield()
    start_response('200 OK', [('Content-Type', 'text/plain')])
    yield b'body, '
    try:
        hint([('Link', '</late>')])
    except RuntimeError as error:
        yield str(error).encode()
'''
LATE = b'body, early hints are too late: the response has begun'


@pytest.fixture(params=MODES)
def door(portico, folder, request):
    mode = MODES[request.param]
    folder.chmod(0o777)
    (folder / 'extended.py').write_text(APPLICATION)
    return portico(f'{mode.top}sites:\n  {HOST}: {{wsgi: extended, directory: {folder}, {mode.options}}}\n')


def test_early_hints_reach_the_client_before_the_answer_is_there(door, folder):
    with door.connect() as connection:
        connection.request('/hints', HOST)
        hints = connection.read_head()
        assert (hints.status, hints.reason) == (103, 'Early Hints')
        assert hints.fields == [('link', '</a.css>; rel=preload'), ('link', '</b.js>; rel=preload')]
        (folder / 'go').touch()
        interim = []
        response = connection.read_response(interim=interim)
        assert (response.status, response.body, interim) == (200, LATE, [])
        assert connection.get('/hints', HOST).body == LATE  # the connection goes on


def test_early_hints_are_not_for_http_1_0(door, folder):
    (folder / 'go').touch()
    with door.connect() as connection:
        connection.send(f'GET /hints HTTP/1.0\r\nHost: {HOST}\r\n\r\n')
        response = connection.read_head()
        assert response.status == 200
        assert connection.read_to_end() == LATE
