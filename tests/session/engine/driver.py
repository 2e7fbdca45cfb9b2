"""Plays supervisor and front towards the real engine: channels, cells, records out, frames in.

The formats are written down in backend/record/README.md; this is a second implementation of them, on purpose.
"""
import array
import collections
import fcntl
import mmap
import os
import re
import select
import signal
import socket
import struct
import subprocess
import time
import urllib.parse
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
LOADER = (SOURCE / 'backend/engine/loader.py').read_text()
KNOWN = re.findall(r'^    "([a-z0-9-]+)",$', (SOURCE / 'backend/record/known_fields.cc').read_text(), re.M)
KNOWN_ID = {name: number + 1 for number, name in enumerate(KNOWN)}
DEADLINE = 20.0 * float(os.environ.get('PORTICO_TEST_SLOWNESS', '1'))

IDLE, SENT, CLAIMED, CANCELLED, DONE, REVOKED = range(6)
HEAD, DATA, FILE, END, ABORT, INTERIM = range(1, 7)
APPLICATION_ERROR, BAD_RESPONSE, SHORT_BODY, CANCELLED_ANSWER, ENGINE_ERROR, INPUT_ERROR = range(1, 7)

Cell = collections.namedtuple('Cell', 'state serial worker thread claimed_ns')
Message = collections.namedtuple('Message', 'verb values descriptors')


def wait_until(true, what='a condition'):
    """Polls with a deadline; for conditions that no descriptor announces."""
    end = time.monotonic() + DEADLINE
    while not true():
        assert time.monotonic() < end, 'no %s' % what
        time.sleep(0.001)


# -- control messages ----------------------------------------------------------------------------------------------

def format_message(verb, values):
    words = [verb] + ['%s=%s' % (key, urllib.parse.quote(str(value), safe='-._~/:@,+'))
                      for key, value in values.items()]
    return ' '.join(words).encode()


def tell(control, verb, descriptors=(), **values):
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', descriptors))] if descriptors else []
    control.sendmsg([format_message(verb, values)], ancillary)


def hear(control):
    """The next control message; verb '' at the end."""
    control.settimeout(DEADLINE)
    datagram, descriptors, _, _ = socket.recv_fds(control, 32768, 253)
    verb, *words = datagram.decode().split(' ')
    pairs = (word.split('=', 1) for word in words)
    return Message(verb, {key: urllib.parse.unquote(value) for key, value in pairs}, descriptors)


# -- claim cells ---------------------------------------------------------------------------------------------------

class Cells:
    def __init__(self, count):
        self.descriptor = os.memfd_create('cells', os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, count * 64)
        fcntl.fcntl(self.descriptor, 1033, 1 | 2 | 4)  # F_ADD_SEALS: seal, shrink, grow
        self.memory = mmap.mmap(self.descriptor, count * 64)
        self.serials = [0] * count
        self.free = list(range(count))

    def look(self, cell):
        word, claimed = struct.unpack_from('=QQ', self.memory, cell * 64)
        return Cell(word & 0xff, word >> 32, word >> 16 & 0xffff, word >> 8 & 0xff, claimed)

    def send(self, cell):
        self.serials[cell] += 1
        struct.pack_into('=QQ', self.memory, cell * 64, self.serials[cell] << 32 | SENT, 0)
        return self.serials[cell]

    def force(self, cell, state):
        """What the front does by compare-and-swap; the tests do it when nobody competes."""
        word, = struct.unpack_from('=Q', self.memory, cell * 64)
        struct.pack_into('=Q', self.memory, cell * 64, word & ~0xff | state)

    def close(self):
        self.memory.close()
        os.close(self.descriptor)


# -- records -------------------------------------------------------------------------------------------------------

def make_record(cell, serial, method='GET', target='/', fields=(), body=None, length=None, script_name='', http=11,
                https=False, front_thread=0, request_id='id-1', client=('192.0.2.7', 4711),
                server=('shop.example', 8080), tls=('', ''), path=None, known=True, response_ms=0, feed=False):
    """A record as the front writes it. `body` None: no body; `length`: it is in a descriptor; `feed`: it follows."""
    raw_path, _, query = target.partition('?')
    if path is None:
        path = urllib.parse.unquote_to_bytes(raw_path[len(script_name):])
    parts = [method, target, script_name, path, query, request_id, client[0], server[0], *tls]
    parts = [part if isinstance(part, bytes) else part.encode('latin-1') for part in parts]
    rows = b''
    for name, value in fields:
        name, value = name.encode('latin-1'), value.encode('latin-1')
        number = KNOWN_ID.get(name.decode('latin-1'), 0) if known else 0
        spelt = b'' if number else name
        rows += struct.pack('=HHI', number, len(spelt), len(value)) + spelt + value
    inline = body or b''
    place = 3 if feed else 2 if length is not None else 1 if inline else 0
    size = length if length is not None else len(inline)
    flags = (1 if https else 0) | (2 if body is not None or length is not None else 0)
    total = 64 + 40 + sum(map(len, parts)) + len(rows) + len(inline)
    header = struct.pack('=IIIIQIIHHHHHBBI', 0x50315250, total, cell, serial, size, len(rows), len(inline),
                         len(fields), front_thread, flags, client[1], server[1], http, place, response_ms)
    header = header.ljust(64, b'\0')
    return header + struct.pack('=10I', *map(len, parts)) + b''.join(parts) + rows + inline


# -- feeds ---------------------------------------------------------------------------------------------------------

PIECE, BODY_END, BODY_FAIL = range(1, 4)
CLIENT_GONE, TOO_LARGE, TOO_SLOW, MALFORMED, REFUSED = range(1, 6)


class Feed:
    """The front's end of the way by which a streamed body comes; the worker's goes with the record."""

    def __init__(self):
        self.end, self.worker_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.end.settimeout(DEADLINE)

    def note(self):
        """The next note: (taken, waits), or None at the end."""
        try:
            told = self.end.recv(64)
        except ConnectionResetError:  # the worker has left something unread; said once
            told = self.end.recv(64)
        return struct.unpack('=QQ', told) if told else None

    def wait_for(self, taken):
        """Until the worker waits for what follows so many bytes."""
        while (note := self.note()) != (taken, 1):
            assert note is not None and note[0] <= taken, note

    def send(self, kind, failure=0, body=b''):
        self.end.send(struct.pack('=II', kind, failure) + body)

    def give(self, body, size=65536):
        """All of a body in pieces, as far as the worker takes it."""
        try:
            for at in range(0, len(body), size):
                self.send(PIECE, body=body[at:at + size])
            self.send(BODY_END)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def closed(self):
        """Whether the worker has closed its end, notes before it aside."""
        while self.note() is not None:
            pass
        return True

    def close(self):
        self.end.close()
        self.worker_end.close()


# -- frames --------------------------------------------------------------------------------------------------------

class Answer:
    """What came back: `aborted` is None for a complete answer, else the reason; `interims` are Answers of a head alone."""

    def __init__(self):
        self.frames = []
        self.interims = []
        self.status = self.reason = self.length = self.aborted = None
        self.no_body = False
        self.fields = []
        self.body = b''
        self.ended = False

    def get(self, name):
        values = [value for key, value in self.fields if key.lower() == name.lower()]
        return values[0] if values else None

    def take(self, kind, flags, payload, descriptor):
        self.frames.append(kind)
        if kind == HEAD:
            self.take_head(flags, payload)
        elif kind == INTERIM:
            self.interims.append(Answer())
            self.interims[-1].take_head(flags, payload)
        elif kind == DATA:
            assert payload
            self.body += payload
        elif kind == FILE:
            offset, length = struct.unpack('=QQ', payload)
            self.body += os.pread(descriptor, length, offset)
            os.close(descriptor)
        elif kind == ABORT:
            self.aborted = flags
        self.ended = kind in (END, ABORT)

    def take_head(self, flags, payload):
        length, self.status, reason_bytes, count, _ = struct.unpack_from('=QHHHH', payload)
        self.length = length if flags & 1 else None
        self.no_body = bool(flags & 2)
        self.reason = payload[16:16 + reason_bytes].decode('latin-1')
        at = 16 + reason_bytes
        for _ in range(count):
            name_bytes, _, value_bytes = struct.unpack_from('=HHI', payload, at)
            at += 8
            name, value = payload[at:at + name_bytes], payload[at + name_bytes:at + name_bytes + value_bytes]
            at += name_bytes + value_bytes
            self.fields.append((name.decode('latin-1'), value.decode('latin-1')))
        assert at == len(payload)


class Stream:
    """The front's end of one answer socket."""

    def __init__(self, end):
        self.end = end
        self.end.settimeout(DEADLINE)
        self.bytes = b''
        self.descriptors = []
        self.reads = []

    def fill(self):
        part, descriptors, flags, _ = socket.recv_fds(self.end, 1 << 20, 4)
        assert not flags & socket.MSG_CTRUNC
        self.reads.append((time.monotonic(), len(part)))
        self.descriptors += descriptors
        self.bytes += part
        return bool(part)

    def frame(self):
        """(type, flags, cell, serial, payload), or None at the end of file."""
        while len(self.bytes) < 16 or len(self.bytes) < 16 + struct.unpack_from('=I', self.bytes)[0]:
            if not self.fill():
                assert not self.bytes, 'a cut frame: %r' % self.bytes
                return None
        length, kind, flags, reserved, cell, serial = struct.unpack_from('=IBBHII', self.bytes)
        assert reserved == 0
        payload, self.bytes = self.bytes[16:16 + length], self.bytes[16 + length:]
        return kind, flags, cell, serial, payload

    def answer(self, cell, serial):
        answer = Answer()
        while not answer.ended:
            frame = self.frame()
            assert frame is not None, 'the stream ended within an answer'
            kind, flags, *name, payload = frame
            assert name == [cell, serial], (name, cell, serial)
            answer.take(kind, flags, payload, self.descriptors.pop(0) if kind == FILE else None)
        return answer

    def quiet(self, seconds=0.0):
        """Whether nothing arrives."""
        return not self.bytes and not select.select([self.end], [], [], seconds)[0]


# -- processes -----------------------------------------------------------------------------------------------------

class Worker:
    def __init__(self, number, pid, control, streams):
        self.number = number
        self.pid = pid
        self.control = control
        self.streams = streams

    def stop(self):
        tell(self.control, 'stop')

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)


def usual_signals():
    """As the supervisor starts a zygote, whatever the test run ignores (a background job: SIGINT)."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Site:
    """One application: zygote, workers, queue, cells."""

    def __init__(self, python, engine, directory, application, threads=1, front_threads=1, cells=64, stderr=None, stdout=None,
                 environment=None, **setup):
        self.front_threads = front_threads
        self.threads = threads
        self.queue, self.queue_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.cells = Cells(cells)
        self.control, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.workers = {}
        self.next_worker = 0
        self.stderr = stderr
        image = os.open(engine, os.O_RDONLY)
        environment = dict(os.environ if environment is None else environment)
        if 'PORTICO_TEST_PRELOAD' in os.environ:
            environment['LD_PRELOAD'] = os.environ['PORTICO_TEST_PRELOAD']
        self.zygote = subprocess.Popen([python, '-c', LOADER, str(image), str(end.fileno()), 'test'], stderr=stderr, stdout=stdout,
                                       pass_fds=(image, end.fileno()), env=environment, start_new_session=True,
                                       preexec_fn=usual_signals)
        os.close(image)
        end.close()
        tell(self.control, 'setup', [self.queue_end.fileno(), self.cells.descriptor], application=application,
             directory=directory, threads=threads, front_threads=front_threads, site='test', **setup)

    def start(self):
        message = hear(self.control)
        assert message.verb == 'imported', message
        return self

    def fork(self):
        """A new worker, ready."""
        self.next_worker += 1
        number = self.next_worker
        control, control_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pairs = [socket.socketpair() for _ in range(self.threads * self.front_threads)]
        ends = [control_end] + [end for _, end in pairs]
        tell(self.control, 'fork', [end.fileno() for end in ends], worker=number)
        message = hear(self.control)
        assert message.verb == 'forked' and message.values['worker'] == str(number), message
        for end in ends:
            end.close()
        assert hear(control).verb == 'ready'
        worker = Worker(number, int(message.values['pid']), control, [Stream(ours) for ours, _ in pairs])
        self.workers[number] = worker
        return worker

    def exited(self):
        """The next death: (worker, raw wait status)."""
        message = hear(self.control)
        assert message.verb == 'exited', message
        return self.workers.pop(int(message.values['worker'])), int(message.values['status'])

    def post(self, body_file=None, **request):
        """Sends a record; returns (cell, serial)."""
        cell = self.cells.free.pop(0)
        self.cells.free.append(cell)
        serial = self.cells.send(cell)
        record = make_record(cell, serial, **request)
        self.queue.settimeout(DEADLINE)
        if body_file is None:
            self.queue.send(record)
        else:
            socket.send_fds(self.queue, [record], [body_file])
        return cell, serial

    def post_streamed(self, feed, **request):
        """Sends a record whose body comes by the feed; returns (cell, serial)."""
        posted = self.post(body_file=feed.worker_end.fileno(), feed=True, **request)
        feed.worker_end.close()
        return posted

    def post_together(self, *targets):
        """Sends records in one datagram; returns their (cell, serial)."""
        cells = [self.cells.free.pop(0) for _ in targets]
        self.cells.free.extend(cells)
        sent = [(cell, self.cells.send(cell)) for cell in cells]
        self.queue.settimeout(DEADLINE)
        self.queue.send(b''.join(make_record(*one, target=target) for one, target in zip(sent, targets)))
        return sent

    def ask(self, worker=None, stream=0, **request):
        """Sends a record and takes the answer from that worker's stream (default: the only one's)."""
        worker = worker or next(iter(self.workers.values()))
        return worker.streams[stream].answer(*self.post(**request))

    def close(self):
        for end in (self.queue, self.queue_end):
            end.close()
        for worker in self.workers.values():
            worker.control.close()
            for stream in worker.streams:
                stream.end.close()
        self.control.close()
        try:
            self.zygote.wait(DEADLINE)
        finally:
            self.zygote.kill()
            self.zygote.wait()
        self.cells.close()
