"""What boot.py says and hears: control messages, in the format of record/control.cc, and complaints to the site's log.

A part of boot.py, with `_portico` set.
"""
import os
import sys

_portico = globals()['_portico']

errors = 2  # where complaints go


def decode(value):
    head, *escapes = value.split(b'%')
    return head + b''.join(bytes((int(part[:2], 16),)) + part[2:] for part in escapes)


def parse(datagram):
    verb, *words = datagram.split(b' ')
    pairs = (word.split(b'=', 1) for word in words if word)
    return verb.decode('ascii'), {key.decode('ascii'): decode(value) for key, value in pairs}


PLAIN = frozenset(b'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/:@,+')


def encode(value):
    raw = str(value).encode('utf-8', 'backslashreplace')
    return ''.join(chr(byte) if byte in PLAIN else '%%%02X' % byte for byte in raw)


def tell(control, verb, **values):
    words = [verb] + ['%s=%s' % (key, encode(value)) for key, value in values.items()]
    return _portico.send(control, ' '.join(words).encode('ascii'))


def listen(control):
    """The next message with its descriptors, those of `more` messages first; verb '' when S has gone."""
    descriptors = []
    while True:
        datagram, some = _portico.receive(control)
        descriptors += some
        if not datagram:
            return '', {}, descriptors
        verb, values = parse(datagram)
        if verb != 'more':
            return verb, values, descriptors


def complain(text):
    os.write(errors, ('portico: %s\n' % text).encode('utf-8', 'backslashreplace'))


def print_exception():
    try:
        import traceback
        traceback.print_exc()
        sys.stderr.flush()
    except BaseException:
        complain('an exception could not be printed')
