"""Fixtures: the module and the interpreters to test (README.md beside this file), and sites."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

from driver import SOURCE, Site

HERE = Path(__file__).resolve().parent


def find_engine():
    named = os.environ.get('PORTICO_ENGINE')
    build = Path(os.environ.get('PORTICO_BUILD') or SOURCE / 'build/dev')
    places = [Path(named)] if named else [build / folder / '_portico.abi3.so' for folder in ('engine-sanitized', 'engine')]
    for place in places:
        if place.exists():
            return str(place.resolve())
    pytest.exit('there is no %s: build it, or set PORTICO_ENGINE or PORTICO_BUILD' % places[-1], 2)


def preload_sanitizer(engine):
    """A sanitized module needs its runtime in the interpreter from the start."""
    with open(engine, 'rb') as module:
        if b'libasan.so' not in module.read():
            return
    libraries = [subprocess.check_output(['g++', '-print-file-name=' + name], text=True).strip()
                 for name in ('libasan.so', 'libubsan.so')]
    os.environ['PORTICO_TEST_PRELOAD'] = ':'.join(libraries)
    os.environ.setdefault('ASAN_OPTIONS', 'detect_leaks=0:abort_on_error=1')
    os.environ['PORTICO_TEST_SANITIZED'] = '1'


def interpreters():
    return [name for name in os.environ.get('PORTICO_TEST_PYTHONS', '').split(os.pathsep) if name] or [sys.executable]


ENGINE = find_engine()
preload_sanitizer(ENGINE)


@pytest.fixture(scope='session')
def engine():
    return ENGINE


@pytest.fixture(scope='session', params=interpreters())
def python(request):
    return request.param


@pytest.fixture(scope='session')
def log_file(tmp_path_factory):
    """Where the shared site's standard error goes."""
    return tmp_path_factory.mktemp('log') / 'stderr'


@pytest.fixture(scope='session')
def shared_site(python, engine, log_file):
    """One worker with the applications of apps.py, for tests that leave it as it was."""
    with open(log_file, 'ab') as stderr:
        site = Site(python, engine, HERE, 'apps', stderr=stderr, **{'environ.shop.colour': 'blau-ä'})
        site.start().fork()
        yield site
        site.close()


@pytest.fixture
def site(shared_site):
    return shared_site


@pytest.fixture
def log(log_file):
    """What has been written to standard error since the test began."""
    begun = log_file.stat().st_size if log_file.exists() else 0
    return lambda: log_file.read_bytes()[begun:].decode()


@pytest.fixture
def make_site(python, engine, tmp_path):
    """Starts sites of a test's own, and ends them."""
    made = []

    def make(application='apps', directory=HERE, **options):
        options.setdefault('stderr', open(tmp_path / 'stderr', 'ab'))
        site = Site(python, engine, directory, application, **options)
        made.append(site)
        return site

    make.log = lambda: (tmp_path / 'stderr').read_text()
    yield make
    for site in made:
        site.close()
