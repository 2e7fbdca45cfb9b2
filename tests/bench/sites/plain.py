"""The bare WSGI application of the benchmarks; the path says what is answered."""
import time

PIECE = b'p' * 100
TEXT = ('Content-Type', 'text/plain')


def whole(content):
    """An application that answers with these bytes."""
    fields = [TEXT, ('Content-Length', str(len(content)))]

    def answer(environ, start_response):
        start_response('200 OK', fields[:])
        return [content]
    return answer


def echo(environ, start_response):
    content = environ['wsgi.input'].read(int(environ['CONTENT_LENGTH']))
    start_response('200 OK', [TEXT, ('Content-Length', str(len(content)))])
    return [content]


def pieces(environ, start_response):
    """A hundred pieces, each ready at once."""
    start_response('200 OK', [TEXT])
    for _ in range(100):
        yield PIECE


def steps(environ, start_response):
    """A hundred pieces, one a millisecond."""
    start_response('200 OK', [TEXT])
    for _ in range(100):
        yield PIECE
        time.sleep(0.001)


ANSWERS = {'/hello': whole(b'Hello, world!'), '/10k': whole(b'k' * 10240), '/echo': echo, '/pieces': pieces,
           '/steps': steps}


def application(environ, start_response):
    return ANSWERS[environ['PATH_INFO']](environ, start_response)
