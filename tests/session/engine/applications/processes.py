"""Processes, threads, memory."""
import os
import threading

from applications.base import ok


def pid(environ, start_response):
    ok(start_response)
    return [b'%d' % os.getpid()]


def dies(environ, start_response):
    os.kill(os.getpid(), 9)


def forks_stray(environ, start_response):
    """A child of the application that returns through the worker's frames."""
    child = os.fork()
    if child == 0:
        ok(start_response)
        return [b'from the stray child']
    os.waitpid(child, 0)
    ok(start_response)
    return [b'from the parent']


def writes_from_threads(environ, start_response):
    """Another thread of the application writes while the worker's own waits for room."""
    write = ok(start_response)
    other = threading.Thread(target=lambda: [write(b'y' * 100000) for _ in range(20)])
    other.start()
    for _ in range(20):
        write(b'x' * 100000)
    other.join()
    return []


def thread_name(environ, start_response):
    ok(start_response)
    return [threading.current_thread().name.encode()]


meeting = threading.Barrier(2, timeout=20)


def meets(environ, start_response):
    """Returns only when two requests are in here at once."""
    meeting.wait()
    ok(start_response)
    return [threading.current_thread().name.encode()]


def memory(environ, start_response):
    ok(start_response)
    with open('/proc/self/statm') as statm:
        return [b'%d' % (int(statm.read().split()[1]) * os.sysconf('SC_PAGESIZE'))]
