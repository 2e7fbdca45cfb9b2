"""Applications that servers were seen to get wrong, for test_wsgi_http.py.

Each function is an application, found by the first part of the path. `refused` tries start_response and answers
whether it was refused, with what is in the query as Python literals.
"""
import ast, json, os, sys, threading
from urllib.parse import unquote_to_bytes
from wsgiref.validate import validator

notes = {}
everybody = threading.Barrier(int(os.environ['THREADS']))
TEXT = [('Content-Type', 'text/plain')]

def note(name, what):
    notes.setdefault(name, []).append(what)

class Closing:
    """An iterable of chunks, of which an exception is raised, that notes its close()."""
    def __init__(self, name, chunks):
        self.name, self.chunks = name, iter(chunks)
    def __iter__(self):
        return self
    def __next__(self):
        chunk = next(self.chunks)
        note(self.name, 'next')
        if isinstance(chunk, Exception):
            raise chunk
        return chunk
    def close(self):
        note(self.name, 'close')

def application(environ, start_response):
    name = environ['PATH_INFO'].split('/')[1]
    return globals()[name](environ, start_response)

def meet(environ, start_response):
    everybody.wait()
    start_response('200 OK', TEXT)
    return []

def told(environ, start_response):
    start_response('200 OK', TEXT)
    return [json.dumps(notes.pop(environ['PATH_INFO'].split('/')[2], [])).encode()]

def mirror(environ, start_response):
    start_response('200 OK', TEXT)
    seen = {key: value for key, value in environ.items() if isinstance(value, str)}
    seen['body'] = environ['wsgi.input'].read().decode('latin-1')
    seen['types'] = sorted({type(value).__name__ for key, value in environ.items() if key.isupper()})
    return [json.dumps(seen).encode()]

def refused(environ, start_response):
    status, headers = ast.literal_eval(unquote_to_bytes(environ['QUERY_STRING']).decode())
    try:
        start_response(status, headers)
    except Exception as error:
        start_response('200 OK', [('X-Refused', type(error).__name__)], sys.exc_info())
    return []

def gives(environ, start_response):
    status, headers, chunks = ast.literal_eval(unquote_to_bytes(environ['QUERY_STRING']).decode())
    start_response(status, headers)
    return Closing('gives', chunks)

# The call

def empty_first(environ, start_response):
    yield b''
    yield b''
    start_response('202 Late', TEXT + [('X-Late', 'yes')])
    yield b''
    yield b'late'

def start_in_first_next(environ, start_response):
    start_response('202 Late', TEXT)
    yield b'late'

def never_starts(environ, start_response):
    return [b'body']

def never_starts_nor_says(environ, start_response):
    return []

def none(environ, start_response):
    start_response('200 OK', TEXT)

def number(environ, start_response):
    start_response('200 OK', TEXT)
    return 5

def text_item(environ, start_response):
    start_response('200 OK', TEXT)
    return ['text']

def text_item_later(environ, start_response):
    start_response('200 OK', TEXT)
    return Closing('text_item_later', [b'x' * 1000, 'text', b'more'])

def number_item(environ, start_response):
    start_response('200 OK', TEXT)
    return [5]

def bytes_whole(environ, start_response):
    start_response('200 OK', TEXT)
    return b'whole'

def old_sequence(environ, start_response):
    class Old:
        def __getitem__(self, at):
            return [b'old ', b'', b'sequence'][at]
    start_response('200 OK', TEXT)
    return Old()

def waits_between(environ, start_response):
    start_response('200 OK', TEXT)
    yield b'first'
    while not os.path.exists('go'):
        os.sched_yield()
    yield b'second'

def closes(environ, start_response):
    start_response('200 OK', TEXT)
    return Closing('closes', [b'a', b'b'])

def closes_after_error(environ, start_response):
    start_response('200 OK', TEXT)
    return Closing('closes_after_error', [b'a' * 1000, ValueError('in the middle')])

def closes_after_early_error(environ, start_response):
    start_response('200 OK', TEXT)
    return Closing('closes_after_early_error', [ValueError('at the start')])

def closes_unread(environ, start_response):
    start_response('200 OK', TEXT)
    return Closing('closes_unread', (b'x' * 100000 for _ in range(100000)))

def close_fails(environ, start_response):
    class Failing(Closing):
        def close(self):
            super().close()
            raise ValueError('close failed')
    start_response('200 OK', TEXT)
    return Failing('close_fails', [b'sent'])

# start_response and write

def writes(environ, start_response):
    write = start_response('200 OK', TEXT)
    write(b'written, ')
    write(b'')
    write(b'twice, ')
    return [b'given']

def writes_text(environ, start_response):
    write = start_response('200 OK', TEXT)
    try:
        write('text')
    except Exception as error:
        return [type(error).__name__.encode()]

def starts_twice(environ, start_response):
    start_response('200 OK', TEXT)
    try:
        start_response('201 Twice', TEXT)
    except Exception as error:
        return [b'refused']
    return [b'accepted']

def replaces(environ, start_response):
    start_response('200 OK', TEXT + [('X-First', '1')])
    try:
        raise ValueError
    except ValueError:
        start_response('503 Replaced', [('X-Second', '2')], sys.exc_info())
    return [b'replaced']

def replaces_too_late(environ, start_response):
    start_response('200 OK', TEXT)
    yield b'x' * 1000
    try:
        raise ValueError('mine')
    except ValueError:
        try:
            start_response('500 Too late', TEXT, sys.exc_info())
        except BaseException as error:
            note('replaces_too_late', repr(error))
            raise

def changes_headers_later(environ, start_response):
    headers = TEXT + [('X-A', 'before')]
    start_response('200 OK', headers)
    headers[-1] = ('X-A', 'after')
    headers.append(('X-B', 'after'))
    return [b'']

# Under wsgiref.validate

def _plain(environ, start_response):
    body = environ['wsgi.input'].read(1000)
    start_response('200 OK', TEXT + [('Content-Length', str(len(body) + 2))])
    return [b'>', body, b'<'] if body else [b'><']

def _lines(environ, start_response):
    start_response('200 OK', TEXT)
    for line in environ['wsgi.input']:
        yield line
    environ['wsgi.errors'].write('validated\n')
    environ['wsgi.errors'].flush()

def _writes(environ, start_response):
    start_response('200 OK', TEXT)(b'written')
    return []

def _empty(environ, start_response):
    start_response('204 No Content', [])
    return []

valid_plain, valid_lines, valid_writes, valid_empty = map(validator, (_plain, _lines, _writes, _empty))
