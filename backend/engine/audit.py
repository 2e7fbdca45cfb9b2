"""What an import leaves behind that forked workers cannot use: threads, and sockets that all of them would share.

A part of boot.py, with `_portico` set. A fork copies one thread only, and whatever another one was at (a lock that it
held, a job that it would have done) stays undone for ever; of a connection that several processes read, each gets parts.
"""
import os
import sys

_portico = globals()['_portico']

MOST = 8  # that are named
SETTLING = 0.1  # seconds: a thread that was joined is not gone at once


def other_threads():
    try:
        return sorted(set(map(int, os.listdir('/proc/self/task'))) - {os.getpid()})
    except OSError:
        return []


def describe_thread(number):
    threading = sys.modules.get('threading')
    for thread in threading.enumerate() if threading else ():
        if thread.native_id == number:
            return 'the thread ' + thread.name
    try:
        with open('/proc/self/task/%d/comm' % number) as file:
            return 'a thread of a library, named %s' % file.read().strip()
    except OSError:
        return 'thread %d' % number


def threads():
    import time
    end = time.monotonic() + SETTLING
    while other_threads() and time.monotonic() < end:
        time.sleep(SETTLING / 20)
    return [describe_thread(number) for number in other_threads()]


def sockets(ours):
    """ours: descriptors that are to be shared"""
    try:
        open_ones = sorted(map(int, os.listdir('/proc/self/fd')))
    except OSError:
        return []
    return list(filter(None, (_portico.describe_shared(each) for each in open_ones if each not in ours)))


def close_databases():
    """Django opens its connections anew when they are asked for."""
    database = sys.modules.get('django.db')
    if database is None:
        return
    try:
        database.connections.close_all()
    except Exception:  # not set up, or of another kind: what stays open is found
        pass


def findings(ours):
    close_databases()
    found = threads() + sockets(ours)
    return found[:MOST] + ['and more'] * (len(found) > MOST)
