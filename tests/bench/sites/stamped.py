"""The time at which each answer was made is its body; /slow works for a second first."""
import time


def application(environ, start_response):
    if environ['PATH_INFO'] == '/slow':
        time.sleep(1)
    start_response('200 OK', [('Content-Type', 'text/plain'), ('Content-Length', '20')])
    return [b'%020d' % time.monotonic_ns()]
