"""The same small site in Flask, Bottle, Falcon and Pyramid: forms, cookies, uploads, streams, files, errors."""
import hashlib
import os
import shutil

import pytest

from applications import HOST, needs, start_site
from door import ROOT

FRAMEWORKS = ['flask', 'bottle', 'falcon', 'pyramid']
NEED_A_LENGTH = ['bottle', 'falcon']  # read nothing of a body whose length nobody has told
PICTURE = os.urandom(300_000)


@pytest.fixture(scope='module', params=FRAMEWORKS)
def framework(request):
    needs(request.param, f'python3-{request.param}')
    return request.param


@pytest.fixture(scope='module', params=['complete', 'stream'])
def handover(request):
    return request.param


@pytest.fixture(scope='module')
def site(framework, handover, lasting_portico, lasting_folder, threads):
    """(door, browser) of the site in each framework: with one worker thread and several, requests whole and streamed."""
    name = f'with_{framework}'
    shutil.copy(ROOT / f'tests/e2e/frameworks/{name}.py', lasting_folder)
    (lasting_folder / 'picture.bin').write_bytes(PICTURE)
    return start_site(lasting_portico, threads, lasting_folder, name, f', request: {handover}')


@pytest.fixture
def browser(site):
    site[1].cookies.clear()
    return site[1]


def test_a_name_in_the_path_is_said_back(browser):
    assert browser.get('/hello/Zoë%20B').text == 'Hello, Zoë B!'


def test_a_form_arrives(browser):
    sent = {'name': 'Zoë', 'text': 'a&b=c %+ ' * 100}
    assert browser.post('/form', data=sent).text == f'{sent["name"]}: {sent["text"]}'


def test_a_form_sent_in_chunks_arrives(browser, framework, handover):
    if handover == 'stream' and framework in NEED_A_LENGTH:
        pytest.skip(f'{framework} needs a length')
    answer = browser.post('/form', data=iter([b'name=an', b'na&te', b'xt=long']),
                          headers={'Content-Type': 'application/x-www-form-urlencoded'})
    assert answer.text == 'anna: long'


def test_cookies_count_the_visits(browser):
    assert [browser.get('/visits', headers=cookie_of(browser)).text for _ in range(3)] == ['1', '2', '3']
    assert browser.cookies['last'] == 'now'


def cookie_of(browser):
    """What the browser would send to the site; by itself it goes by the address."""
    return {'Cookie': '; '.join(f'{each.name}={each.value}' for each in browser.cookies)}


@pytest.mark.parametrize('size', [0, 1000, 900_000, 5_000_000])
def test_an_uploaded_file_arrives_whole(browser, size):
    content = os.urandom(size)
    told = browser.post('/upload', files={'picture': ('lamp.png', content, 'image/png')}).json()
    assert told == {'name': 'lamp.png', 'bytes': size, 'sha256': hashlib.sha256(content).hexdigest()}


@pytest.mark.parametrize('lines', [0, 1, 20_000])
def test_a_stream_comes_whole_and_in_order(browser, lines):
    answer = browser.get('/stream', params={'lines': lines})
    assert answer.status_code == 200
    assert answer.text == ''.join(f'line {number}\n' for number in range(lines))


def test_a_file_comes_whole_and_by_length(browser):
    for _ in range(3):
        answer = browser.get('/file')
        assert answer.headers['Content-Length'] == str(len(PICTURE))
        assert answer.content == PICTURE


@pytest.mark.parametrize('path', ['/file', '/hello/you', '/stream?lines=3'])
def test_an_answer_to_head_is_without_body(site, path):
    with site[0].connect() as connection:
        for method in ('HEAD', 'GET'):  # the second would find what the first has left
            connection.request(path, HOST, method)
            answer = connection.read_response(method)
            assert answer.status in (200, 404, 405)
    assert answer.status == 200


def test_a_redirect_stays_on_the_site(browser):
    answer = browser.get('/moved')
    assert answer.status_code in (302, 303)
    assert answer.headers['Location'] in ('/hello/you', f'http://{HOST}/hello/you')


def test_errors_of_the_framework_are_its_own(browser):
    assert browser.get('/refused').status_code == 403
    assert browser.get('/no/such/page').status_code == 404


def test_a_broken_view_is_500_with_its_traceback_in_the_log(site):
    door, browser = site
    for _ in range(2):
        assert browser.get('/broken').status_code == 500
    door.wait_for_log('ValueError: the view is broken', times=2)
    assert browser.get('/hello/you').status_code == 200
