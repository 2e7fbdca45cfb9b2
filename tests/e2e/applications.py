"""What the tests of other people's applications share: is it there, may a worker write, start it and speak to it."""
import functools
import subprocess

import pytest

from browser import Browser
from door import PYTHON

HOST = 'site.example'


@functools.lru_cache(maxsize=None)
def has(module):
    """Whether the Python that runs the applications has a module."""
    script = f'import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)'
    return subprocess.run([PYTHON, '-c', script], check=False).returncode == 0


def needs(module, package):
    """Skips the calling file or test where the applications' Python has no such module, and says how to get it."""
    if not has(module):
        pytest.skip(f'{PYTHON} has no module {module}: apt-get install {package}', allow_module_level=True)


def open_to_all(folder):
    """Lets every user write in a folder and all that is in it now, as a worker of another user must."""
    for path in [folder, *folder.rglob('*')]:
        path.chmod(0o777 if path.is_dir() else path.stat().st_mode | 0o666)


def start_site(start, threads, folder, wsgi, more='', name=HOST):
    """A door with one site of two workers, and a browser for it.

    start    the fixture `portico` or `lasting_portico`
    threads  of each worker
    wsgi     what the site says there
    more     further keys of the site, such as ', environment: {A: b}'
    name     the site's; default: HOST
    """
    door = start(f'sites:\n  {name}: {{wsgi: "{wsgi}", directory: {folder}, workers: 2, threads: {threads}{more}}}\n')
    return door, Browser(door, HOST)
