"""Every kind of result, and every way that one can fail."""
import sys

from applications.base import Body, Gate, note, ok


def late_start(environ, start_response):
    yield b''
    yield b''
    ok(start_response, ('X-Late', 'yes'))
    yield b'late'


def old_iterable(environ, start_response):
    class Old:
        def __getitem__(self, index):
            return [b'a', b'b', b'c'][index]
    ok(start_response)
    return Old()


def callable_object(environ, start_response):
    ok(start_response)
    return map(bytes, [(65, 66), (67,)])


def never_started(environ, start_response):
    return [b'body']


def never_started_empty(environ, start_response):
    return []


def never_started_generator(environ, start_response):
    yield b'body'


def none(environ, start_response):
    ok(start_response)


def number(environ, start_response):
    ok(start_response)
    return 7


def text_item(environ, start_response):
    ok(start_response)
    return ['text']


def text_item_later(environ, start_response):
    ok(start_response)
    return Body('text_item_later', [b'fine', 'text'])


def plain_bytes(environ, start_response):
    ok(start_response)
    return b'one piece'


def chunks(environ, start_response):
    """Yields as many chunks as the query says, without a length."""
    ok(start_response)
    for index in range(int(environ['QUERY_STRING'])):
        yield b'%d,' % index


def gated(environ, start_response):
    """Two chunks, the second behind a gate whose path is the query."""
    ok(start_response)
    note('gated', 'begun')
    yield b'first'
    Gate(environ['QUERY_STRING']).wait()
    yield b'second'


def gated_third(environ, start_response):
    ok(start_response)
    yield b'first'
    yield b'second'
    Gate(environ['QUERY_STRING']).wait()
    yield b'third'


def gated_close(environ, start_response):
    class Slow(Body):
        def close(self):
            Gate(environ['QUERY_STRING']).wait()
            super().close()
    ok(start_response)
    return Slow('gated_close', [b'all', b' of it'])


def gated_call(environ, start_response):
    note('gated_call', 'begun')
    Gate(environ['QUERY_STRING']).wait()
    note('gated_call', 'ended')
    ok(start_response)
    return [b'done']


def endless(environ, start_response):
    ok(start_response)

    def forever():
        while True:
            yield b'x' * 1000
    return Body('endless', forever())


def closing(environ, start_response):
    ok(start_response)
    return Body('closing', [b'a', b'b'])


def closing_fails(environ, start_response):
    ok(start_response)
    return Body('closing_fails', [b'a'], fail_close=True)


def iteration_fails(environ, start_response):
    def items():
        yield b'some'
        raise ValueError('in the middle')
    ok(start_response)
    return Body('iteration_fails', items())


def iteration_fails_at_once(environ, start_response):
    def items():
        raise ValueError('at once')
        yield
    ok(start_response)
    return Body('iteration_fails_at_once', items())


def raises(environ, start_response):
    raise ValueError('the application is broken')


def raises_after_start(environ, start_response):
    ok(start_response)
    raise ValueError('after start_response')


def raises_named(environ, start_response):
    raise {'SystemExit': SystemExit, 'KeyboardInterrupt': KeyboardInterrupt, 'GeneratorExit': GeneratorExit,
           'BaseException': BaseException}[environ['QUERY_STRING']]('from the application')


def exits_in_iteration(environ, start_response):
    ok(start_response)
    yield b'some'
    sys.exit(3)
