"""Endpoints that are killed under load: no GET fails, no POST runs twice; and a pool that restarts."""
import collections
import os
import signal
import socket
import subprocess
import sys
import threading

from endpoint import text
from load import Load
from waiting import eventually

KILLS = 10 * int(os.environ.get('PORTICO_SCALE', '1'))

# An HTTP server that keeps connections; a POST leaves its own name in a file before it is answered,
# so that one run twice is seen.
SERVER = '''
import asyncio, os, sys
log = os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
async def serve(reader, writer):
    while True:
        try:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return writer.close()
        method, target, _ = head.split(b" ", 2)
        if method == b"POST":
            os.write(log, target + b"\\n")
        await asyncio.sleep(0.001)
        writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), backlog=1024)
    await server.serve_forever()
asyncio.run(main())
'''


class ServerProcess:
    """One endpoint in a process of its own, always on the same port."""

    def __init__(self, folder):
        with socket.create_server(('127.0.0.1', 0)) as chosen:
            self.port = chosen.getsockname()[1]
        self.address = f'127.0.0.1:{self.port}'
        self.ran = folder / f'ran-{self.port}'
        self.process = None

    def start(self):
        self.process = subprocess.Popen([sys.executable, '-c', SERVER, str(self.port), self.ran])
        eventually(self.listens, what='the endpoint')

    def listens(self):
        try:
            socket.create_connection(('127.0.0.1', self.port)).close()
        except ConnectionRefusedError:
            return False
        return True

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def site(ends):
    addresses = ', '.join(f'"{end.address}"' for end in ends)
    return (f'sites:\n  a.example: {{to: api}}\n'
            f'pools:\n  api: {{endpoints: [{addresses}], health: {{interval: 500ms, rise: 1}}}}\n')


def served(loads):
    return sum(sum(load.statuses.values()) for load in loads)


def test_kills_lose_no_get_and_run_no_post_twice(portico, tmp_path):
    ends = [ServerProcess(tmp_path) for _ in range(3)]
    try:
        for end in ends:
            end.start()
        door = portico(site(ends))
        loads = [Load(door, method, number) for number, method in enumerate(['GET', 'POST'] * 4)]
        for load in loads:
            load.start()
        for death in range(KILLS):
            victim = ends[death % 3]
            before = served(loads)
            victim.kill()
            eventually(lambda: served(loads) > before + 100, what='the load goes on without it')
            victim.start()
            back = served(loads)
            eventually(lambda: served(loads) > back + 300, what='the load goes on with it')
        for load in loads:
            load.stop.set()
        for load in loads:
            load.join()
    finally:
        for end in ends:
            end.kill()
    gets = sum((load.statuses for load in loads if load.method == 'GET'), collections.Counter())
    posts = sum((load.statuses for load in loads if load.method == 'POST'), collections.Counter())
    assert set(gets) == {200}, gets
    assert set(posts) <= {200, 502}, posts  # one that was perhaps begun is not sent again
    ran = collections.Counter(line for end in ends for line in end.ran.read_text().splitlines())
    assert max(ran.values()) == 1
    assert len(ran) >= posts[200]


def test_requests_wait_for_a_pool_of_one_that_restarts(portico, tmp_path):
    end = ServerProcess(tmp_path)
    end.start()
    try:
        door = portico(site([end]))
        assert door.get('/', 'a.example').status == 200
        end.kill()
        answers = []
        clients = [threading.Thread(target=lambda: answers.append(door.get('/', 'a.example').status))
                   for _ in range(5)]
        for client in clients:
            client.start()
        door.wait_for_log(r'endpoint \S+ is (down|out)')
        end.start()
        for client in clients:
            client.join()
        assert answers == [200] * 5
    finally:
        end.kill()


def test_all_down_is_503_with_retry_after(portico, tmp_path):
    end = ServerProcess(tmp_path)
    door = portico(site([end]) + 'timeouts: {connect: 300ms}\n')
    response = door.get('/', 'a.example')
    assert response.status == 503
    assert response.field('retry-after') == '1'


def test_a_name_that_does_not_resolve_is_down_and_harms_nobody(portico, endpoint):
    end = endpoint(lambda request: text('ok'))
    door = portico(f'sites:\n  a.example: {{to: "{end.address}"}}\n'
                   '  b.example: {to: "no-such-name.invalid:80"}\n'
                   f'  c.example: {{to: "localhost:{end.port}"}}\ntimeouts: {{connect: 300ms}}\n')
    assert door.get('/', 'b.example').status == 503
    assert door.get('/', 'a.example').status == 200
    eventually(lambda: door.get('/', 'c.example').status == 200, what='localhost')
