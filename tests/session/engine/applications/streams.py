"""wsgi.input and wsgi.errors."""
import io

from applications.base import ok


def read_input(environ, start_response):
    """Evaluates the query with `f` as wsgi.input."""
    import urllib.parse
    code = urllib.parse.unquote(environ['QUERY_STRING'])
    ok(start_response)
    return [repr(eval(code, {'f': environ['wsgi.input'], 'io': io})).encode()]


def echo(environ, start_response):
    ok(start_response)
    return [environ['wsgi.input'].read()]


def errors(environ, start_response):
    stream = environ['wsgi.errors']
    stream.write('half ')
    stream.write('line\nsecond \u20ac \ud800\n')
    stream.writelines(['a', 'b\n', 'unfinished'])
    stream.flush()
    ok(start_response)
    return [b'']


def print_errors(environ, start_response):
    print('printed', 'twice', file=environ['wsgi.errors'])
    ok(start_response)
    return [b'']
