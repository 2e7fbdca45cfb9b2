"""What the tests of other people's applications share: is it there, may a worker write, start it and speak to it."""
import importlib.util

import pytest

from browser import Browser

HOST = 'site.example'


def needs(module, package):
    """Skips the calling file where a Python module is missing, and says how to get it."""
    if importlib.util.find_spec(module) is None:
        pytest.skip(f'no Python module {module}: apt-get install {package}', allow_module_level=True)


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
