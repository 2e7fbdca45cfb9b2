"""Applications that read their request's body while it comes, for test_streamed_requests.py; found by the path's first
part. Files in their directory tell what they do, and let them go on.
"""
import hashlib, io, json, os, pathlib
from urllib.parse import unquote
from wsgiref.validate import validator

here = pathlib.Path(__file__).parent
TEXT = [('Content-Type', 'text/plain')]

def note(name, text=''):
    """A file that is there at once with all its text."""
    other = here / (name + '.new')
    other.write_text(text)
    other.rename(here / name)

def application(environ, start_response):
    return globals()[environ['PATH_INFO'].split('/')[1]](environ, start_response)

def wait_for(name):
    while not (here / name).exists():
        os.sched_yield()

def evaluate(environ, start_response):
    value = eval(unquote(environ['QUERY_STRING']), {'f': environ['wsgi.input'], 'io': io, 'environ': environ})
    start_response('200 OK', TEXT)
    return [repr(value).encode()]

def refuse(environ, start_response):
    start_response('403 Forbidden', TEXT)
    return [b'no']

def waits(environ, start_response):
    note('called')
    wait_for('go')
    start_response('200 OK', TEXT)
    return [environ['wsgi.input'].read()]

def lockstep(environ, start_response):
    start_response('200 OK', TEXT)
    return iter(environ['wsgi.input'].readline, b'')

def digest(environ, start_response):
    digest, f = hashlib.sha256(), environ['wsgi.input']
    if environ['QUERY_STRING'] == 'late':
        digest.update(f.read(1))
        wait_for('go')
    while part := f.read(65536):
        digest.update(part)
    start_response('200 OK', TEXT)
    return [digest.hexdigest().encode()]

def catch(environ, start_response):
    answer = []
    try:
        if environ['QUERY_STRING'] == 'headed':
            write = start_response('200 OK', TEXT)
            write(b'begun')
        else:
            start_response('200 OK', TEXT)
        environ['wsgi.input'].read()
    except Exception as error:
        note('caught', json.dumps([type(error).__name__, isinstance(error, ConnectionError), str(error)]))
        raise
    note('caught', 'null')
    return answer

def hangs(environ, start_response):
    note('called')
    wait_for('never')

def dies(environ, start_response):
    with (here / 'ran').open('a') as ran:
        ran.write('x')
    if environ['QUERY_STRING'] == 'read':
        environ['wsgi.input'].read(1)
    os.kill(os.getpid(), 9)

def closes_descriptor(environ, start_response):
    f, told = environ['wsgi.input'], []
    f.read(1)
    for name in os.listdir('/proc/self/fd'):
        path = '/proc/self/fd/' + name
        if os.path.lexists(path) and os.readlink(path) not in before and os.readlink(path).startswith('socket:'):
            os.close(int(name))
            told.append('closed')
    try:
        f.read()
    except OSError as error:
        told.append(isinstance(error, ConnectionError))
    start_response('200 OK', TEXT)
    return [repr(told).encode()]

def remembers(environ, start_response):
    global before
    before = {os.readlink('/proc/self/fd/' + name) for name in os.listdir('/proc/self/fd')
              if os.path.lexists('/proc/self/fd/' + name)}
    start_response('200 OK', TEXT)
    return []

def _plain(environ, start_response):
    body = environ['wsgi.input'].read(1000)
    start_response('200 OK', TEXT + [('Content-Length', str(len(body) + 2))])
    return [b'>', body, b'<']

def _lines(environ, start_response):
    start_response('200 OK', TEXT)
    for line in environ['wsgi.input']:
        yield line

valid_plain, valid_lines = map(validator, (_plain, _lines))
