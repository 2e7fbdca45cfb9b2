"""The small site of test_frameworks.py, in Falcon."""
import hashlib
import os

import falcon


class Hello:
    def on_get(self, request, response, name):
        response.text = f'Hello, {name}!'


class Form:
    def on_post(self, request, response):
        sent = request.get_media()
        response.text = f'{sent["name"]}: {sent["text"]}'


class Visits:
    def on_get(self, request, response):
        count = int(request.cookies.get('visits', 0)) + 1
        response.set_cookie('visits', str(count), secure=False)
        response.set_cookie('last', 'now', secure=False)
        response.text = str(count)


class Upload:
    def on_post(self, request, response):
        for part in request.get_media():
            if part.name == 'picture':
                content = part.stream.read()
                response.media = {'name': part.filename, 'bytes': len(content),
                                  'sha256': hashlib.sha256(content).hexdigest()}


class Stream:
    def on_get(self, request, response):
        response.content_type = 'text/plain'
        response.stream = (b'line %d\n' % number for number in range(request.get_param_as_int('lines')))


class File:
    def on_get(self, request, response):
        response.content_type = 'application/octet-stream'
        response.set_stream(open('picture.bin', 'rb'), os.path.getsize('picture.bin'))


class Moved:
    def on_get(self, request, response):
        raise falcon.HTTPFound('/hello/you')


class Refused:
    def on_get(self, request, response):
        raise falcon.HTTPForbidden()


class Broken:
    def on_get(self, request, response):
        raise ValueError('the view is broken')


application = falcon.App()
application.req_options.strip_url_path_trailing_slash = True
# An upload may be large: the front has its own limit.
application.req_options.media_handlers['multipart/form-data'].parse_options.max_body_part_buffer_size = 32 << 20
for path, resource in {'/hello/{name}': Hello(), '/form': Form(), '/visits': Visits(), '/upload': Upload(),
                       '/stream': Stream(), '/file': File(), '/moved': Moved(), '/refused': Refused(),
                       '/broken': Broken()}.items():
    application.add_route(path, resource)
