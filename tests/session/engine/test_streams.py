"""wsgi.input and wsgi.errors: items 59, 60, 64; bodies in the record, in a descriptor and by a feed (test_feeds.py)."""
import contextlib
import os
import tempfile
import urllib.parse

import pytest

from driver import ABORT, ENGINE_ERROR, Feed, INPUT_ERROR, wait_until

BODY = b'first\nsecond line\n\nlast without end'


def ask_inline(site, body, **request):
    return site.ask(body=body, **request)


def ask_by_descriptor(site, body, **request):
    with tempfile.TemporaryFile() as file:
        file.write(body)
        file.flush()
        return site.ask(length=len(body), body_file=file.fileno(), **request)


def ask_by_feed(site, body, size=65536, **request):
    with contextlib.closing(Feed()) as feed:
        posted = site.post_streamed(feed, **request)
        feed.give(body, size)
        return next(iter(site.workers.values())).streams[0].answer(*posted)


WAYS = {
    'inline': ask_inline,
    'descriptor': ask_by_descriptor,
    'feed': lambda site, body, **request: ask_by_feed(site, body, length=len(body), **request),
    'feed of chunks': ask_by_feed,
    'feed, byte by byte': lambda site, body, **request: ask_by_feed(site, body, 1, **request),
}


@pytest.fixture
def read(site, request):
    """Evaluates an expression over `f`, the input, with a body given in one of the ways."""
    def evaluate(code, body=BODY):
        answer = WAYS[request.param](site, body, target='/read_input?' + urllib.parse.quote(code), method='POST')
        assert answer.aborted is None
        return eval(answer.body)
    return evaluate


every_way = pytest.mark.parametrize('read', WAYS, indirect=True)
again_and_again = pytest.mark.parametrize('read', ['inline', 'descriptor'], indirect=True)


@every_way
@pytest.mark.parametrize('code, wanted', [
    ('f.read()', BODY), ('f.read(-1)', BODY), ('f.read(None)', BODY), ('f.read(5)', b'first'), ('f.read(0)', b''),
    ('f.read(10**9)', BODY), ('[f.read(), f.read(), f.read(3), f.readline(), list(f)]', [BODY, b'', b'', b'', []]),
    ('[f.read(7), f.read(4)]', [b'first\ns', b'econ'])])
def test_59_read(read, code, wanted):
    assert read(code) == wanted


@every_way
@pytest.mark.parametrize('code, wanted', [
    ('f.readline()', b'first\n'), ('f.readline(3)', b'fir'), ('f.readline(6)', b'first\n'), ('f.readline(-1)', b'first\n'),
    ('f.readline(None)', b'first\n'), ('f.readline(0)', b''),
    ('[f.readline() for _ in range(6)]', [b'first\n', b'second line\n', b'\n', b'last without end', b'', b'']),
    ('[f.readline(4), f.readline(), f.read(3), f.readline()]', [b'firs', b't\n', b'sec', b'ond line\n'])])
def test_59_readline(read, code, wanted):
    assert read(code) == wanted


@every_way
@pytest.mark.parametrize('code, count', [('f.readlines()', 4), ('f.readlines(0)', 4), ('f.readlines(-1)', 4), ('f.readlines(None)', 4),
                                         ('f.readlines(1)', 1), ('f.readlines(6)', 1), ('f.readlines(7)', 2), ('f.readlines(10**6)', 4)])
def test_59_readlines(read, code, count):
    assert read(code) == BODY.splitlines(keepends=True)[:count]


@every_way
def test_59_iteration(read):
    assert read('[line for line in f]') == BODY.splitlines(keepends=True)
    assert read('iter(f) is f') is True


def test_59_an_empty_body_ends_at_once(site):
    for code in ('f.read()', 'f.readline()', 'f.read(5)'):
        assert site.ask(target='/read_input?' + code).body == b"b''"


@every_way
@pytest.mark.parametrize('code, wanted', [
    ('[f.readinto(b := bytearray(6)), bytes(b)]', [6, b'first\n']),
    ('[f.read(30) and f.readinto(b := bytearray(9)), bytes(b)]', [5, b't end\0\0\0\0']),
    ('[f.readinto(memoryview(b := bytearray(8))[2:4]), bytes(b)]', [2, b'\0\0fi\0\0\0\0']),
    ('[f.readable(), f.writable(), f.closed, f.close()]', [True, False, False, None]),
    ('[f.close(), f.read(5), f.tell()]', [None, b'first', 5]),
    ('io.TextIOWrapper(io.BufferedReader(f)).readlines()', BODY.decode().splitlines(keepends=True))])
def test_60_what_frameworks_probe_for(read, code, wanted):
    assert read(code) == wanted


@again_and_again
@pytest.mark.parametrize('code, wanted', [
    ('f.seekable()', True),
    ('[f.seek(6), f.tell(), f.read(6), f.seek(-3, 2), f.read(), f.seek(0), f.seek(2, 1), f.read(3)]',
     [6, 6, b'second', 32, b'end', 0, 2, b'rst']),
    ('[f.seek(1000), f.read(), f.readline(), list(f)]', [1000, b'', b'', []])])
def test_60_a_body_that_is_there_can_be_read_again(read, code, wanted):
    assert read(code) == wanted


def test_lines_longer_than_the_window(site):
    body = b'x' * 70000 + b'\n' + b'y' * 32767 + b'\n' + b'z' * 32768
    with tempfile.TemporaryFile() as file:
        file.write(body)
        file.flush()
        told = site.ask(target='/read_input?[len(line)for%20line%20in%20f]', method='POST', length=len(body),
                        body_file=file.fileno())
    assert eval(told.body) == [70001, 32768, 32768]


def test_a_large_body_comes_by_descriptor(site):
    body = os.urandom(3 << 20)
    with tempfile.TemporaryFile() as file:
        file.write(body)
        file.flush()
        assert site.ask(target='/echo', method='POST', length=len(body), body_file=file.fileno()).body == body


def test_lines_of_a_large_body(site):
    body = b''.join(b'%d' % index * (index % 97) + b'\n' for index in range(20000))
    with tempfile.TemporaryFile() as file:
        file.write(body)
        file.flush()
        told = site.ask(target='/read_input?b"".join(f)==f.seek(0)or(f.seek(0),b"".join(f)==f.seek(0)or%20sum(map(len,f)))',
                        method='POST', length=len(body), body_file=file.fileno())
    assert eval(told.body)[1] == len(body)


def test_a_missing_descriptor_is_an_engine_error(site, log):
    answer = site.ask(target='/echo', method='POST', length=5)
    assert answer.frames == [ABORT] and answer.aborted == ENGINE_ERROR and INPUT_ERROR
    assert "did not come with it" in log()


def test_a_file_shorter_than_said_raises(site, log):
    with tempfile.TemporaryFile() as file:
        file.write(b'123')
        file.flush()
        assert site.ask(target='/echo', method='POST', length=5, body_file=file.fileno()).frames == [ABORT]
    assert 'OSError' in log()


def test_the_bodys_descriptor_is_closed_after_the_request(site):
    folder = '/proc/%d/fd' % site.workers[1].pid
    site.ask(target='/hello')  # whatever the request before had is closed by now
    before = len(os.listdir(folder))
    for _ in range(20):
        with tempfile.TemporaryFile() as file:
            file.write(b'12345')
            file.flush()
            site.ask(target='/echo', method='POST', length=5, body_file=file.fileno())
    site.ask(target='/hello')
    assert len(os.listdir(folder)) == before


def test_64_errors_takes_any_text_and_writes_whole_lines(site, log):
    site.ask(target='/errors', request_id='rid-64')
    wait_until(lambda: 'unfinished' in log(), 'line in the log')
    assert log() == '[rid-64] half line\n[rid-64] second \u20ac \\ud800\n[rid-64] ab\n[rid-64] unfinished\n'


def test_64_errors_is_a_print_target(site, log):
    site.ask(target='/print_errors', request_id='p')
    assert log() == '[p] printed twice\n'
