"""Bodies that are read while the client sends (README.md, "Feeds"): items 61 to 63, and the worker's end of a feed."""
import contextlib
import os
import random

import pytest

from driver import (APPLICATION_ERROR, BODY_FAIL, CANCELLED, CLIENT_GONE, Feed, INPUT_ERROR, MALFORMED, PIECE, REFUSED,
                    TOO_LARGE, TOO_SLOW, wait_until)


@pytest.fixture
def feed():
    with contextlib.closing(Feed()) as made:
        yield made


def stream_of(site):
    return next(iter(site.workers.values())).streams[0]


def test_62_the_first_note_is_the_applications_first_read(site, feed):
    answer = stream_of(site).answer(*site.post_streamed(feed, target='/hello', method='POST'))
    assert answer.aborted is None
    assert feed.note() is None  # it was closed without a word


def test_it_waits_for_as_many_bytes_as_it_asked_for(site, feed):
    target = '/read_input?[f.read(6),f.tell(),f.read(2),f.read(9)]'
    posted = site.post_streamed(feed, target=target, method='PUT', length=10)
    assert feed.note() == (0, 1)
    feed.send(PIECE, body=b'abc')
    assert feed.note() == (3, 1)
    assert stream_of(site).quiet()
    feed.send(PIECE, body=b'defgh')
    assert feed.note() == (8, 1)
    feed.give(b'ij')
    assert eval(stream_of(site).answer(*posted).body) == [b'abcdef', 6, b'gh', b'ij']


def test_each_return_for_what_lies_there_is_a_sign_of_life(site, feed):
    feed.give(b'abc', 1)
    posted = site.post_streamed(feed, target='/read_input?[f.read(1),f.read(1),f.read(1),f.read()]', method='PUT')
    assert eval(stream_of(site).answer(*posted).body) == [b'a', b'b', b'c', b'']
    assert [feed.note() for _ in range(5)] == [(0, 1), (1, 0), (2, 0), (3, 0), None]


def test_a_line_is_answered_while_the_next_is_not_there_yet(site, feed):
    posted = site.post_streamed(feed, target='/echo_by_parts', method='POST')
    stream = stream_of(site)
    for line in (b'one\n', b'two\n'):
        feed.send(PIECE, body=line[:2])
        feed.send(PIECE, body=line[2:])
        while line not in stream.bytes:
            assert stream.fill()
    feed.give(b'')
    assert stream.answer(*posted).body == b'one\ntwo\n'


@pytest.mark.parametrize('told', [True, False])
@pytest.mark.parametrize('size', [65536, 7001])
def test_a_large_body(site, feed, told, size):
    body = random.Random(1).randbytes(5 << 20)
    posted = site.post_streamed(feed, target='/echo', method='POST', length=len(body) if told else None)
    feed.give(body, size)
    assert stream_of(site).answer(*posted).body == body


def test_lines_across_messages(site, feed):
    posted = site.post_streamed(feed, target='/read_input?list(map(len,f))', method='POST')
    feed.give(b'x' * 150000 + b'\n' + b'y' * 10 + b'\n\n' + b'z' * 70000)
    assert eval(stream_of(site).answer(*posted).body) == [150001, 11, 1, 70000]


@pytest.mark.parametrize('length, wanted', [(5, ['5', True, None]), (None, [None, True, None])])
def test_61_the_length_is_known_where_it_was_told(site, feed, length, wanted):
    posted = site.post_streamed(feed, target='/upload_facts', method='POST', length=length)
    assert eval(stream_of(site).answer(*posted).body) == wanted


@pytest.mark.parametrize('failure, name, text', [
    (CLIENT_GONE, 'ConnectionResetError', 'the client left'),
    (TOO_LARGE, 'ConnectionAbortedError', 'limits.body'),
    (TOO_SLOW, 'ConnectionAbortedError', 'timeouts.body'),
    (MALFORMED, 'ConnectionAbortedError', 'malformed'),
    (REFUSED, 'ConnectionAbortedError', 'could not be handed on')])
def test_63_a_body_that_fails_raises_again_and_again(site, feed, failure, name, text):
    posted = site.post_streamed(feed, target='/read_twice', method='POST')
    feed.send(PIECE, body=b'some')
    feed.send(BODY_FAIL, failure)
    told = eval(stream_of(site).answer(*posted).body)
    assert told[0] == told[1] and told[0][:2] == (name, True) and text in told[0][2]


@pytest.mark.parametrize('length', [None, 4, 5])
def test_63_an_end_without_a_word_is_no_end_of_the_body(site, feed, length):
    posted = site.post_streamed(feed, target='/read_twice', method='POST', length=length)
    feed.send(PIECE, body=b'some')
    feed.wait_for(4) if length != 4 else None
    feed.end.close()
    told = eval(stream_of(site).answer(*posted).body)
    assert told == ([b'some', b''] if length == 4 else [('ConnectionResetError', True, told[0][2])] * 2)


def test_what_has_come_is_read_though_the_front_has_left_notes_unread(site, feed):
    posted = site.post_streamed(feed, target='/read_twice', method='POST')
    feed.give(b'some')
    feed.end.close()
    assert eval(stream_of(site).answer(*posted).body) == [b'some', b'']


def test_63_what_the_application_lets_through_is_one_line_in_the_log(site, feed, log):
    posted = site.post_streamed(feed, target='/echo', method='POST', request_id='gone')
    feed.send(BODY_FAIL, CLIENT_GONE)
    assert stream_of(site).answer(*posted).aborted == INPUT_ERROR
    line = ('[gone] POST /echo: the request body could not be read: '
            'the client left before its request body was complete\n')
    wait_until(lambda: log() == line, 'line in the log')


def test_an_exception_of_its_own_has_its_traceback(site, feed, log):
    posted = site.post_streamed(feed, target='/read_input?[f.read(),1/0]', method='POST')
    feed.give(b'some')
    assert stream_of(site).answer(*posted).aborted == APPLICATION_ERROR
    wait_until(lambda: 'ZeroDivisionError' in log(), 'traceback')


def test_a_cancelled_request_ends_with_its_feed(site, feed):
    cell, serial = site.post_streamed(feed, target='/echo', method='POST')
    assert feed.note() == (0, 1)
    site.cells.force(cell, CANCELLED)
    feed.end.close()
    assert stream_of(site).answer(cell, serial).aborted is not None


def test_it_says_that_it_is_read_once(site, feed):
    posted = site.post_streamed(feed, target='/read_input?[f.seekable(),f.readable()]', method='POST')
    assert eval(stream_of(site).answer(*posted).body) == [False, True]


def test_seek_is_not_supported(site, feed, log):
    posted = site.post_streamed(feed, target='/read_input?f.seek(0)', method='POST')
    assert stream_of(site).answer(*posted).aborted == APPLICATION_ERROR
    wait_until(lambda: 'io.UnsupportedOperation: a streamed request body can be read once' in log(), 'traceback')


def test_other_threads_are_served_while_one_waits(make_site, feed):
    site = make_site(threads=2).start()
    worker = site.fork()
    waiting = site.post_streamed(feed, target='/read_twice', method='POST')
    assert feed.note() == (0, 1)
    thread = site.cells.look(waiting[0]).thread
    for _ in range(3):
        assert site.ask(worker, 1 - thread, target='/hello').status == 200
    feed.give(b'some')
    assert eval(worker.streams[thread].answer(*waiting).body) == [b'some', b'']


@pytest.mark.parametrize('query', ['', 'disturb'])
def test_a_reader_that_is_left_behind_is_sent_away(site, feed, query):
    posted = site.post_streamed(feed, target='/leaves_a_reader?' + query, method='POST')
    assert feed.note() == (0, 1)
    assert stream_of(site).answer(*posted).body == b'left'
    told = eval(site.ask(target='/reader_told').body)
    assert told[-1] == "RuntimeError('wsgi.input was used after the end of its request')"
    assert told[:-1] == (['wsgi.input is being read by another thread'] if query else [])
    assert feed.closed()


def test_the_feeds_descriptor_is_closed_with_the_request(site):
    folder = '/proc/%d/fd' % site.workers[1].pid
    site.ask(target='/hello')  # whatever the request before had is closed by now
    before = len(os.listdir(folder))
    for target in ('/hello', '/echo', '/read_input?f.read(1)') * 5:
        with contextlib.closing(Feed()) as feed:
            posted = site.post_streamed(feed, target=target, method='POST')
            feed.give(b'some')
            assert stream_of(site).answer(*posted).aborted is None
            assert feed.closed()
    assert len(os.listdir(folder)) == before
