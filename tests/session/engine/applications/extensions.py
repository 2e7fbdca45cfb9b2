"""What environ offers beyond PEP 3333."""
import ast

from applications.base import Gate, kept, ok

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
