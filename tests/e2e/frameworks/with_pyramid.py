"""The small site of test_frameworks.py, in Pyramid."""
import hashlib

from pyramid.config import Configurator
from pyramid.httpexceptions import HTTPForbidden, HTTPFound
from pyramid.response import FileResponse, Response


def hello(request):
    return Response(f'Hello, {request.matchdict["name"]}!')


def form(request):
    return Response(f'{request.POST["name"]}: {request.POST["text"]}')


def visits(request):
    count = int(request.cookies.get('visits', 0)) + 1
    answer = Response(str(count))
    answer.set_cookie('visits', str(count), httponly=True)
    answer.set_cookie('last', 'now')
    return answer


def upload(request):
    sent = request.POST['picture']
    content = sent.file.read()
    return Response(json_body={'name': sent.filename, 'bytes': len(content),
                               'sha256': hashlib.sha256(content).hexdigest()})


def stream(request):
    lines = (b'line %d\n' % number for number in range(int(request.GET['lines'])))
    return Response(app_iter=lines, content_type='text/plain')


def file(request):
    return FileResponse('picture.bin', content_type='application/octet-stream')


def moved(request):
    return HTTPFound('/hello/you')


def refused(request):
    raise HTTPForbidden()


def broken(request):
    raise ValueError('the view is broken')


with Configurator() as config:
    for view in (form, visits, upload, stream, file, moved, refused, broken):
        config.add_route(view.__name__, '/' + view.__name__)
        config.add_view(view, route_name=view.__name__)
    config.add_route('hello', '/hello/{name}')
    config.add_view(hello, route_name='hello')
    application = config.make_wsgi_app()
