"""Length and framing: items 31 to 37 of the checklist."""
import json

import pytest

from driver import ABORT, BAD_RESPONSE, DATA, END, HEAD, SHORT_BODY


def seen(site, name):
    return json.loads(site.ask(target='/seen_by?' + name).body)


@pytest.mark.parametrize('sizes', ['8', '3,5', '5,1', '5,5,5', '100000'])
def test_31_what_exceeds_the_length_is_cut(site, log, sizes):
    answer = site.ask(target='/sized?5:' + sizes)
    assert (answer.length, answer.body, answer.aborted) == (5, b'xxxxx', None)
    assert log().count('more than its Content-Length') == 1
    assert seen(site, 'sized') == ['iter', 'close']


def test_32_what_falls_short_is_an_abort(site, log):
    answer = site.ask(target='/sized?5:2,2')
    assert answer.aborted == SHORT_BODY
    assert 'less than its Content-Length' in log()
    assert site.ask(target='/sized?5:').aborted == SHORT_BODY


@pytest.mark.parametrize('length', ['-3', 'abc', '', ' ', '1 2', '0x5', '5,5', '1' * 30, '+5'])
def test_33_a_bad_length_is_an_error(site, length):
    code = repr(('200 OK', [('Content-Length', length)])).encode()
    assert 'bad or repeated' in site.ask(target='/header_list_is', method='POST', body=code).body.decode()


def test_33_a_repeated_length_is_an_error(site):
    code = repr(('200 OK', [('Content-Length', '0'), ('content-length', '0')])).encode()
    assert 'bad or repeated' in site.ask(target='/header_list_is', method='POST', body=code).body.decode()


@pytest.mark.parametrize('sizes, length', [('', 0), ('5', 5), ('0', 0), ('3,4', 7), ('100000', 100000), ('70000,70000', 140000)])
def test_34_lists_have_a_length(site, sizes, length):
    answer = site.ask(target='/listed?' + sizes)
    assert answer.length == length == len(answer.body) and answer.aborted is None


def test_34_an_iterable_of_len_1_has_a_length(site):
    answer = site.ask(target='/one_long')
    assert answer.length == 7 == len(answer.body)


def test_34_an_empty_iterable_has_length_0(site):
    assert site.ask(target='/chunks?0').length == 0


def test_34_other_iterables_have_none(site):
    assert site.ask(target='/chunks?3').length is None


@pytest.mark.parametrize('target, length', [('/hello', 13), ('/sized?5:5', 5), ('/sized?7:', 7), ('/chunks?3', None),
                                            ('/listed?', None)])
def test_36_head_keeps_the_length_and_drops_the_body(site, target, length):
    answer = site.ask(target=target, method='HEAD')
    assert (answer.status, answer.length, answer.frames) == (200, length, [HEAD, END])
    assert answer.no_body


def test_36_head_with_write(site):
    assert site.ask(target='/writes', method='HEAD').frames == [HEAD, END]


def test_36_head_runs_the_application_until_its_head(site):
    answer = site.ask(target='/late_start', method='HEAD')
    assert answer.get('X-Late') == 'yes' and answer.frames == [HEAD, END]


@pytest.mark.parametrize('status, length', [('204%20No%20Content', None), ('304%20Not%20Modified', 4)])
def test_37_204_and_304_have_no_body(site, status, length):
    answer = site.ask(target='/with_status?' + status)
    assert (answer.frames, answer.length, answer.no_body) == ([HEAD, END], length, True)
    assert seen(site, 'with_status')[-1:] == ['close']


def test_37_other_statuses_have_one(site):
    assert site.ask(target='/with_status?404%20No').body == b'body'


def test_40_a_body_that_nobody_read_does_not_reach_the_next_request(site):
    for _ in range(3):
        assert site.ask(target='/hello', method='POST', body=b'left over').body == b'Hello, world!'
        assert site.ask(target='/echo', method='POST', body=b'mine').body == b'mine'


def test_answers_of_every_size_arrive_whole(site):
    for size in [1, 8191, 8192, 8193, 65535, 65536, 65537, 1 << 20, 10 << 20]:
        answer = site.ask(target='/listed?%d' % size)
        assert len(answer.body) == size and answer.aborted is None


def test_frames_keep_to_their_limits(site):
    answer = site.ask(target='/listed?200000')
    assert answer.frames == [HEAD] + [DATA] * 4 + [END]
    assert answer.aborted is None and ABORT not in answer.frames and BAD_RESPONSE
