"""What environ offers beyond PEP 3333: early hints, whether anybody waits, the deadline."""
import ast
import json

import pytest

from driver import ABORT, CANCELLED, CANCELLED_ANSWER, DATA, DONE, END, HEAD, INTERIM, wait_until


def test_hints_are_interim_frames_before_the_head(site):
    answer = site.ask(target='/hints')
    assert answer.frames == [INTERIM, INTERIM, HEAD, DATA, END]
    assert (answer.status, answer.fields, answer.body) == (200, [('X-Final', '1')], b'body')
    first, second = answer.interims
    assert (first.status, first.reason, first.fields) == (103, 'Early Hints', [('Link', '</a.css>; rel=preload')])
    assert (first.length, second.fields) == (None, [])


def test_hints_leave_at_once(site, tmp_path):
    gate = tmp_path / 'gate'
    site.post(target='/hints_gated?%s' % gate)
    stream = site.workers[1].streams[0]
    assert stream.frame()[0] == INTERIM
    gate.touch()
    assert [stream.frame()[0] for _ in range(3)] == [HEAD, DATA, END]


def test_hints_may_follow_start_response_while_its_head_waits(site):
    answer = site.ask(target='/hints_after_start')
    assert answer.frames == [INTERIM, HEAD, DATA, END]
    assert answer.status == 200 and answer.length == 4


def test_hints_after_the_head_raise(site):
    answer = site.ask(target='/hints_after_write')
    assert INTERIM not in answer.frames
    assert answer.body == b'gone early hints are too late: the response has begun'


@pytest.mark.parametrize('headers, words', [
    ('(("Link", "a"),)', 'TypeError: headers must be a list'),
    ('None', 'TypeError: headers must be a list'),
    ('["Link"]', 'TypeError: a header must be a tuple'),
    ('[("Link", 5)]', 'TypeError: header value must be str'),
    ('[(b"Link", "a")]', 'TypeError: header name must be str'),
    ('[("Link", "a\\r\\nX: b")]', 'ValueError: header value has control characters'),
    ('[("Li nk", "a")]', 'ValueError: header name is not a token'),
    ('[("Link", "\\u20ac")]', 'ValueError: header value has characters beyond latin-1'),
    ('[("Connection", "close")]', 'ValueError: hop-by-hop'),
    ('[("Content-Length", "5")]', 'ValueError: Content-Length has no place in early hints'),
    (repr([('Link', 'a' * 40000)] * 2), 'ValueError: early hints are too large'),
], ids=range(11))
def test_bad_hints_are_refused_within_the_call(site, headers, words):
    answer = site.ask(target='/hints_given', method='POST', body=headers.encode())
    assert answer.frames == [HEAD, DATA, END]
    assert answer.reason == 'Refused' and answer.body.decode().startswith(words)


def test_kept_hints_are_dead(site):
    assert site.ask(target='/hints_kept').status == 200
    answer = site.ask(target='/hints_from_before')
    assert INTERIM not in answer.frames
    assert answer.body == b'wsgi.early_hints was called after the end of its request'


def seen(site, name):
    return json.loads(site.ask(target='/seen_by?' + name).body)


def test_an_application_sees_that_nobody_waits_any_more(site, tmp_path):
    begun = tmp_path / 'begun'
    cell, serial = site.post(target='/works_until_nobody_waits?%s' % begun)
    wait_until(begun.exists)
    site.cells.force(cell, CANCELLED)
    answer = site.workers[1].streams[0].answer(cell, serial)
    assert (answer.frames, answer.aborted) == ([ABORT], CANCELLED_ANSWER)
    assert seen(site, 'works_until_nobody_waits') == [False, True]


def test_close_tells_a_taken_answer_from_one_that_nobody_took(site, tmp_path):
    assert site.ask(target='/noticing').body == b'onetwo'
    assert seen(site, '/noticing') == [False]
    gate = tmp_path / 'gate'
    cell, serial = site.post(target='/noticing_gated?%s' % gate)
    stream = site.workers[1].streams[0]
    assert [stream.frame()[0] for _ in range(2)] == [HEAD, DATA]
    site.cells.force(cell, CANCELLED)
    gate.touch()
    assert stream.answer(cell, serial).aborted == CANCELLED_ANSWER
    wait_until(lambda: site.cells.look(cell).state == DONE)
    assert seen(site, '/noticing_gated') == [True]


def test_after_the_request_nobody_waits(site):
    assert site.ask(target='/disconnected_kept').body == b'False'
    assert site.ask(target='/disconnected_from_before').body == b'True'


def test_the_deadline_counts_from_the_claim(site):
    cell, serial = site.post(target='/deadline', response_ms=30000)
    deadline, now = ast.literal_eval(site.workers[1].streams[0].answer(cell, serial).body.decode())
    assert deadline == pytest.approx(site.cells.look(cell).claimed_ns / 1e9 + 30, abs=1e-6)
    assert now < deadline < now + 30


def test_without_a_deadline_it_is_none(site):
    assert ast.literal_eval(site.ask(target='/deadline').body.decode())[0] is None
