"""What the applications share, and the simplest of them."""
import json
import os
import time

seen = {}
kept = {}


def note(key, value):
    seen.setdefault(key, []).append(value)


class Body:
    """An iterable that notes what is done to it."""

    def __init__(self, name, items, fail_close=False):
        self.name = name
        self.items = iter(items)
        self.fail_close = fail_close

    def __iter__(self):
        note(self.name, 'iter')
        return self

    def __next__(self):
        return next(self.items)

    def close(self):
        note(self.name, 'close')
        if self.fail_close:
            raise RuntimeError('close went wrong')


def ok(start_response, *headers):
    return start_response('200 OK', list(headers))


def seen_by(environ, start_response):
    ok(start_response)
    return [json.dumps(seen.pop(environ['QUERY_STRING'], [])).encode()]


def hello(environ, start_response):
    ok(start_response, ('Content-Type', 'text/plain'))
    return [b'Hello, world!']


def environ(environ, start_response):
    ok(start_response)
    plain = {key: value for key, value in environ.items() if isinstance(value, (str, bool, tuple))}
    odd = {key: repr(value) for key, value in environ.items()
           if '.' not in key and type(value) is not str}
    return [json.dumps({'plain': plain, 'odd': odd, 'type': type(environ).__name__}).encode()]


def mutate(environ, start_response):
    found = 'mark' in environ
    environ['mark'] = 'here'
    environ.pop('wsgi.version')
    ok(start_response)
    return [b'again' if found else b'fresh']


class Gate:
    """Opened by another process: a file in the way."""

    def __init__(self, path):
        self.path = path

    def wait(self):
        while not os.path.exists(self.path):
            time.sleep(0.001)
