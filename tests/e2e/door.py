"""Door: the real program, started for one test."""
import os
import pathlib
import re
import signal
import subprocess
import urllib.parse

import processes
import raw
from waiting import PATIENCE, eventually

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEAKS = f'suppressions={ROOT}/tests/e2e/lsan.supp:print_suppressions=0'
SANITIZER = re.compile(r'ERROR: (Address|Leak|Thread)Sanitizer|runtime error:|'
                       r'WARNING: ThreadSanitizer|LeakSanitizer has encountered')
# What runs the applications: Debian's own Python, or another one that tests/pythons chose.
PYTHON = os.environ.get('PORTICO_PYTHON', '/usr/bin/python3')
SANITIZED = 'asan' in os.environ.get('PORTICO_BUILD', '') or 'tsan' in os.environ.get('PORTICO_BUILD', '')


def binary():
    """The executable under test: PORTICO_BIN, else that of the build directory PORTICO_BUILD."""
    build = pathlib.Path(os.environ.get('PORTICO_BUILD', ROOT / 'build' / 'dev'))
    return pathlib.Path(os.environ.get('PORTICO_BIN', build / 'portico'))


def environment(**more):
    """What Portico is started with: PYTHON is the first python3 in PATH; nothing of the test's."""
    kept = {name: os.environ[name] for name in ('HOME', 'LANG', 'TZ', 'ASAN_OPTIONS',
                                                'LSAN_OPTIONS', 'TSAN_OPTIONS', 'UBSAN_OPTIONS')
            if name in os.environ}
    path = [os.path.dirname(PYTHON), '/usr/sbin', '/usr/bin', '/sbin', '/bin']
    return {'PATH': ':'.join(dict.fromkeys(path)), 'LSAN_OPTIONS': LEAKS, **kept, **more}


def command(*arguments, cwd=None, within=PATIENCE):
    """Runs `portico ARGUMENTS` to its end; returns the CompletedProcess with text output."""
    return subprocess.run([binary(), *map(str, arguments)], env=environment(), cwd=cwd, text=True,
                          capture_output=True, timeout=within, stdin=subprocess.DEVNULL)


class Door:
    """A running Portico. Made by the fixture `portico`, which also ends it."""

    def __init__(self, arguments, folder, cwd=None, env=None, inherits=(), through=()):
        """folder: where its standard output and error go, as files; inherits: descriptors;
        through: a command that executes it, such as ('prlimit', '--nofile=64')"""
        self.output = folder / 'stdout'
        self.errors = folder / 'stderr'
        with self.output.open('wb') as out, self.errors.open('wb') as err:
            self.process = subprocess.Popen([*through, binary(), *map(str, arguments)],
                                            stdout=out, stderr=err, stdin=subprocess.DEVNULL, start_new_session=True,
                                            env=environment(**(env or {})), cwd=cwd,
                                            pass_fds=inherits)
        self.pid = self.process.pid
        self.known = {self.pid}

    # Where it listens

    def wait_until_listening(self):
        """Reads its log until it says so; `urls` and `address` are known then."""
        self.wait_for_log(r'info ready$')
        self.urls = re.findall(r'listening on (\S+)', self.log())
        self.address = self.address_of(self.urls[0])
        self.remember_descendants()

    @staticmethod
    def address_of(url):
        """(host, port), or the path of a Unix socket"""
        if url.startswith('unix:'):
            return url.removeprefix('unix:')
        parts = urllib.parse.urlsplit(url)
        return parts.hostname, parts.port

    # Asking it

    def connect(self, **more):
        """A raw connection to the first listener."""
        return raw.Connection(self.address, **more)

    def get(self, target='/', host='localhost', **more):
        """One request on a connection of its own; more: method, fields, body."""
        with self.connect() as connection:
            return connection.get(target, host, **more)

    # What it writes

    def log(self):
        """What it wrote to standard error so far."""
        return self.errors.read_text(errors='replace')

    def access_log(self):
        """Lines on standard output so far: the access log unless configured otherwise."""
        return self.output.read_text(errors='replace').splitlines()

    def wait_for_log(self, pattern, within=PATIENCE, times=1):
        """Waits until a pattern stands in the log (so many times); fails when Portico ends before."""
        def seen():
            ended = self.process.poll() is not None
            found = re.findall(pattern, self.log(), re.MULTILINE)
            assert len(found) >= times or not ended, f'it ended without {pattern!r}'
            return len(found) >= times
        eventually(seen, within, f'{pattern!r} in the log')

    # Its processes

    def front(self):
        """The process id of the front, once there is one."""
        def found():
            for pid in processes.children(self.pid):
                if processes.command_line(pid)[1:2] == [b'front']:
                    return pid
            return None
        return eventually(found, what='a front process')

    def remember_descendants(self):
        """All processes that belong to it now; they are looked for at the end."""
        self.known.update(processes.descendants(self.pid))
        return self.known - {self.pid}

    def signal(self, number):
        os.kill(self.pid, number)

    def wait(self, within=PATIENCE):
        """Waits for its end; returns the exit status (negative: the signal)."""
        return self.process.wait(within)

    def stop(self):
        """A graceful stop; returns the exit status."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self):
        """Ends it and everything that belongs to it, whatever state it is in. Always succeeds."""
        if self.process.poll() is None:
            self.remember_descendants()
            self.signal(signal.SIGKILL)
        self.process.wait()
        for pid in self.known - {self.pid}:
            eventually(lambda pid=pid: not processes.alive(pid), what=f'the end of process {pid}')

    def finish(self):
        """The end of a test: kills what is left, and fails on findings of the sanitizers."""
        self.kill()
        found = SANITIZER.search(self.log())
        assert not found, f'a sanitizer found something: {found.group()}'
