"""Every byte arrives, both ways: 1 byte to 10 MB (100 MB with PORTICO_SCALE=10), by hash.

Answers of endpoints in all three framings and of applications in all their forms, to clients that take much or
little at a time; uploads likewise.
"""
import hashlib
import os
import random
import socket

import pytest

from endpoint import RawEndpoint, read_request, text
from modes import EMBEDDED, MODES

SCALE = int(os.environ.get('PORTICO_SCALE', '1'))
LARGEST = 100_000_000 if SCALE >= 10 else 10_000_000
SIZES = [1, 1000, 16_384, 65_537, 1_000_003]
PIECE = 1 << 16

# /FORM/SIZE answers bytes that everybody can compute; POST /WAY answers the hash of what was read.
APPLICATION = '''
import hashlib, io, random

def data(size):
    return random.Random(size).randbytes(size)

def pieces(body, most):
    draw = random.Random(most)
    at = 0
    while at < len(body):
        size = draw.randint(0, most)  # empty ones too
        yield body[at:at + size]
        at += size

def read(stream, way):
    if way == 'read':
        yield stream.read()
    elif way == 'parts':
        while part := stream.read(5000):
            yield part
    elif way == 'lines':
        yield from stream
    elif way == 'readline':
        while part := stream.readline(777):
            yield part

def application(environ, start_response):
    _, form, size = (environ['PATH_INFO'] + '/0').split('/')[:3]
    fields = [('Content-Type', 'application/octet-stream')]
    if environ['REQUEST_METHOD'] == 'POST':
        digest = hashlib.sha256()
        for part in read(environ['wsgi.input'], form):
            digest.update(part)
        start_response('200 OK', fields)
        return [digest.hexdigest().encode()]
    body = data(int(size))
    if form == 'length':
        fields.append(('Content-Length', size))
    write = start_response('200 OK', fields)
    if form == 'list':
        return [body]
    if form == 'write':
        for piece in pieces(body, 20000):
            write(piece)
        return []
    if form == 'file':
        return environ['wsgi.file_wrapper'](io.BytesIO(body), 10000)
    if form == 'realfile':
        stream = open('data' + size, 'rb')
        stream.seek(10)  # it is sent from there
        return environ['wsgi.file_wrapper'](stream)
    return pieces(body, {'tiny': 100, 'generator': 20000, 'length': 70000}[form])
'''


def data(size):
    """The same bytes as in the application."""
    return random.Random(size).randbytes(size)


def pieces(body, most):
    draw = random.Random(most)
    at = 0
    while at < len(body):
        size = draw.randint(1, most)
        yield body[at:at + size]
        at += size


def serve(connection):
    """The endpoint: GET /FORM/SIZE, where "slow" is a form of many small segments; POST /."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
    stream = connection.makefile('rb')
    while request := read_request(stream):
        if request.method == 'POST':
            connection.sendall(text(hashlib.sha256(request.body).hexdigest()))
            continue
        _, form, size = request.target.split('/')
        send_answer(connection, form, data(int(size)))
        if 'close' in form:
            return


def send_answer(connection, form, body):
    most = 700 if 'slow' in form else 200_000
    if 'length' in form:
        connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n' % len(body))
    elif 'chunked' in form:
        connection.sendall(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    else:
        connection.sendall(b'HTTP/1.1 200 OK\r\n\r\n')
    for piece in pieces(body, most):
        connection.sendall(b'%x\r\n%s\r\n' % (len(piece), piece) if 'chunked' in form else piece)
    if 'chunked' in form:
        connection.sendall(b'0\r\n\r\n')


@pytest.fixture(scope='module')
def door(lasting_portico, lasting_folder):
    (lasting_folder / 'bytes_app.py').write_text(APPLICATION)
    for size in [*SIZES, LARGEST]:
        (lasting_folder / f'data{size}').write_bytes(b'0123456789' + data(size))
    end = RawEndpoint(serve)
    yield lasting_portico(f'limits: {{body: 200MB}}\nspool: {{threshold: 20KB, memory: 1MiB}}\nsites:\n'
                          f'  endpoint: {{to: "{end.address}"}}\n'
                          f'  application: {{wsgi: bytes_app, directory: {lasting_folder}}}\n'
                          f'  streamed: {{wsgi: bytes_app, directory: {lasting_folder}, request: stream}}\n')
    end.close()


@pytest.fixture(scope='module', params=EMBEDDED)
def embedded_door(lasting_portico, lasting_folder, request):
    mode = MODES[request.param]
    (lasting_folder / 'bytes_app.py').write_text(APPLICATION)
    for size in SIZES:
        (lasting_folder / f'data{size}').write_bytes(b'0123456789' + data(size))
    return lasting_portico(f'{mode.top}spool: {{threshold: 20KB, memory: 1MiB}}\nsites:\n'
                           f'  application: {{wsgi: bytes_app, directory: {lasting_folder}, {mode.options}}}\n')


def connect(door, receive_buffer):
    client = socket.socket()
    if receive_buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    client.settimeout(60)
    client.connect(door.address)
    return client


def read_answer(stream):
    """(status, length, hash) of one answer; fails unless it is whole."""
    status = int(stream.readline().split(b' ')[1])
    fields = {}
    while (line := stream.readline()) != b'\r\n':
        name, _, value = line.partition(b':')
        fields[name.lower()] = value.strip()
    digest, length = hashlib.sha256(), 0
    for piece in body_of(stream, fields):
        digest.update(piece)
        length += len(piece)
    return status, length, digest.hexdigest()


def body_of(stream, fields):
    if fields.get(b'transfer-encoding') == b'chunked':
        while size := int(stream.readline(), 16):
            yield exactly(stream, size)
            assert stream.read(2) == b'\r\n'
        assert stream.readline() == b'\r\n'
    else:
        left = int(fields[b'content-length'])
        while left:
            piece = exactly(stream, min(left, PIECE))
            left -= len(piece)
            yield piece


def exactly(stream, size):
    piece = stream.read(size)
    assert len(piece) == size, 'the answer was cut'
    return piece


def check_answers(door, host, form, sizes, receive_buffer):
    with connect(door, receive_buffer) as client:
        stream = client.makefile('rb', buffering=2048 if receive_buffer else PIECE)
        for size in sizes:
            client.sendall(b'GET /%s/%d HTTP/1.1\r\nHost: %s\r\n\r\n' % (form.encode(), size, host.encode()))
            assert read_answer(stream) == (200, size, hashlib.sha256(data(size)).hexdigest()), size


FORMS = [('endpoint', form) for form in ('length', 'chunked', 'close', 'slow-length', 'slow-chunked', 'slow-close')]
FORMS += [('application', form) for form in ('list', 'generator', 'tiny', 'length', 'write', 'file', 'realfile')]
FAST = [(host, form) for host, form in FORMS if 'slow' not in form and form != 'tiny']


@pytest.mark.parametrize('receive_buffer', [None, 4096])
@pytest.mark.parametrize('host, form', FORMS)
def test_answers_arrive_whole(door, host, form, receive_buffer):
    check_answers(door, host, form, SIZES, receive_buffer)


@pytest.mark.parametrize('receive_buffer', [None, 65536])
@pytest.mark.parametrize('host, form', FAST)
def test_large_answers_arrive_whole(door, host, form, receive_buffer):
    check_answers(door, host, form, [LARGEST], receive_buffer)


@pytest.mark.parametrize('form', [form for host, form in FORMS if host == 'application'])
def test_answers_of_an_embedded_application_arrive_whole(embedded_door, form):
    check_answers(embedded_door, 'application', form, SIZES, 4096)


def chunked(parts):
    for part in parts:
        yield b'%x\r\n%s\r\n' % (len(part), part)
    yield b'0\r\n\r\n'


def upload(client, stream, host, target, framing, body, most):
    head = f'POST {target} HTTP/1.1\r\nHost: {host}\r\n'
    parts = pieces(body, most)
    if framing == 'chunked':
        client.sendall(head.encode() + b'Transfer-Encoding: chunked\r\n\r\n')
        parts = chunked(parts)
    else:
        client.sendall(head.encode() + b'Content-Length: %d\r\n\r\n' % len(body))
    for part in parts:
        client.sendall(part)
    status, _, digest = read_answer(stream)
    told = hashlib.sha256(hashlib.sha256(body).hexdigest().encode()).hexdigest()
    assert (status, digest) == (200, told), len(body)


UPLOADS = [('endpoint', '/'), ('application', '/read'), ('application', '/parts'),
           ('application', '/lines'), ('application', '/readline'),
           ('streamed', '/read'), ('streamed', '/parts'), ('streamed', '/lines'), ('streamed', '/readline')]


@pytest.mark.parametrize('most', [700, 200_000], ids=['slow', 'fast'])
@pytest.mark.parametrize('framing', ['length', 'chunked'])
@pytest.mark.parametrize('host, target', UPLOADS)
def test_uploads_arrive_whole(door, host, target, framing, most):
    with connect(door, None) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        stream = client.makefile('rb')
        sizes = [0, *SIZES]
        if most > 700 and target in ('/', '/parts'):
            sizes.append(LARGEST)
        for size in sizes:
            upload(client, stream, host, target, framing, data(size), most)


@pytest.mark.parametrize('target', ['/read', '/parts', '/lines', '/readline'])
def test_uploads_to_an_embedded_application_arrive_whole(embedded_door, target):
    with connect(embedded_door, None) as client:
        stream = client.makefile('rb')
        for size in [0, *SIZES]:
            upload(client, stream, 'application', target, 'length', data(size), 200_000)
