"""What environ offers beyond PEP 3333."""
import ast
import time

from applications.base import Body, Gate, kept, note, ok

HINT = ('Link', '</a.css>; rel=preload')


def hints(environ, start_response):
    environ['wsgi.early_hints']([HINT])
    environ['wsgi.early_hints']([])
    ok(start_response, ('X-Final', '1'))
    return [b'body']


def hints_gated(environ, start_response):
    environ['wsgi.early_hints']([HINT])
    Gate(environ['QUERY_STRING']).wait()
    ok(start_response)
    return [b'body']


def hints_after_start(environ, start_response):
    ok(start_response)
    environ['wsgi.early_hints']([HINT])
    return [b'body']


def hints_after_write(environ, start_response):
    ok(start_response)(b'gone')
    try:
        environ['wsgi.early_hints']([HINT])
    except RuntimeError as error:
        return [b' ', str(error).encode()]


def hints_given(environ, start_response):
    """Gives the headers in the request's body to early_hints, and tells how it takes them."""
    try:
        environ['wsgi.early_hints'](ast.literal_eval(environ['wsgi.input'].read().decode()))
    except Exception as error:
        start_response('500 Refused', [])
        return [('%s: %s' % (type(error).__name__, error)).encode('utf-8', 'backslashreplace')]
    ok(start_response)
    return []


def hints_kept(environ, start_response):
    kept['hints'] = environ['wsgi.early_hints']
    ok(start_response)
    return []


def hints_from_before(environ, start_response):
    ok(start_response)
    try:
        kept.pop('hints')([HINT])
    except RuntimeError as error:
        return [str(error).encode()]


def works_until_nobody_waits(environ, start_response):
    disconnected = environ['portico.client_disconnected']
    note('works_until_nobody_waits', disconnected())
    open(environ['QUERY_STRING'], 'w').close()
    while not disconnected():
        time.sleep(0.001)
    note('works_until_nobody_waits', disconnected())
    ok(start_response)
    return [b'unwanted']


class Noticing(Body):
    """Notes in close() whether the client is there."""

    def __init__(self, environ, items):
        super().__init__('', items)
        self.environ = environ

    def close(self):
        note(self.environ['PATH_INFO'], self.environ['portico.client_disconnected']())


def noticing(environ, start_response):
    ok(start_response)
    return Noticing(environ, [b'one', b'two'])


def noticing_gated(environ, start_response):
    def items():
        yield b'one'
        Gate(environ['QUERY_STRING']).wait()
        while True:
            yield b'more'
    ok(start_response)
    return Noticing(environ, items())


def disconnected_kept(environ, start_response):
    kept['disconnected'] = environ['portico.client_disconnected']
    ok(start_response)
    return [repr(kept['disconnected']()).encode()]


def disconnected_from_before(environ, start_response):
    ok(start_response)
    return [repr(kept.pop('disconnected')()).encode()]


def deadline(environ, start_response):
    ok(start_response)
    return [repr((environ['portico.deadline'], time.monotonic())).encode()]
