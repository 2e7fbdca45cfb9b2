"""The small site of test_frameworks.py, in Flask."""
import hashlib

from flask import Flask, abort, redirect, request, send_file, stream_with_context

application = Flask(__name__)


@application.route('/hello/<name>')
def hello(name):
    return f'Hello, {name}!'


@application.post('/form')
def form():
    return f'{request.form["name"]}: {request.form["text"]}'


@application.route('/visits')
def visits():
    count = int(request.cookies.get('visits', 0)) + 1
    answer = application.make_response(str(count))
    answer.set_cookie('visits', str(count), httponly=True)
    answer.set_cookie('last', 'now')
    return answer


@application.post('/upload')
def upload():
    sent = request.files['picture']
    content = sent.read()
    return {'name': sent.filename, 'bytes': len(content), 'sha256': hashlib.sha256(content).hexdigest()}


@application.route('/stream')
def stream():
    lines = int(request.args['lines'])
    return application.response_class(stream_with_context(f'line {number}\n' for number in range(lines)),
                                      mimetype='text/plain')


@application.route('/file')
def file():
    return send_file('picture.bin', mimetype='application/octet-stream')


@application.route('/moved')
def moved():
    return redirect('/hello/you')


@application.route('/refused')
def refused():
    abort(403)


@application.route('/broken')
def broken():
    raise ValueError('the view is broken')
