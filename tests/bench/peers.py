"""The programs that are compared: how each is configured and started, pinned to core 0, and ended."""
import os
import pathlib
import re
import socket
import subprocess
import time
import urllib.request

from processes import tree

ROOT = pathlib.Path(__file__).resolve().parents[2]
PORTICO = os.environ.get('PORTICO_BIN', str(ROOT / 'build/release/portico'))


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def read_wrk(output):
    """(requests, errors, p99 in ms) of wrk's report."""
    requests = int(re.search(r'(\d+) requests in', output).group(1))
    errors = sum(map(int, re.findall(r'(?:connect|read|write|timeout) (\d+)', output)))
    errors += sum(map(int, re.findall(r'Non-2xx or 3xx responses: (\d+)', output)))
    value, unit = re.search(r'99%\s+([\d.]+)(us|ms|s|m)', output).groups()
    return requests, errors, float(value) * {'us': 0.001, 'ms': 1, 's': 1000, 'm': 60000}[unit]


def wrk(url, seconds, connections=64, more=()):
    """wrk's report of a run from core 1."""
    return subprocess.run(['taskset', '-c', '1', 'wrk', '-t1', f'-c{connections}', f'-d{seconds}s', '--latency',
                           '--timeout', '30s', *more, url], capture_output=True, text=True, check=True).stdout


def bytes_read(output):
    value, unit = re.search(r'([\d.]+)(B|KB|MB|GB) read', output).groups()
    return float(value) * {'B': 1, 'KB': 1 << 10, 'MB': 1 << 20, 'GB': 1 << 30}[unit]


class Program:
    """A program of ours while it runs; some are several processes that belong together."""
    name = ''
    core = 0

    def __init__(self, folder, command, environment=None):
        self.log = open(folder / f'{self.name}.log', 'wb')
        self.environment = {**os.environ, **(environment or {})}
        self.processes = []
        self.spawn(command)

    def spawn(self, command):
        self.processes.append(subprocess.Popen(['taskset', '-c', str(self.core), *map(str, command)], stdout=self.log,
                                               stderr=self.log, stdin=subprocess.DEVNULL, env=self.environment))

    @property
    def pids(self):
        return [process.pid for process in self.processes]

    @property
    def pid(self):
        """The first process; most programs have no other."""
        return self.processes[0].pid

    def url(self, path):
        return f'http://127.0.0.1:{self.port}{path}'

    def wait_until_answers(self, path, within=30):
        deadline = time.monotonic() + within
        while True:
            try:
                with urllib.request.urlopen(self.url(path), timeout=5) as response:
                    response.read()
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise RuntimeError(f'{self.name} does not answer: {pathlib.Path(self.log.name).read_text()}')
                time.sleep(0.05)  # between two looks, until a deadline

    def traffic_pid(self):
        """The process that carries the traffic: the last child, or the process itself."""
        return tree(self.pid)[-1]

    def answered(self, path, seconds, connections=64):
        """How many requests wrk got answered."""
        return read_wrk(wrk(self.url(path), seconds, connections))[0]

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.log.close()


NGINX = '''
worker_processes 1; daemon off; pid {folder}/{name}.pid; error_log {folder}/{name}.error;
events {{ worker_connections 20000; }}
http {{
  access_log off; keepalive_requests 1000000000; sendfile on; tcp_nopush off;
  client_body_temp_path {folder}/{name}-body; proxy_temp_path {folder}/{name}-proxy; fastcgi_temp_path {folder}/{name}-f;
  uwsgi_temp_path {folder}/{name}-u; scgi_temp_path {folder}/{name}-s;
  {http}
}}
'''


class Origin(Program):
    """nginx serving files of 1 KiB, 1 MiB and 100 MiB from the page cache, on the load's core."""
    name = 'origin'
    core = 1

    def __init__(self, folder):
        self.port = free_port()
        files = folder / 'files'
        files.mkdir()
        for name, size in (('1k', 1024), ('1m', 1 << 20), ('100m', 100 << 20)):
            (files / name).write_bytes(b'x' * size)
        for path in (files, *files.iterdir()):
            path.chmod(0o755)
        config = folder / 'origin.conf'
        config.write_text(NGINX.format(folder=folder, name=self.name,
                                       http=f'server {{ listen 127.0.0.1:{self.port} backlog=4096; root {files}; }}'))
        super().__init__(folder, ['/usr/sbin/nginx', '-c', config])
        self.wait_until_answers('/1k')


class Nginx(Program):
    name = 'nginx'

    def __init__(self, folder, origin):
        self.port = free_port()
        config = folder / 'nginx.conf'
        config.write_text(NGINX.format(folder=folder, name=self.name, http=f'''
  proxy_max_temp_file_size 0;
  upstream origin {{ server 127.0.0.1:{origin}; keepalive 128; keepalive_requests 1000000000; }}
  server {{
    listen 127.0.0.1:{self.port} backlog=4096;
    location / {{
      proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
    }}
  }}'''))
        super().__init__(folder, ['/usr/sbin/nginx', '-c', config])


class Haproxy(Program):
    name = 'haproxy'

    def __init__(self, folder, origin):
        self.port = free_port()
        config = folder / 'haproxy.cfg'
        config.write_text(f'''
global
  nbthread 1
  maxconn 4000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  option forwardfor
  http-reuse always
frontend in
  bind 127.0.0.1:{self.port}
  default_backend origin
backend origin
  server origin 127.0.0.1:{origin}
''')
        super().__init__(folder, ['/usr/sbin/haproxy', '-db', '-f', config])


class Portico(Program):
    name = 'portico'

    def __init__(self, folder, origin):
        self.port = free_port()
        config = folder / 'portico.yaml'
        config.write_text(f'''
listen: ["127.0.0.1:{self.port}"]
front_threads: 1
control: "off"
sites:
  default: {{to: "127.0.0.1:{origin}"}}
log: {{access: "off"}}
''')
        super().__init__(folder, [PORTICO, 'run', config])


PROXIES = {'portico': Portico, 'nginx': Nginx, 'haproxy': Haproxy}
