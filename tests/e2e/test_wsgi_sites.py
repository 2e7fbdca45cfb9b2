"""Sites that an application answers: where it is mounted, what breaks it, what its failures look like."""
import pytest

from applications import needs
from waiting import eventually

HELLO = '''
import json
def application(environ, start_response):
    names = ('SCRIPT_NAME', 'PATH_INFO', 'QUERY_STRING', 'REQUEST_METHOD', 'SERVER_NAME', 'SERVER_PORT',
             'SERVER_PROTOCOL', 'REMOTE_ADDR', 'HTTP_HOST', 'wsgi.url_scheme', 'RAW_URI')
    body = json.dumps({name: environ.get(name) for name in names}).encode()
    start_response('200 OK', [('Content-Type', 'application/json')])
    return [body]
'''


def site(folder, code=HELLO, more=''):
    (folder / 'hello.py').write_text(code)
    return f'{{wsgi: hello, directory: {folder}{more}}}'


def test_a_route_mounts_an_application_below_its_path(portico, folder):
    door = portico(f'sites:\n  a.example:\n    routes:\n      /blog/: {site(folder)}\n')
    answer = door.get('/blog/a%20b/?q=1', 'a.example')
    facts = __import__('json').loads(answer.body)
    assert (facts['SCRIPT_NAME'], facts['PATH_INFO'], facts['QUERY_STRING']) == ('/blog', '/a b/', 'q=1')
    assert door.get('/blogger', 'a.example').status == 404


def test_a_flask_application_builds_its_urls_below_its_path(portico, folder):
    needs('flask', 'python3-flask')
    (folder / 'shop.py').write_text(
        'from flask import Flask, url_for\napp = Flask(__name__)\n'
        '@app.route("/item/<name>")\ndef item(name): return url_for("item", name=name)\n')
    door = portico('sites:\n  a.example:\n    routes:\n'
                   f'      /shop/: {{wsgi: shop, directory: {folder}}}\n')
    answer = door.get('/shop/item/lamp', 'a.example')
    assert (answer.status, answer.body) == (200, b'/shop/item/lamp')
    assert answer.field('content-length') == str(len(answer.body))


def test_a_broken_import_is_503_with_the_cause_and_harms_no_other_site(portico, folder):
    (folder / 'broken.py').write_text('import nothing_of_this_name\n')
    door = portico(f'sites:\n  good.example: {site(folder)}\n'
                   f'  bad.example: {{wsgi: broken, directory: {folder}}}\n')
    door.wait_for_log('importing broken failed')
    assert 'ModuleNotFoundError' in door.log() and 'Traceback' in door.log()
    answer = door.get('/', 'bad.example')
    assert answer.status == 503 and b'importing the application' in answer.body
    assert answer.field('retry-after')
    assert door.get('/', 'good.example').status == 200


def test_a_missing_directory_is_503_until_it_is_there(portico, folder):
    missing = folder / 'later'
    door = portico(f'sites:\n  a.example: {{wsgi: hello, directory: {missing}}}\n')
    door.wait_for_log('there is no directory')
    assert door.get('/', 'a.example').status == 503
    missing.mkdir()
    (missing / 'hello.py').write_text(HELLO)
    eventually(lambda: door.get('/', 'a.example').status == 200, 30, 'the site runs')


def test_a_request_waits_while_the_application_is_imported(portico, folder):
    code = 'import os\nwhile not os.path.exists("go"): os.sched_yield()\n' + HELLO
    door = portico(f'sites:\n  a.example: {site(folder, code)}\n')
    with door.connect() as connection:
        connection.request('/', 'a.example')
        (folder / 'go').write_text('')
        assert connection.read_response().status == 200


def test_an_exception_is_500_with_the_traceback_in_the_log(portico, folder):
    door = portico('sites:\n  a.example: ' + site(folder, 'def application(e, s): 1 / 0\n') + '\n')
    answer = door.get('/page', 'a.example')
    assert answer.status == 500
    door.wait_for_log('ZeroDivisionError')
    assert answer.field('x-request-id') in door.log()


def test_an_exception_after_the_first_byte_is_an_abort_that_the_client_sees(portico, folder):
    code = '''
def application(environ, start_response):
    start_response('200 OK', [('Content-Type', 'text/plain')])
    yield b'x' * 100000
    raise ValueError('in the middle')
'''
    door = portico('sites:\n  a.example: ' + site(folder, code) + '\n')
    with pytest.raises((EOFError, ConnectionError)):
        door.get('/', 'a.example')


def test_what_an_application_prints_is_in_the_log_with_its_name(portico, folder):
    code = ('import sys\ndef application(environ, start_response):\n'
            '    print("printed")\n    environ["wsgi.errors"].write("told\\n")\n'
            '    sys.stdout.flush()\n'
            '    start_response("204 No Content", [])\n    return []\n')
    door = portico('sites:\n  a.example: ' + site(folder, code) + '\n')
    assert door.get('/', 'a.example').status == 204
    door.wait_for_log(r'\[a.example\] .*told')
    door.wait_for_log(r'\[a.example\] .*printed')


def test_a_full_queue_is_503_and_a_slow_one_times_out(portico, folder):
    code = ('import os\ndef application(environ, start_response):\n'
            '    while not os.path.exists("go"): os.sched_yield()\n'
            '    start_response("200 OK", [])\n    return [b"done"]\n')
    more = ', workers: 1, limits: {queue: 1}, timeouts: {queue: 300ms}'
    door = portico('sites:\n  a.example: ' + site(folder, code, more) + '\n')
    connections = [door.connect() for _ in range(60)]  # 1 runs, 32 lie in the socket, 1 waits
    for connection in connections:
        connection.request('/', 'a.example')
    eventually(lambda: sum(' 503 ' in line for line in door.access_log()) >= 26, what='refusals')
    eventually(lambda: sum(' 503 ' in line for line in door.access_log()) == 59, what='time-outs')
    (folder / 'go').write_text('')
    statuses = sorted(connection.read_response().status for connection in connections)
    assert statuses == [200] + [503] * 59
    for connection in connections:
        connection.close()


def test_no_answer_in_time_is_504(portico, folder):
    code = ('import os\ndef application(environ, start_response):\n'
            '    while not os.path.exists("go"): os.sched_yield()\n'
            '    start_response("200 OK", [])\n    return [b"done"]\n')
    more = ', workers: 1, timeouts: {response: 300ms}'
    door = portico('sites:\n  a.example: ' + site(folder, code, more) + '\n')
    answer = door.get('/', 'a.example')
    assert answer.status == 504 and b'timeouts.response' in answer.body
    (folder / 'go').write_text('')
    eventually(lambda: door.get('/', 'a.example').status == 200, what='the worker is free again')
