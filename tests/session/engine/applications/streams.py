"""wsgi.input and wsgi.errors."""
import io
import threading

from applications.base import ok


def read_input(environ, start_response):
    """Evaluates the query with `f` as wsgi.input."""
    import urllib.parse
    code = urllib.parse.unquote(environ['QUERY_STRING'])
    ok(start_response)
    return [repr(eval(code, {'f': environ['wsgi.input'], 'io': io})).encode()]


def read_twice(environ, start_response):
    """What two attempts to read the body come to."""
    told = []
    for _ in range(2):
        try:
            told.append(environ['wsgi.input'].read())
        except Exception as error:
            told.append((type(error).__name__, isinstance(error, ConnectionError), str(error)))
    ok(start_response)
    return [repr(told).encode()]


readers = []


def leaves_a_reader(environ, start_response):
    """A thread of it reads on when the answer has been given; /reader_told tells what it got."""
    def read():
        reading.set()
        try:
            told.append(environ['wsgi.input'].read())
        except Exception as error:
            told.append(repr(error))
    told, reading = [], threading.Event()
    reader = threading.Thread(target=read)
    readers.append((reader, told))
    reader.start()
    reading.wait()
    if environ['QUERY_STRING'] == 'disturb':
        try:
            while True:
                environ['wsgi.input'].read(0)
        except RuntimeError as error:
            told.append(str(error))
    ok(start_response)
    return [b'left']


def reader_told(environ, start_response):
    reader, told = readers.pop()
    reader.join()
    ok(start_response)
    return [repr(told).encode()]


def upload_facts(environ, start_response):
    ok(start_response)
    keys = ('CONTENT_LENGTH', 'wsgi.input_terminated', 'portico.deadline')
    return [repr([environ.get(key) for key in keys]).encode()]


def echo_by_parts(environ, start_response):
    """Answers each line as it comes."""
    ok(start_response)
    return iter(environ['wsgi.input'].readline, b'')


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
