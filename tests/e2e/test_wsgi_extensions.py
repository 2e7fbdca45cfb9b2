"""What environ offers beyond PEP 3333, over HTTP and in each of the MODES."""
import json
import socket
import struct

import pytest

from modes import MODES
from waiting import eventually

HOST = 'a.example'
APPLICATION = '''
import json, os, time

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

def works(environ, start_response):
    disconnected = environ['portico.client_disconnected']
    open('begun', 'w').close()
    while not disconnected():
        os.sched_yield()
    open('nobody waits', 'w').close()
    start_response('200 OK', [])
    return []

class Stream:
    def __init__(self, environ, count):
        self.environ, self.chunks = environ, iter([b'x' * 10000] * count)
    def __iter__(self):
        return self.chunks
    def close(self):
        with open('closed.new', 'w') as file:
            json.dump(self.environ['portico.client_disconnected'](), file)
        os.rename('closed.new', 'closed')

def short(environ, start_response):
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return Stream(environ, 2)

def long(environ, start_response):
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return Stream(environ, 1000000)

def deadline(environ, start_response):
    start_response('200 OK', [('Content-Type', 'application/json')])
    return [json.dumps(environ['portico.deadline'] - time.monotonic()).encode()]
'''
LATE = b'body, early hints are too late: the response has begun'


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


@pytest.fixture
def door(portico, folder, mode):
    options, _, top = MODES[mode]
    folder.chmod(0o777)
    (folder / 'extended.py').write_text(APPLICATION)
    return portico(f'{top}sites:\n  {HOST}: {{wsgi: extended, directory: {folder}, {options}, '
                   'timeouts: {response: 25s}}\n')


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


def reset(connection):
    """Leaves so that it cannot be mistaken for a client that still waits, having said all."""
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    connection.close()


def closed_by(folder):
    found = folder / 'closed'
    eventually(found.exists, what='close()')
    seen = json.loads(found.read_text())
    found.unlink()
    return seen


def test_an_application_that_works_sees_that_its_client_has_left(door, folder, mode):
    if mode == 'embedded-in-the-loop':
        pytest.skip('while it works nobody can look at the client')
    connection = door.connect()
    connection.request('/works', HOST)
    eventually((folder / 'begun').exists, what='the call')
    reset(connection)
    eventually((folder / 'nobody waits').exists, what='the client has left')


def test_close_tells_whether_the_client_was_there_to_the_end(door, folder):
    assert len(door.get('/short', HOST).body) == 20000
    assert closed_by(folder) is False
    connection = door.connect()
    connection.request('/long', HOST)
    assert connection.read_head().status == 200
    reset(connection)
    assert closed_by(folder) is True


def test_the_deadline_is_the_response_time(door):
    assert 15 < json.loads(door.get('/deadline', HOST).body) <= 25
