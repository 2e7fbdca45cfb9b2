"""The call: items 1 to 15 of the checklist (PEP 3333, server side). Each test names its item."""
import json

import pytest

from driver import ABORT, APPLICATION_ERROR, BAD_RESPONSE, CANCELLED, CANCELLED_ANSWER, DATA, END, HEAD, wait_until


def seen(site, name):
    return json.loads(site.ask(target='/seen_by?' + name).body)


def test_01_called_with_two_positional_arguments_many_times(site):
    for _ in range(3):
        answer = site.ask(target='/hello')
        assert (answer.status, answer.reason, answer.body) == (200, 'OK', b'Hello, world!')
        assert answer.fields == [('Content-Type', 'text/plain')]


def test_02_environ_is_an_exact_dict_fresh_each_time(site):
    assert json.loads(site.ask(target='/environ').body)['type'] == 'dict'
    for _ in range(4):
        assert site.ask(target='/mutate').body == b'fresh'
    assert json.loads(site.ask(target='/environ').body)['plain']['wsgi.version'] == [1, 0]


@pytest.mark.parametrize('name, body', [('old_iterable', b'abc'), ('callable_object', b'AB\x00C')])
def test_03_any_iterable_is_iterated(site, name, body):
    answer = site.ask(target='/' + name)
    assert answer.status == 200 and answer.aborted is None
    assert answer.body == (b'abc' if name == 'old_iterable' else bytes((65, 66, 67)))


def test_04_05_start_response_may_come_with_the_first_next(site):
    answer = site.ask(target='/late_start')
    assert (answer.status, answer.get('X-Late'), answer.body) == (200, 'yes', b'late')


@pytest.mark.parametrize('name', ['never_started', 'never_started_empty', 'never_started_generator'])
def test_06_without_start_response_nothing_but_an_abort(site, log, name):
    answer = site.ask(target='/' + name)
    assert answer.frames == [ABORT] and answer.aborted == BAD_RESPONSE
    assert 'start_response was not called' in log()


@pytest.mark.parametrize('name', ['none', 'number'])
def test_07_a_result_that_is_no_iterable_is_an_error(site, name):
    answer = site.ask(target='/' + name)
    assert answer.frames == [ABORT] and answer.aborted == BAD_RESPONSE


def test_08_items_must_be_bytes(site, log):
    assert site.ask(target='/text_item').frames == [ABORT]
    assert 'must yield bytes' in log()
    later = site.ask(target='/text_item_later')
    assert later.frames == [HEAD, DATA, ABORT] and later.body == b'fine'
    assert seen(site, 'text_item_later') == ['iter', 'close']


def test_08_bytes_as_the_whole_result_go_in_one_piece(site):
    answer = site.ask(target='/plain_bytes')
    assert (answer.body, answer.length, answer.frames) == (b'one piece', 9, [HEAD, DATA, END])


def test_09_a_chunk_is_sent_before_the_next_is_computed(site, tmp_path):
    gate = tmp_path / 'gate'
    name = site.post(target='/gated?%s' % gate)
    stream = next(iter(site.workers.values())).streams[0]
    assert stream.frame()[0] == HEAD
    assert stream.frame()[4] == b'first'
    gate.touch()
    assert stream.frame()[4] == b'second'
    assert stream.frame()[0] == END
    assert site.cells.look(name[0]).serial == name[1]


def test_09_later_chunks_do_not_wait_for_the_next_either(site, tmp_path):
    gate = tmp_path / 'gate'
    site.post(target='/gated_third?%s' % gate)
    stream = next(iter(site.workers.values())).streams[0]
    assert [stream.frame()[4] for _ in range(3)][1:] == [b'first', b'second']
    gate.touch()
    assert stream.frame()[4] == b'third'
    assert stream.frame()[0] == END


def test_09_many_small_chunks_travel_together(site):
    stream = next(iter(site.workers.values())).streams[0]
    reads = len(stream.reads)
    answer = site.ask(target='/chunks?500')
    assert answer.body == b''.join(b'%d,' % index for index in range(500))
    assert len(stream.reads) - reads < 50


@pytest.mark.parametrize('name, aborted', [('closing', None), ('closing_fails', None), ('iteration_fails', 1),
                                           ('iteration_fails_at_once', 1)])
def test_10_close_is_called_exactly_once(site, name, aborted):
    assert site.ask(target='/' + name).aborted == aborted
    assert seen(site, name) == ['iter', 'close']


def test_10_close_after_head(site):
    assert site.ask(target='/closing', method='HEAD').body == b''
    assert seen(site, 'closing')[-1:] == ['close']


def test_10_what_close_raises_is_logged_and_not_sent(site, log):
    answer = site.ask(target='/closing_fails')
    assert answer.body == b'a' and answer.aborted is None
    site.ask(target='/hello')
    assert 'close() raised' in log() and 'close went wrong' in log()


def test_11_a_cancelled_answer_stops_and_is_closed(site):
    cell, serial = site.post(target='/endless')
    stream = next(iter(site.workers.values())).streams[0]
    assert stream.frame()[0] == HEAD
    site.cells.force(cell, CANCELLED)
    for _ in range(10000):
        kind, flags, *_ = stream.frame()
        if kind != DATA:
            break
    assert (kind, flags) == (ABORT, CANCELLED_ANSWER)
    assert seen(site, 'endless') == ['iter', 'close']


def test_12_close_runs_after_the_client_has_everything(site, tmp_path):
    gate = tmp_path / 'gate'
    assert site.ask(target='/gated_close?%s' % gate).body == b'all of it'
    gate.touch()
    assert seen(site, 'gated_close') == ['iter', 'close']


@pytest.mark.parametrize('name', ['SystemExit', 'KeyboardInterrupt', 'GeneratorExit', 'BaseException'])
def test_13_base_exceptions_answer_and_retire_the_worker(make_site, name):
    from driver import hear
    site = make_site().start()
    worker = site.fork()
    answer = site.ask(target='/raises_named?' + name, request_id='rid-13')
    assert answer.frames == [ABORT] and answer.aborted == APPLICATION_ERROR
    assert hear(worker.control).verb == 'leaving'
    gone, status = site.exited()
    assert gone is worker and status == 0
    assert name in make_site.log() and 'rid-13' in make_site.log()
    site.fork()
    assert site.ask(target='/hello').status == 200


def test_13_system_exit_while_iterating_aborts(make_site):
    site = make_site().start()
    site.fork()
    answer = site.ask(target='/exits_in_iteration')
    assert answer.body == b'some' and answer.aborted == APPLICATION_ERROR
    assert site.exited()[1] == 0


def test_14_exceptions_are_logged_with_the_request(site, log):
    answer = site.ask(target='/raises?q=1', method='POST', request_id='rid-14')
    assert answer.frames == [ABORT] and answer.aborted == APPLICATION_ERROR
    text = log()
    assert '[rid-14] POST /raises?q=1: ' in text
    assert 'Traceback' in text and 'ValueError: the application is broken' in text


def test_14_after_start_response_it_is_still_an_error_page(site):
    assert site.ask(target='/raises_after_start').frames == [ABORT]


def test_15_after_the_first_byte_it_is_an_abort(site):
    answer = site.ask(target='/iteration_fails')
    assert answer.frames == [HEAD, DATA, ABORT] and answer.body == b'some'
    assert seen(site, 'iteration_fails') == ['iter', 'close']


def test_done_is_set_after_the_last_frame(site):
    cell, serial = site.post(target='/hello')
    site.workers[1].streams[0].answer(cell, serial)
    wait_until(lambda: site.cells.look(cell).state == 4, 'done cell')
    assert site.cells.look(cell).worker == 1
