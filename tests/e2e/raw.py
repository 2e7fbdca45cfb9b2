"""HTTP/1.1 by hand over a socket: what is sent is exactly what the test says."""
import dataclasses
import socket

from waiting import PATIENCE


@dataclasses.dataclass
class Response:
    """A response as it arrived."""
    status: int
    reason: str
    version: str
    fields: list  # of (lower-case name, value), in order
    body: bytes = b''
    trailers: list = dataclasses.field(default_factory=list)

    def field(self, name, default=None):
        """The value of a field that stands there at most once."""
        values = [value for key, value in self.fields if key == name.lower()]
        assert len(values) <= 1, f'{name} stands there {len(values)} times'
        return values[0] if values else default


class Connection:
    """One connection: send bytes, read responses. A context manager."""

    def __init__(self, address, timeout=PATIENCE):
        """address: (host, port), or the path of a Unix socket"""
        if isinstance(address, tuple):
            self.socket = socket.create_connection(address, timeout)
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            self.socket.connect(str(address))
        self.buffer = b''

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode('latin-1'))

    def finish_sending(self):
        """Ends our side; the answer can still be read."""
        self.socket.shutdown(socket.SHUT_WR)

    def request(self, target='/', host='localhost', method='GET', fields=(), body=None):
        """Sends one request; with a body it has Content-Length. Does not read the answer."""
        lines = [f'{method} {target} HTTP/1.1', f'Host: {host}']
        lines += [f'{name}: {value}' for name, value in dict(fields).items()]
        if body is not None:
            lines.append(f'Content-Length: {len(body)}')
        self.send('\r\n'.join(lines).encode('latin-1') + b'\r\n\r\n' + (body or b''))

    def get(self, target='/', host='localhost', **more):
        """Sends a request and reads its answer."""
        self.request(target, host, **more)
        return self.read_response(more.get('method', 'GET'))

    def receive(self):
        """More bytes into the buffer; False at the end of the stream."""
        data = self.socket.recv(65536)
        self.buffer += data
        return bool(data)

    def read_line(self):
        while b'\r\n' not in self.buffer:
            if not self.receive():
                raise EOFError(f'the connection ended inside a line: {self.buffer!r}')
        line, self.buffer = self.buffer.split(b'\r\n', 1)
        return line.decode('latin-1')

    def read_bytes(self, count):
        while len(self.buffer) < count:
            if not self.receive():
                raise EOFError(f'{count - len(self.buffer)} bytes are missing')
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def read_to_end(self):
        while self.receive():
            pass
        data, self.buffer = self.buffer, b''
        return data

    def at_end(self):
        """True when the other side has ended, with nothing more to read."""
        return not self.buffer and not self.receive()

    def read_fields(self):
        fields = []
        while line := self.read_line():
            name, _, value = line.partition(':')
            fields.append((name.lower(), value.strip()))
        return fields

    def read_head(self):
        """One response head, 1xx included, without what follows it."""
        version, status, reason = (self.read_line().split(' ', 2) + [''])[:3]
        return Response(int(status), reason, version, self.read_fields())

    def read_response(self, method='GET', interim=None):
        """One final response with its body. 1xx are put into the list `interim`, else dropped."""
        response = self.read_head()
        while 100 <= response.status < 200 and response.status != 101:
            if interim is not None:
                interim.append(response)
            response = self.read_head()
        if method != 'HEAD' and response.status not in (101, 204, 304):
            self.read_body(response)
        return response

    def read_body(self, response):
        if 'chunked' in (response.field('transfer-encoding') or ''):
            while size := int(self.read_line().split(';')[0], 16):
                response.body += self.read_bytes(size)
                assert self.read_bytes(2) == b'\r\n'
            response.trailers = self.read_fields()
        elif (length := response.field('content-length')) is not None:
            response.body = self.read_bytes(int(length))
        else:
            response.body = self.read_to_end()
