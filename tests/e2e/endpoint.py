"""A little HTTP server for tests, on a port that the kernel chooses, a thread a connection."""
import dataclasses
import socket
import threading


@dataclasses.dataclass
class Request:
    """A request as the endpoint got it."""
    method: str
    target: str
    fields: list  # of (lower-case name, value), in order
    body: bytes = b''

    def field(self, name):
        """All values of a field, joined with commas; None when there is none."""
        values = [value for key, value in self.fields if key == name.lower()]
        return ', '.join(values) if values else None


def text(body, status=200, **fields):
    """A plain answer: the bytes of a response with Content-Length."""
    body = body.encode() if isinstance(body, str) else body
    lines = [f'HTTP/1.1 {status} Fine', f'Content-Length: {len(body)}']
    lines += [f'{name.replace("_", "-")}: {value}' for name, value in fields.items()]
    return '\r\n'.join(lines).encode('latin-1') + b'\r\n\r\n' + body


class Endpoint:
    """Answers each request with the bytes that answer(request) returns.

    When answer returns None the connection is closed instead. `requests` holds what came so far,
    in order; `address` is what to write behind `to:`.
    """

    def __init__(self, answer):
        self.answer = answer
        self.requests = []
        self.listener = socket.create_server(('127.0.0.1', 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
        self.address = f'127.0.0.1:{self.port}'
        self.connections = set()
        self.lock = threading.Lock()
        self.closed = False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                if self.closed:
                    connection.close()
                    return
                self.connections.add(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            self.handle(connection)
        except (OSError, EOFError):
            pass  # the other side left
        finally:
            with self.lock:
                self.connections.discard(connection)
            connection.close()

    def handle(self, connection):
        """The whole of one connection; a test may take its place to misbehave (see `raw`)."""
        stream = connection.makefile('rb')
        while (request := read_request(stream)) is not None:
            self.requests.append(request)
            answer = self.answer(request)
            if answer is None:
                return
            connection.sendall(answer)

    def close(self):
        """Stops listening and cuts what is open, as if the process had been killed."""
        with self.lock:
            self.closed = True
            connections = list(self.connections)
        self.listener.close()
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class RawEndpoint(Endpoint):
    """Gives each accepted connection to handler(socket), which does what it likes with it."""

    def __init__(self, handler):
        self.handle = handler
        super().__init__(None)


def read_request(stream):
    """One request with its body (Content-Length or chunked); None at the end of the stream.

    EOFError when the stream ends within it.
    """
    line = stream.readline()
    if not line:
        return None
    method, target, _ = line.decode('latin-1').split(' ', 2)
    request = Request(method, target, read_fields(stream))
    if request.field('transfer-encoding') == 'chunked':
        request.body = read_chunks(stream)
    elif length := request.field('content-length'):
        request.body = read_exactly(stream, int(length))
    return request


def read_exactly(stream, count):
    data = stream.read(count)
    if len(data) < count:
        raise EOFError(f'{count - len(data)} bytes of the body are missing')
    return data


def read_fields(stream):
    fields = []
    while (line := stream.readline()) not in (b'\r\n', b''):
        name, _, value = line.decode('latin-1').partition(':')
        fields.append((name.lower(), value.strip()))
    return fields


def read_chunks(stream):
    parts = []
    while size := int(read_line(stream).split(b';')[0], 16):
        parts.append(read_exactly(stream, size))
        read_exactly(stream, 2)
    read_fields(stream)
    return b''.join(parts)


def read_line(stream):
    line = stream.readline()
    if not line.endswith(b'\n'):
        raise EOFError('the stream ended inside a line')
    return line
