"""Content-Length, given or found out."""
from applications.base import Body, ok


def sized(environ, start_response):
    """The query gives Content-Length and the sizes of the chunks: 5:3,2"""
    length, _, sizes = environ['QUERY_STRING'].partition(':')
    start_response('200 OK', [('Content-Length', length)] if length else [])
    return Body('sized', [b'x' * int(size) for size in sizes.split(',') if size])


def listed(environ, start_response):
    ok(start_response)
    return [b'x' * int(size) for size in environ['QUERY_STRING'].split(',') if size]


def one_long(environ, start_response):
    class One(Body):
        def __len__(self):
            return 1
    ok(start_response)
    return One('one_long', [b'seven b'])


def with_status(environ, start_response):
    status = environ['QUERY_STRING'].replace('%20', ' ')
    start_response(status, [('Content-Length', '4')])
    return Body('with_status', [b'body'])
