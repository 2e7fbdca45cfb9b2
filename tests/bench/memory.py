#!/usr/bin/env python3
"""Memory of four Django workers, beside gunicorn's four; and how soon a site and a worker are there.

    tests/bench/memory.py [--rounds 5] [--requests 4000]

Memory is PSS (each shared page counted in parts) after the same number of pages of the admin's log-in, asked over four
connections. The peers run one after the other, so that none shares pages with another. Portico is counted twice: the
zygote with its workers, and everything. Then, medians over the rounds:

    import           the interpreter's start with the site's import, as a command
    start            from `portico run` to the first answer of a site whose application is not imported yet
    sleeping site    the first request of a site with workers {min: 0}, and what its sleeping costs
    worker           from the death of the only worker to the next answer: fork, ready, request

Then the memory of three sites of one Python, a worker each, with and without `shared_imports`.

What this build of Portico does not know is left out, with its word for it. Needs deploy/packages bench.
"""
import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
import urllib.request

import peers
from peers import Program, free_port
from processes import pss_bytes, tree
from wsgi_peers import PORTICO, PYTHON, Portico, gunicorn_command

PAGE = '/admin/login/'
IDLE = 2  # seconds after which a sleeping site stops its workers
WORKERS = 4
SHARED = ['django.core.handlers.wsgi', 'django.contrib.admin', 'django.template.backends.django',
          'django.contrib.sessions.middleware', 'django.db.backends.sqlite3.base']
AIMS = {'portico: zygote and workers': 0.6, 'portico: all': 0.7}


def site_in(folder):
    """The demonstration's Django project with its database, for workers of any user."""
    site = folder / 'site'
    shutil.copytree(peers.ROOT / 'deploy/demo/django', site)
    subprocess.run([PYTHON, 'manage.py', 'migrate', '--verbosity', '0'], cwd=site, check=True)
    for path in [site, *site.rglob('*')]:
        path.chmod(0o777 if path.is_dir() else 0o666)
    return site


def copies_of(site, count):
    """Further sites with the same code, for one front."""
    return [shutil.copytree(site, site.with_name(f'{site.name}{number}')) for number in range(1, count)]


class Site(Portico):
    """Portico with the project; more: further keys of it; top: of the server."""

    def __init__(self, folder, site, workers, more='', top=''):
        self.keys += more
        self.top = top
        super().__init__(folder, 'shop.wsgi', site, workers)

    def zygotes(self):
        """Processes of the site: children of the supervisor, but the front."""
        return [pid for pid in tree(self.pid)[1:] if self.is_python(pid) and not self.is_python(parent(pid))]

    def workers(self):
        return [child for pid in self.zygotes() for child in tree(pid)[1:]]

    @staticmethod
    def is_python(pid):
        """True for a process whose executable is an interpreter, whatever it calls itself."""
        with contextlib.suppress(OSError):
            return 'python' in os.path.basename(os.readlink(f'/proc/{pid}/exe'))
        return False


def parent(pid):
    return int(pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[1])


class Gunicorn(Program):
    def __init__(self, folder, site, preload):
        self.name = 'gunicorn, preloaded' if preload else 'gunicorn'
        self.port = free_port()
        more = ['--preload'] if preload else []
        super().__init__(folder, gunicorn_command(f'127.0.0.1:{self.port}', 'shop.wsgi', site, WORKERS, more))


@contextlib.contextmanager
def running(program, *arguments):
    """The program while the body runs, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix='portico-bench-') as folder:
        os.chmod(folder, 0o755)
        started = program(pathlib.Path(folder), *arguments)
        try:
            yield started
        finally:
            started.stop()


def work(peer, requests, page=PAGE):
    """Lets the peer answer so many pages."""
    peer.wait_until_answers(page)
    done = subprocess.run(['ab', '-q', '-n', str(requests), '-c', str(WORKERS), peer.url(page)], capture_output=True,
                          text=True, check=True).stdout
    if 'Non-2xx' in done:
        raise RuntimeError(f'{peer.name} fails:\n{done}')


def memory(site, requests):
    """name -> bytes, of four workers that have worked"""
    found = {}
    for preload in (False, True):
        with running(Gunicorn, site, preload) as peer:
            work(peer, requests)
            found[peer.name] = pss_bytes(peer.pid)
    with running(Site, site, WORKERS) as peer:
        work(peer, requests)
        if len(peer.workers()) != WORKERS:
            raise RuntimeError(f'{len(peer.workers())} workers')
        found['portico: zygote and workers'] = pss_bytes(*peer.zygotes())
        found['portico: all'] = pss_bytes(peer.pid)
    return found


def routes_to(sites):
    """Keys that add these sites below /1/, /2/ ... of another; each with one worker."""
    routes = ', '.join(f'/{number}/: {{{{wsgi: shop.wsgi, directory: {site}, python: {PYTHON}, workers: 1}}}}'
                       for number, site in enumerate(sites, 1))
    return f', routes: {{{{{routes}}}}}'


def three_sites(site, others, requests):
    """name -> bytes of three sites, with everything that Portico has started"""
    found = {}
    for name, top in (('three sites', ''), ('three sites, shared imports', f'shared_imports: [{", ".join(SHARED)}]')):
        with running(Site, site, 1, routes_to(others), top) as peer:
            for number in range(len(others) + 1):
                work(peer, requests, f'/{number}{PAGE}' if number else PAGE)
            found[name] = pss_bytes(peer.pid)
    return found


def seconds(body):
    began = time.monotonic()
    body()
    return time.monotonic() - began


def ask(peer):
    with urllib.request.urlopen(peer.url(PAGE), timeout=60) as answer:
        answer.read()


def import_time(site):
    return seconds(lambda: subprocess.run([PYTHON, '-c', 'import shop.wsgi'], cwd=site, check=True))


def start_time(site):
    began = time.monotonic()
    with running(Site, site, 1) as peer:
        peer.wait_until_answers(PAGE)
        return time.monotonic() - began


def worker_time(site, times):
    """How long a request takes that comes when the only worker has just been killed, several times."""
    found = []
    with running(Site, site, 1) as peer:
        peer.wait_until_answers(PAGE)
        for _ in range(times):
            os.kill(peer.workers()[0], signal.SIGKILL)
            found.append(seconds(lambda: ask(peer)))
            ask(peer)
    return found


def wait_until_asleep(peer, within=IDLE + 20):
    deadline = time.monotonic() + within
    while peer.zygotes():
        if time.monotonic() > deadline:
            raise RuntimeError('the site does not fall asleep')
        time.sleep(0.05)  # between two looks, until a deadline


def sleeping(site, times):
    """(seconds of each first request, processes and bytes of Python while the site sleeps)"""
    found = []
    with running(Site, site, f'{{min: 0, max: {WORKERS}, idle: {IDLE}s}}') as peer:
        peer.wait_until_answers(PAGE)
        for _ in range(times):
            wait_until_asleep(peer)
            cost = len(tree(peer.pid)), pss_bytes(peer.pid)
            found.append(seconds(lambda: ask(peer)))
    return found, cost


def refusal(site):
    """Why this build has no sleeping sites; empty when it has."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / 'portico.yaml'
        file.write_text(f'sites: {{default: {{wsgi: shop.wsgi, directory: {site}, workers: {{min: 0, max: 1}}}}}}\n')
        checked = subprocess.run([PORTICO, 'check', file], capture_output=True, text=True)
        return '' if checked.returncode == 0 else (checked.stdout + checked.stderr).strip()


def print_memory(found):
    print('\nPSS of four workers, MB')
    plain, preloaded = found['gunicorn'], found['gunicorn, preloaded']
    for name, size in found.items():
        aim = f'   aimed at {AIMS[name]} of gunicorn' if name in AIMS else ''
        print(f'  {name:28} {size / 1e6:6.1f}   {size / plain:.2f} of gunicorn, {size / preloaded:.2f} preloaded{aim}')


def print_three_sites(found):
    alone, shared = found.values()
    print('\nPSS of three sites, MB')
    for name, size in found.items():
        print(f'  {name:28} {size / 1e6:6.1f}')
    print(f'  {"saved":28} {(alone - shared) / 1e6:6.1f}   {shared / alone:.2f} of them without')


def print_times(site, rounds):
    print('\nmilliseconds (median)')
    imported = statistics.median(import_time(site) for _ in range(rounds))
    print(f'  import          {imported * 1000:8.0f}')
    started = statistics.median(start_time(site) for _ in range(rounds))
    print(f'  start           {started * 1000:8.0f}   {started / imported:.2f} of import')
    worker = statistics.median(worker_time(site, rounds))
    print(f'  worker          {worker * 1000:8.0f}   aimed at 100')
    if why := refusal(site):
        print(f'  sleeping site   unknown to this build: {why}')
        return
    first, (processes, size) = sleeping(site, rounds)
    awake = statistics.median(first)
    print(f'  sleeping site   {awake * 1000:8.0f}   {awake / imported:.2f} of import, aimed at 1.2'
          f'\n                  asleep: {processes} processes (supervisor and front: 2), {size / 1e6:.1f} MB in all')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--requests', type=int, default=4000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='portico-bench-') as folder:
        os.chmod(folder, 0o755)
        site = site_in(pathlib.Path(folder))
        print_memory(memory(site, arguments.requests))
        print_three_sites(three_sites(site, copies_of(site, 3), arguments.requests // 4))
        print_times(site, arguments.rounds)


if __name__ == '__main__':
    main()
