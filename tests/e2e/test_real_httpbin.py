"""httpbin behind the front: streams, slow answers, ranges, uploads, redirects, compressed bodies, cookies."""
import json
import os

import pytest

from applications import needs, start_site

needs('httpbin', 'python3-httpbin')


@pytest.fixture(scope='module')
def site(lasting_portico, lasting_folder, threads):
    return start_site(lasting_portico, threads, lasting_folder, 'httpbin:app')


@pytest.fixture
def browser(site):
    return site[1]


def test_a_request_is_told_back_as_it_was_sent(browser):
    told = browser.get('/get', params={'name': 'a b/ä'}, headers={'X-Told': 'back'}).json()
    assert told['args'] == {'name': 'a b/ä'}
    assert told['headers']['X-Told'] == 'back'
    assert told['url'] == 'http://site.example/get?name=a+b%2Fä'
    assert told['origin'] == '127.0.0.1'


@pytest.mark.parametrize('method', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
def test_methods_reach_the_application(browser, method):
    assert browser.request(method, '/anything/here').json()['method'] == method


def test_a_stream_comes_whole_and_in_order(browser):
    answer = browser.get('/stream/50', stream=True)
    assert [json.loads(line)['id'] for line in answer.iter_lines()] == list(range(50))


def first_part_of_a_drip(door):
    """How many of ten bytes are there when the first can be read; the worker waits 0.1 s after each."""
    with door.connect() as connection:
        connection.request('/drip?duration=1&numbytes=10', 'site.example')
        head = connection.read_head()
        assert (head.status, head.field('content-length')) == (200, '10')
        connection.read_bytes(1)
        arrived = 1 + len(connection.buffer)
        assert connection.read_bytes(9) == b'*' * 9
        return arrived


def test_a_byte_arrives_while_the_worker_still_waits(site):
    assert any(first_part_of_a_drip(site[0]) < 10 for _ in range(5))  # a busy machine may miss one


def test_a_delayed_answer_is_waited_for(browser):
    answer = browser.get('/delay/0.2')
    assert answer.status_code == 200 and answer.elapsed.total_seconds() >= 0.2


@pytest.mark.parametrize('wanted, status, content', [
    ('bytes=0-3', 206, b'abcd'), ('bytes=26-', 206, b'abcd'), ('bytes=-2', 206, b'cd'), ('bytes=40-50', 416, b''),
    (None, 200, b'abcdefghijklmnopqrstuvwxyzabcd')])
def test_ranges_are_the_applications(browser, wanted, status, content):
    answer = browser.get('/range/30', headers={'Range': wanted} if wanted else {})
    assert (answer.status_code, answer.content) == (status, content)


@pytest.mark.parametrize('size', [10, 70_000, 3_000_000])
def test_an_upload_arrives_whole(browser, size):
    content = os.urandom(size // 2).hex()
    told = browser.post('/post', data={'name': 'a lamp'}, files={'picture': ('lamp.txt', content)}).json()
    assert told['form'] == {'name': 'a lamp'}
    assert told['files'] == {'picture': content}


def test_a_chunked_upload_arrives_whole(browser):
    told = browser.put('/put', data=iter([b'one ', b'two ' * 30_000, b'three'])).json()
    assert told['data'] == 'one ' + 'two ' * 30_000 + 'three'


def test_redirects_keep_their_place(browser):
    assert browser.get('/relative-redirect/3').headers['Location'] == '/relative-redirect/2'
    assert browser.get('/absolute-redirect/2').headers['Location'] == 'http://site.example/absolute-redirect/1'
    assert browser.get('/redirect-to', params={'url': '/get', 'status_code': 307}).status_code == 307


@pytest.mark.parametrize('coding, key', [('gzip', 'gzipped'), ('deflate', 'deflated')])
def test_compressed_bodies_pass_untouched(browser, coding, key):
    answer = browser.get('/' + coding)
    assert answer.headers['Content-Encoding'] == coding
    assert answer.json()[key] is True


def test_cookies_are_set_and_come_back(browser):
    answer = browser.get('/cookies/set', params={'one': '1', 'two': '2'})
    assert answer.status_code == 302 and len(answer.raw.headers.getlist('Set-Cookie')) == 2
    assert browser.get('/cookies', headers={'Cookie': 'one=1; two=2'}).json() == {'cookies': {'one': '1', 'two': '2'}}


@pytest.mark.parametrize('status', [201, 204, 304, 401, 404, 418, 500, 503])
def test_statuses_are_the_applications(browser, status):
    for _ in range(2):  # the second finds nothing of the first in its connection
        assert browser.get(f'/status/{status}').status_code == status


def test_an_answer_to_head_has_the_length_and_no_body(site):
    with site[0].connect() as connection:
        for _ in range(2):
            connection.request('/bytes/5000', 'site.example', 'HEAD')
            head = connection.read_response('HEAD')
            assert (head.status, head.field('content-length')) == (200, '5000')


def test_bytes_are_the_same_whole_and_in_chunks(browser):
    whole = browser.get('/bytes/90000', params={'seed': 7}).content
    parts = browser.get('/stream-bytes/90000', params={'seed': 7, 'chunk_size': 700}).content
    assert len(whole) == 90000 and whole == parts


def test_passwords_are_asked_for_and_believed(browser):
    asked = browser.get('/basic-auth/anna/secret')
    assert asked.status_code == 401 and 'Basic' in asked.headers['WWW-Authenticate']
    assert browser.get('/basic-auth/anna/secret', auth=('anna', 'secret')).json()['user'] == 'anna'
