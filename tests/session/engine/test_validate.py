"""Applications wrapped by wsgiref.validate, which checks the server's side of PEP 3333 too."""
import pytest

SOURCE = '''
from wsgiref.validate import validator

def simple(environ, start_response):
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return [b'valid']

def writing(environ, start_response):
    write = start_response('200 OK', [('Content-Type', 'text/plain')])
    write(b'va')
    return [b'lid']

def generator(environ, start_response):
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return iter([b'va', b'lid'])

def reading(environ, start_response):
    stream = environ['wsgi.input']
    body = stream.read(2) + stream.readline(3) + b''.join(stream.readlines(2)) + b''.join(stream)
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return [body]

def erring(environ, start_response):
    errors = environ['wsgi.errors']
    errors.write('fine\\n')
    errors.writelines(['also fine\\n'])
    errors.flush()
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return [b'valid']

apps = {'/' + app.__name__: validator(app) for app in (simple, writing, generator, reading, erring)}

def application(environ, start_response):
    return apps[environ['PATH_INFO']](environ, start_response)
'''


@pytest.fixture
def valid(make_site, tmp_path):
    (tmp_path / 'valid.py').write_text(SOURCE)
    site = make_site('valid', tmp_path).start()
    site.fork()
    return site


@pytest.mark.parametrize('name', ['simple', 'writing', 'generator', 'erring'])
@pytest.mark.parametrize('method', ['GET', 'HEAD', 'POST'])
def test_valid(valid, make_site, name, method):
    fields = [('host', 'h'), ('content-type', 'text/plain')] if method == 'POST' else [('host', 'h')]
    answer = valid.ask(target='/' + name + '?q=1', method=method, fields=fields)
    assert answer.aborted is None, make_site.log()
    assert answer.body == (b'' if method == 'HEAD' else b'valid')


def test_valid_reading(valid, make_site):
    body = b'one\ntwo\nthree\nfour'
    answer = valid.ask(target='/reading', method='POST', body=body)
    assert answer.aborted is None, make_site.log()
    assert answer.body == body
