"""A small Flask application: a page, a form, JSON, an answer that streams."""
import time

from flask import Flask, Response, jsonify, request, url_for

app = Flask(__name__)

PAGE = '''<!doctype html><title>Flask behind Portico</title>
<h1>Flask behind Portico</h1>
<form method=post action="{greet}"><input name=name placeholder="Your name"> <button>Greet</button></form>
<p><a href="{facts}">what the application sees</a> · <a href="{count}">an answer in pieces</a></p>'''


@app.route('/')
def index():
    return PAGE.format(greet=url_for('greet'), facts=url_for('facts'), count=url_for('count'))


@app.route('/greet', methods=['POST'])
def greet():
    return Response('Hello, %s\n' % request.form.get('name', 'stranger'), mimetype='text/plain')


@app.route('/facts')
def facts():
    environ = request.environ
    names = ('SCRIPT_NAME', 'PATH_INFO', 'SERVER_NAME', 'SERVER_PORT', 'REMOTE_ADDR', 'wsgi.url_scheme',
             'portico.request_id')
    return jsonify(host=request.host, url=request.url, **{name: environ.get(name) for name in names})


@app.route('/count')
def count():
    def numbers():
        for number in range(1, 6):
            yield '%d\n' % number
            time.sleep(0.2)
    return Response(numbers(), mimetype='text/plain')
