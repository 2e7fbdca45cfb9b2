"""start_response and write: items 16 to 30 of the checklist."""
import json

import pytest

from driver import ABORT, BAD_RESPONSE, DATA, END, HEAD


def seen(site, name):
    return json.loads(site.ask(target='/seen_by?' + name).body)


def give(site, status, headers):
    """How start_response takes these arguments: ('500 ...', message) when it raised."""
    answer = site.ask(target='/header_list_is', method='POST', body=repr((status, headers)).encode())
    assert answer.aborted is None
    return answer


def refused(answer):
    assert answer.reason == 'Refused', (answer.status, answer.reason, answer.fields)
    return answer.body.decode()


def test_16_17_write_comes_before_what_is_returned(site):
    answer = site.ask(target='/writes')
    assert answer.body == b'written twice and returned'
    assert answer.length is None


def test_17_write_sends_at_once(site, tmp_path):
    gate = tmp_path / 'gate'
    name = site.post(target='/writes_gated?%s' % gate)
    stream = site.workers[1].streams[0]
    assert stream.frame()[0] == HEAD
    assert stream.frame()[4] == b'written'
    gate.touch()
    assert [stream.frame()[0] for _ in range(2)] == [DATA, END]
    assert site.cells.look(name[0]).serial == name[1]


def test_17_write_takes_bytes_only(site, log):
    assert site.ask(target='/writes_text').frames == [ABORT]
    assert 'write() takes bytes' in log()


def test_18_a_second_call_without_exc_info_raises(site):
    assert site.ask(target='/second_call').body == b'refused'


def test_18_also_when_the_first_call_raised(site):
    assert site.ask(target='/second_call_after_bad').frames == [ABORT]
    assert seen(site, 'second_call_after_bad') == ['refused']


def test_19_exc_info_replaces_status_and_all_headers(site):
    answer = site.ask(target='/replaced')
    assert (answer.status, answer.reason, answer.fields) == (503, 'Sorry', [('X-Second', '2')])
    assert answer.body == b'sorry' and answer.length == 5


def test_19_also_after_a_call_that_raised(site):
    answer = site.ask(target='/replaced_after_bad')
    assert (answer.status, answer.body) == (500, b'told')


def test_19_keywords_are_taken(site):
    assert site.ask(target='/replaced_by_keyword').status == 502


def test_20_exc_info_after_the_head_raises_the_original(site):
    answer = site.ask(target='/replaced_too_late')
    assert answer.status == 200 and answer.aborted
    assert seen(site, 'replaced_too_late') == [["'the original'", True]]


def test_21_no_reference_to_exc_info_is_kept(site):
    assert site.ask(target='/exc_info_kept').body == b'0'


def test_22_headers_are_copied_at_the_call(site):
    assert site.ask(target='/headers_change').fields == [('X-A', '1')]


@pytest.mark.parametrize('headers', ['(("A", "b"),)', '{"A": "b"}', 'None', '[["A", "b"]]', '[("A", "b", "c")]',
                                     '[("A",)]', '[(b"A", "b")]', '[("A", b"b")]', '[("A", 1)]', '[("A", None)]', '["Ab"]'])
def test_23_headers_are_a_list_of_pairs_of_str(site, headers):
    answer = site.ask(target='/header_list_is', method='POST', body=b'("200 OK", %s)' % headers.encode())
    assert refused(answer).startswith('TypeError')


def test_23_subclasses_are_fine(site):
    code = b'("200 OK", type("L", (list,), {})([type("T", (tuple,), {})(("A", type("S", (str,), {})("b")))]))'
    assert site.ask(target='/header_list_is', method='POST', body=code).fields == [('A', 'b')]


@pytest.mark.parametrize('status', ['abc def', '', '20', '2000 OK', '200OK', ' 200 OK', '200 OK ', '200 ', '100 Continue',
                                    '101 S', '199 X', '600 X', '099 X', '200 O\r\nX: y', '200 \x7f', '200 O\0K', '200\tOK',
                                    '200 \u20ac'])
def test_24_bad_statuses_are_refused(site, status):
    assert refused(give(site, status, [])).startswith('ValueError')


@pytest.mark.parametrize('status', [b'200 OK', 200, None])
def test_24_a_status_is_str(site, status):
    assert refused(give(site, status, [])).startswith('TypeError')


@pytest.mark.parametrize('status, wanted', [
    ('200', (200, 'OK')), ('404', (404, 'Not Found')), ('299', (299, 'Unknown')), ('200 Very Fine', (200, 'Very Fine')),
    ('599 X', (599, 'X')), ('404 Nicht gefunden, sch\xf6n', (404, 'Not Found'))])
def test_24_25_the_phrase_is_kept_or_supplied(site, status, wanted):
    answer = give(site, status, [])
    assert (answer.status, answer.reason) == wanted


@pytest.mark.parametrize('name', ['', 'X A', 'X:', 'X-A:', 'X\r\nY', 'X\0', 'X\xe4', '\u20ac', 'X\t', '(X)', 'X,Y'])
def test_26_header_names_are_tokens(site, name):
    assert refused(give(site, '200 OK', [(name, 'v')])).startswith('ValueError')


@pytest.mark.parametrize('value', ['a\r\nb: c', 'a\nb', 'a\rb', 'a\0b', 'a\x7fb', '\x1b', '\u20ac', '\ud800'])
def test_27_header_values_have_no_controls(site, value):
    assert refused(give(site, '200 OK', [('X', value)])).startswith('ValueError')


def test_27_outer_blanks_are_stripped_and_latin_1_passes(site):
    answer = give(site, '200 OK', [('X', ' \tv v\t '), ('Y', 'gr\xfc\xdfe'), ('Z', '')])
    assert answer.fields == [('X', 'v v'), ('Y', 'gr\xfc\xdfe'), ('Z', '')]


@pytest.mark.parametrize('name', ['Connection', 'keep-alive', 'Proxy-Authenticate', 'Proxy-Connection', 'TE', 'Trailer',
                                  'Transfer-Encoding', 'UPGRADE'])
def test_28_hop_by_hop_headers_raise(site, name):
    assert 'hop-by-hop' in refused(give(site, '200 OK', [(name, 'x')]))


def test_29_what_was_kept_is_dead_after_the_request(site):
    assert site.ask(target='/keeps', method='POST', body=b'secret').body == b'kept'
    assert site.ask(target='/hello').body == b'Hello, world!'
    assert json.loads(site.ask(target='/uses_kept').body) == ['RuntimeError'] * 5
    assert site.ask(target='/hello').body == b'Hello, world!'


def test_30_no_head_before_it_is_needed(site):
    answer = site.ask(target='/late_start')
    assert answer.frames[0] == HEAD and answer.body == b'late'
    assert site.ask(target='/writes_nothing').frames == [HEAD, END]


def test_a_head_that_is_too_large_is_an_error(site, log):
    answer = site.ask(target='/header_list_is', method='POST', body=b'("200 OK", [("X", "v" * 60000)] * 2)')
    assert answer.frames == [ABORT] and answer.aborted == BAD_RESPONSE
    assert 'head is too large' in log()


def test_a_long_head_passes(site):
    answer = site.ask(target='/header_list_is', method='POST', body=b'("200 OK", [("X", "v" * 60000)])')
    assert answer.get('X') == 'v' * 60000
