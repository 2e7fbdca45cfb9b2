"""The small site of test_frameworks.py, in Bottle."""
import hashlib

from bottle import Bottle, abort, redirect, request, response, static_file

application = Bottle()


@application.get('/hello/<name>')
def hello(name):
    return f'Hello, {name}!'


@application.post('/form')
def form():
    return f'{request.forms.getunicode("name")}: {request.forms.getunicode("text")}'


@application.get('/visits')
def visits():
    count = int(request.get_cookie('visits') or 0) + 1
    response.set_cookie('visits', str(count), httponly=True)
    response.set_cookie('last', 'now')
    return str(count)


@application.post('/upload')
def upload():
    sent = request.files.picture
    content = sent.file.read()
    return {'name': sent.raw_filename, 'bytes': len(content), 'sha256': hashlib.sha256(content).hexdigest()}


@application.get('/stream')
def stream():
    response.content_type = 'text/plain'
    for number in range(int(request.query.lines)):
        yield f'line {number}\n'


@application.get('/file')
def file():
    return static_file('picture.bin', root='.', mimetype='application/octet-stream')


@application.get('/moved')
def moved():
    redirect('/hello/you')


@application.get('/refused')
def refused():
    abort(403)


@application.get('/broken')
def broken():
    raise ValueError('the view is broken')
