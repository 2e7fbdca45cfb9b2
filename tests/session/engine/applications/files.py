"""wsgi.file_wrapper."""
import io
import os
import tempfile

from applications.base import Body, kept, note, ok


FILE = os.path.join(tempfile.gettempdir(), 'portico-engine-test-%d' % os.getpid())


def a_file(size=200000):
    with open(FILE, 'wb') as file:
        file.write(bytes(index % 251 for index in range(size)))
    opened = open(FILE, 'rb')
    os.unlink(FILE)
    return opened


def file_plain(environ, start_response):
    file = a_file()
    file.read(10)
    ok(start_response)
    kept['file'] = file
    return environ['wsgi.file_wrapper'](file, 4096)


def file_closed(environ, start_response):
    note('file_closed', kept['file'].closed)
    ok(start_response)
    return []


def file_limited(environ, start_response):
    start_response('200 OK', [('Content-Length', environ['QUERY_STRING'])])
    return environ['wsgi.file_wrapper'](a_file())


def file_memory(environ, start_response):
    ok(start_response)
    return environ['wsgi.file_wrapper'](io.BytesIO(b'from memory' * 1000), 100)


def file_gzip(environ, start_response):
    import gzip
    packed = gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(b'unpacked')))
    ok(start_response)
    return environ['wsgi.file_wrapper'](packed)


def file_gzip_real(environ, start_response):
    import gzip
    path = FILE + '.gz'
    with gzip.open(path, 'wb') as file:
        file.write(b'unpacked from disk')
    opened = gzip.open(path)
    os.unlink(path)
    ok(start_response)
    return environ['wsgi.file_wrapper'](opened)


def file_temporary(environ, start_response):
    file = tempfile.NamedTemporaryFile()
    file.write(b'temporary')
    file.seek(4)
    ok(start_response)
    return environ['wsgi.file_wrapper'](file)


def file_pipe(environ, start_response):
    reader, writer = os.pipe()
    os.write(writer, b'through a pipe')
    os.close(writer)
    ok(start_response)
    return environ['wsgi.file_wrapper'](os.fdopen(reader, 'rb'))


def file_wrapped_again(environ, start_response):
    ok(start_response)
    return Body('file_wrapped_again', environ['wsgi.file_wrapper'](io.BytesIO(b'abc'), 1))
