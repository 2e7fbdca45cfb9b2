"""Applications for the engine's tests: `/name/...` calls the function `name` below, as the server would.

Each returns its own iterable untouched. What an application has seen is kept in `seen` and told by /seen.
"""
import io
import json
import os
import sys
import tempfile
import threading
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
           if not key.startswith('wsgi.') and type(value) is not str}
    return [json.dumps({'plain': plain, 'odd': odd, 'type': type(environ).__name__}).encode()]


def mutate(environ, start_response):
    found = 'mark' in environ
    environ['mark'] = 'here'
    environ.pop('wsgi.version')
    ok(start_response)
    return [b'again' if found else b'fresh']


# -- iterables ---

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


class Gate:
    """Opened by another process: a file in the way."""

    def __init__(self, path):
        self.path = path

    def wait(self):
        while not os.path.exists(self.path):
            time.sleep(0.001)


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


# -- start_response and write ---

def writes(environ, start_response):
    write = ok(start_response)
    write(b'written ')
    write(b'twice ')
    return [b'and returned']


def writes_gated(environ, start_response):
    write = ok(start_response)
    write(b'written')
    Gate(environ['QUERY_STRING']).wait()
    return [b'returned']


def writes_nothing(environ, start_response):
    write = ok(start_response)
    write(b'')
    return []


def writes_text(environ, start_response):
    ok(start_response)('text')
    return []


def second_call(environ, start_response):
    ok(start_response)
    try:
        start_response('201 Created', [])
    except AssertionError:
        return [b'refused']
    return [b'accepted']


def second_call_after_bad(environ, start_response):
    try:
        start_response('nonsense', [])
    except ValueError:
        pass
    try:
        ok(start_response)
    except AssertionError:
        note('second_call_after_bad', 'refused')
        raise
    return [b'accepted']


def replaced(environ, start_response):
    start_response('200 OK', [('X-First', '1'), ('Content-Length', '999')])
    try:
        raise ValueError('changed my mind')
    except ValueError:
        start_response('503 Sorry', [('X-Second', '2')], sys.exc_info())
    return [b'sorry']


def replaced_after_bad(environ, start_response):
    try:
        start_response('200 OK', [('X', 'a\r\nb')])
    except ValueError:
        start_response('500 Bad Header', [], sys.exc_info())
    return [b'told']


def replaced_by_keyword(environ, start_response):
    ok(start_response)
    try:
        raise ValueError
    except ValueError:
        start_response(status='502 B', headers=[], exc_info=sys.exc_info())
    return [b'']


def replaced_too_late(environ, start_response):
    write = ok(start_response)
    write(b'gone')
    try:
        raise KeyError('the original')
    except KeyError:
        try:
            start_response('500 Late', [], sys.exc_info())
        except KeyError as error:
            note('replaced_too_late', [str(error), error.__traceback__ is not None])
            raise
    return []


def exc_info_kept(environ, start_response):
    class Big:
        alive = 0

        def __init__(self):
            Big.alive += 1

        def __del__(self):
            Big.alive -= 1
    ok(start_response)
    try:
        big = Big()
        raise ValueError(big)
    except ValueError:
        start_response('500 X', [], sys.exc_info())
        del big
    return [b'%d' % Big.alive]


def headers_change(environ, start_response):
    headers = [('X-A', '1')]
    start_response('200 OK', headers)
    headers.append(('X-B', '2'))
    return [b'']


def header_list_is(environ, start_response):
    """Gives start_response the value that the body evaluates to; answers how it was taken."""
    status, headers = eval(environ['wsgi.input'].read().decode())
    try:
        start_response(status, headers)
    except (TypeError, ValueError) as error:
        start_response('500 Refused', [], sys.exc_info())
        return [('%s: %s' % (type(error).__name__, error)).encode('utf-8', 'backslashreplace')]
    return []


def keeps(environ, start_response):
    """Keeps the callables and the input of this request for a later one."""
    write = ok(start_response)
    kept.update(start=start_response, write=write, input=environ['wsgi.input'], environ=environ)
    return [b'kept']


def uses_kept(environ, start_response):
    told = []
    for use in (lambda: kept['start']('200 OK', []), lambda: kept['write'](b'x'), lambda: kept['input'].read(),
                lambda: kept['input'].readline(), lambda: next(kept['input'])):
        try:
            use()
            told.append('worked')
        except Exception as error:
            told.append(type(error).__name__)
    kept.clear()
    ok(start_response)
    return [json.dumps(told).encode()]


# -- lengths ---

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


# -- streams ---

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


# -- files ---

FILE = os.path.join(tempfile.gettempdir(), 'portico-engine-test-%d' % os.getpid())


def a_file(size=200000):
    with open(FILE, 'wb') as file:
        file.write(bytes(index % 251 for index in range(size)))
    opened = open(FILE, 'rb')
    os.unlink(FILE)
    return opened


def file_plain(environ, start_response):
    file = a_file()
    file.read(10)
    ok(start_response)
    kept['file'] = file
    return environ['wsgi.file_wrapper'](file, 4096)


def file_closed(environ, start_response):
    note('file_closed', kept['file'].closed)
    ok(start_response)
    return []


def file_limited(environ, start_response):
    start_response('200 OK', [('Content-Length', environ['QUERY_STRING'])])
    return environ['wsgi.file_wrapper'](a_file())


def file_memory(environ, start_response):
    ok(start_response)
    return environ['wsgi.file_wrapper'](io.BytesIO(b'from memory' * 1000), 100)


def file_gzip(environ, start_response):
    import gzip
    packed = gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(b'unpacked')))
    ok(start_response)
    return environ['wsgi.file_wrapper'](packed)


def file_gzip_real(environ, start_response):
    import gzip
    path = FILE + '.gz'
    with gzip.open(path, 'wb') as file:
        file.write(b'unpacked from disk')
    opened = gzip.open(path)
    os.unlink(path)
    ok(start_response)
    return environ['wsgi.file_wrapper'](opened)


def file_temporary(environ, start_response):
    file = tempfile.NamedTemporaryFile()
    file.write(b'temporary')
    file.seek(4)
    ok(start_response)
    return environ['wsgi.file_wrapper'](file)


def file_pipe(environ, start_response):
    reader, writer = os.pipe()
    os.write(writer, b'through a pipe')
    os.close(writer)
    ok(start_response)
    return environ['wsgi.file_wrapper'](os.fdopen(reader, 'rb'))


def file_wrapped_again(environ, start_response):
    ok(start_response)
    return Body('file_wrapped_again', environ['wsgi.file_wrapper'](io.BytesIO(b'abc'), 1))


# -- processes ---

def pid(environ, start_response):
    ok(start_response)
    return [b'%d' % os.getpid()]


def dies(environ, start_response):
    os.kill(os.getpid(), 9)


def forks_stray(environ, start_response):
    """A child of the application that returns through the worker's frames."""
    child = os.fork()
    if child == 0:
        ok(start_response)
        return [b'from the stray child']
    os.waitpid(child, 0)
    ok(start_response)
    return [b'from the parent']


def writes_from_threads(environ, start_response):
    """Another thread of the application writes while the worker's own waits for room."""
    write = ok(start_response)
    other = threading.Thread(target=lambda: [write(b'y' * 100000) for _ in range(20)])
    other.start()
    for _ in range(20):
        write(b'x' * 100000)
    other.join()
    return []


def thread_name(environ, start_response):
    ok(start_response)
    return [threading.current_thread().name.encode()]


meeting = threading.Barrier(2, timeout=20)


def meets(environ, start_response):
    """Returns only when two requests are in here at once."""
    meeting.wait()
    ok(start_response)
    return [threading.current_thread().name.encode()]


def memory(environ, start_response):
    ok(start_response)
    with open('/proc/self/statm') as statm:
        return [b'%d' % (int(statm.read().split()[1]) * os.sysconf('SC_PAGESIZE'))]


def applications(environ):
    return globals()[environ['PATH_INFO'].split('/')[1] or 'hello']


def application(environ, start_response):
    return applications(environ)(environ, start_response)
