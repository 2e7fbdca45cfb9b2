"""What runs WSGI applications: front and worker of each peer, on core 0, with one front thread and one worker.

A peer is made with (folder, module, port): a folder that every user may enter, a module of `sites/`.
"""
import os
import pathlib
import time

from peers import NGINX, PORTICO, Program, free_port

SITES = pathlib.Path(__file__).resolve().parent / 'sites'
PYTHON = os.environ.get('BENCH_PYTHON', '/usr/bin/python3')


class Portico(Program):
    """Front and worker."""
    name = 'portico'
    keys = ', workers: {workers}'  # further keys of the site
    top = ''  # of the server

    def __init__(self, folder, module, site=SITES, workers=1):
        self.port = free_port()
        config = folder / 'portico.yaml'
        config.write_text(f'''
listen: ["127.0.0.1:{self.port}"]
front_threads: 1
state_directory: {folder}/state
run_directory: {folder}/run
log: {{access: "off"}}
{self.top}
sites:
  default: {{wsgi: {module}, directory: {site}, python: {PYTHON}{self.keys.format(workers=workers)}}}
''')
        super().__init__(folder, [PORTICO, 'run', config])


def gunicorn_command(address, module, site=SITES, workers=1, more=()):
    return [PYTHON, '-m', 'gunicorn', '--workers', workers, '--bind', address, '--backlog', 2048,
            '--log-level', 'error', '--chdir', site, *more, f'{module}:application']


def uwsgi_command(socket, module):
    return ['uwsgi', '--plugins', 'python3', '--master', '--processes', 1, '--listen', 1024, '--disable-logging',
            '--need-app', '--die-on-term', '--pythonpath', SITES, '--module', f'{module}:application', *socket]


class Behind(Program):
    """A worker on a Unix socket with nginx before it."""
    location = ''  # of nginx; {socket} is the worker's

    def __init__(self, folder, module):
        self.port = free_port()
        self.socket = folder / f'{self.name}.socket'
        config = folder / f'{self.name}.conf'
        config.write_text(NGINX.format(folder=folder, name=self.name, http=f'''
  client_body_buffer_size 128k; client_max_body_size 100m;
  server {{
    listen 127.0.0.1:{self.port} backlog=4096;
    location / {{ {self.location.format(socket=self.socket)} }}
  }}'''))
        super().__init__(folder, self.command(module))
        self.wait_for_socket()
        self.spawn(['/usr/sbin/nginx', '-c', config])

    def wait_for_socket(self, within=20):
        deadline = time.monotonic() + within
        while not self.socket.exists():
            if time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f'{self.name} makes no socket: {pathlib.Path(self.log.name).read_text()}')
            time.sleep(0.05)  # between two looks, until a deadline


class NginxUwsgi(Behind):
    name = 'nginx+uwsgi'
    location = 'include /etc/nginx/uwsgi_params; uwsgi_pass unix:{socket};'

    def command(self, module):
        return uwsgi_command(['--socket', self.socket, '--chmod-socket=666'], module)


class NginxGunicorn(Behind):
    name = 'nginx+gunicorn'
    location = '''
      proxy_pass http://unix:{socket}; proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_redirect off;'''

    def command(self, module):
        return gunicorn_command(f'unix:{self.socket}', module)


class Gunicorn(Program):
    """By itself, as a client of the application would reach it."""
    name = 'gunicorn'

    def __init__(self, folder, module):
        self.port = free_port()
        super().__init__(folder, gunicorn_command(f'127.0.0.1:{self.port}', module))


class Uwsgi(Program):
    name = 'uwsgi'

    def __init__(self, folder, module):
        self.port = free_port()
        super().__init__(folder, uwsgi_command(['--http-socket', f'127.0.0.1:{self.port}'], module))


class Waitress(Program):
    name = 'waitress'

    def __init__(self, folder, module):
        self.port = free_port()
        super().__init__(folder, [PYTHON, '-m', 'waitress', f'--listen=127.0.0.1:{self.port}', f'{module}:application'],
                         {'PYTHONPATH': str(SITES)})


PAIRS = {each.name: each for each in (Portico, NginxUwsgi, NginxGunicorn)}
ALONE = {each.name: each for each in (Gunicorn, Uwsgi, Waitress)}
