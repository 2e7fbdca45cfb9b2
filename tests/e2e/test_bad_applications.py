"""Applications that end, crash, eat memory, leave threads or lie: another site fails no request meanwhile."""
import pytest

import processes
from load import Load
from waiting import eventually

# One way to misbehave for each path.
CODE = '''
import array, ctypes, mmap, os, resource, socket, sys, threading, time
def system_exit(): raise SystemExit(3)
def interrupt(): raise KeyboardInterrupt
def sys_exit_later(): yield b'some'; sys.exit(1)
def os_exit(): os._exit(7)
def segfault(): ctypes.string_at(0)
def abort(): os.abort()
def memory():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))
    kept = []
    while True: kept.append(bytearray(1 << 26))
def recursion(): recursion()
def threads():
    for _ in range(50): threading.Thread(target=time.sleep, args=(3600,)).start()
    return [b'left']
def sockets():
    found = []
    for name in os.listdir('/proc/self/fd'):
        try:
            if os.readlink('/proc/self/fd/' + name).startswith('socket:'): found.append(int(name))
        except OSError: pass
    return found
def tell_all(data, ancillary=()):
    for number in sockets():
        try: socket.socket(fileno=os.dup(number)).sendmsg([data], ancillary, socket.MSG_DONTWAIT)
        except OSError: pass
    return [b'told']
def garbage(): return tell_all(b'\\xff' * 4000)
def endless_head():
    frame = (60000).to_bytes(4, 'little') + b'\\1' + bytes(11)
    while True: tell_all(frame + b'x' * 60000)
def descriptors():
    numbers = array.array('i', [os.open('/dev/null', os.O_RDONLY) for _ in range(200)])
    for _ in range(100):
        tell_all(b'x' * 16, [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
    return [b'told']
def cells():
    for name in os.listdir('/proc/self/fd'):
        try:
            if 'portico-cells' in os.readlink('/proc/self/fd/' + name): return int(name)
        except OSError: pass
def shrink():
    try: os.ftruncate(cells(), 0)
    except OSError as error: return [type(error).__name__.encode()]
def scribble():
    size = os.fstat(cells()).st_size
    mmap.mmap(cells(), size)[:] = b'\\xff' * size
    return [b'done']
def close_all():
    os.closerange(3, 1000)
    return [b'closed']
def shut_down():
    for number in sockets():
        try: socket.socket(fileno=os.dup(number)).shutdown(socket.SHUT_RDWR)
        except OSError: pass
    return [b'down']
def application(environ, start_response):
    act = globals().get(environ['PATH_INFO'][1:])
    result = act() if act else None
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return result or [b'well']
'''


def start(portico, folder):
    (folder / 'bad.py').write_text(CODE)
    return portico(f'timeouts: {{shutdown: 1s}}\nsites:\n'
                   f'  a.example: {{wsgi: bad, directory: {folder}, workers: 2, '
                   'timeouts: {response: 2s, queue: 2s}}\n'
                   f'  b.example: {{wsgi: bad, directory: {folder}, workers: 1}}\n')


def misbehave(door, way):
    """The status of the answer, or None where the connection was cut."""
    try:
        return door.get('/' + way, 'a.example').status
    except (EOFError, ConnectionError):
        return None


WAYS = {'system_exit': {500}, 'interrupt': {500}, 'sys_exit_later': {None}, 'os_exit': {502}, 'segfault': {502},
        'abort': {502}, 'memory': {500}, 'recursion': {500}, 'threads': {200}, 'shrink': {200}}
# What comes to the site itself does not matter; it may only harm itself.
LIES = ['garbage', 'endless_head', 'descriptors', 'scribble', 'close_all', 'shut_down']


@pytest.mark.parametrize('way', [*WAYS, *LIES])
def test_another_site_does_not_notice(portico, folder, way):
    door = start(portico, folder)
    front = door.front()
    load = Load(door, 'POST', 0, host='b.example')
    load.start()
    statuses = {misbehave(door, way) for _ in range(3)}
    served = load.statuses[200]
    eventually(lambda: load.statuses[200] > served + 50, what='the load goes on')
    load.stop.set()
    load.join()
    assert set(load.statuses) == {200}
    assert door.front() == front
    if way in WAYS:
        assert statuses == WAYS[way]
        eventually(lambda: door.get('/', 'a.example').status == 200, what='the site is well again')


def test_shared_memory_cannot_be_cut_off(portico, folder):
    door = start(portico, folder)
    assert door.get('/shrink', 'a.example').body == b'PermissionError'


def test_threads_left_behind_do_not_keep_a_stop(portico, folder):
    door = start(portico, folder)
    assert door.get('/threads', 'a.example').status == 200
    everyone = door.remember_descendants()
    door.stop()
    assert not [pid for pid in everyone if processes.alive(pid)]
