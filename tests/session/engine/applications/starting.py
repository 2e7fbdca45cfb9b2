"""start_response and write."""
import json
import sys

from applications.base import Gate, kept, note, ok


def writes(environ, start_response):
    write = ok(start_response)
    write(b'written ')
    write(b'twice ')
    return [b'and returned']


def writes_gated(environ, start_response):
    write = ok(start_response)
    write(b'written')
    Gate(environ['QUERY_STRING']).wait()
    return [b'returned']


def writes_nothing(environ, start_response):
    write = ok(start_response)
    write(b'')
    return []


def writes_text(environ, start_response):
    ok(start_response)('text')
    return []


def second_call(environ, start_response):
    ok(start_response)
    try:
        start_response('201 Created', [])
    except AssertionError:
        return [b'refused']
    return [b'accepted']


def second_call_after_bad(environ, start_response):
    try:
        start_response('nonsense', [])
    except ValueError:
        pass
    try:
        ok(start_response)
    except AssertionError:
        note('second_call_after_bad', 'refused')
        raise
    return [b'accepted']


def replaced(environ, start_response):
    start_response('200 OK', [('X-First', '1'), ('Content-Length', '999')])
    try:
        raise ValueError('changed my mind')
    except ValueError:
        start_response('503 Sorry', [('X-Second', '2')], sys.exc_info())
    return [b'sorry']


def replaced_after_bad(environ, start_response):
    try:
        start_response('200 OK', [('X', 'a\r\nb')])
    except ValueError:
        start_response('500 Bad Header', [], sys.exc_info())
    return [b'told']


def replaced_by_keyword(environ, start_response):
    ok(start_response)
    try:
        raise ValueError
    except ValueError:
        start_response(status='502 B', headers=[], exc_info=sys.exc_info())
    return [b'']


def replaced_too_late(environ, start_response):
    write = ok(start_response)
    write(b'gone')
    try:
        raise KeyError('the original')
    except KeyError:
        try:
            start_response('500 Late', [], sys.exc_info())
        except KeyError as error:
            note('replaced_too_late', [str(error), error.__traceback__ is not None])
            raise
    return []


def exc_info_kept(environ, start_response):
    class Big:
        alive = 0

        def __init__(self):
            Big.alive += 1

        def __del__(self):
            Big.alive -= 1
    ok(start_response)
    try:
        big = Big()
        raise ValueError(big)
    except ValueError:
        start_response('500 X', [], sys.exc_info())
        del big
    return [b'%d' % Big.alive]


def headers_change(environ, start_response):
    headers = [('X-A', '1')]
    start_response('200 OK', headers)
    headers.append(('X-B', '2'))
    return [b'']


def header_list_is(environ, start_response):
    """Gives start_response the value that the body evaluates to; answers how it was taken."""
    status, headers = eval(environ['wsgi.input'].read().decode())
    try:
        start_response(status, headers)
    except (TypeError, ValueError) as error:
        start_response('500 Refused', [], sys.exc_info())
        return [('%s: %s' % (type(error).__name__, error)).encode('utf-8', 'backslashreplace')]
    return []


def keeps(environ, start_response):
    """Keeps the callables and the input of this request for a later one."""
    write = ok(start_response)
    kept.update(start=start_response, write=write, input=environ['wsgi.input'], environ=environ)
    return [b'kept']


def uses_kept(environ, start_response):
    told = []
    for use in (lambda: kept['start']('200 OK', []), lambda: kept['write'](b'x'), lambda: kept['input'].read(),
                lambda: kept['input'].readline(), lambda: next(kept['input'])):
        try:
            use()
            told.append('worked')
        except Exception as error:
            told.append(type(error).__name__)
    kept.clear()
    ok(start_response)
    return [json.dumps(told).encode()]
