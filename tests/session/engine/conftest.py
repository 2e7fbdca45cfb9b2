"""Fixtures. PORTICO_ENGINE names the built module; PORTICO_TEST_PYTHONS lists interpreters (default: this one)."""
import os
import sys
from pathlib import Path

import pytest

from driver import SOURCE, Site

HERE = Path(__file__).resolve().parent


def find_engine():
    named = os.environ.get('PORTICO_ENGINE')
    found = [named] if named else sorted(map(str, SOURCE.glob('build/*/engine/_portico.abi3.so')))
    if not found or not os.path.exists(found[0]):
        pytest.exit('set PORTICO_ENGINE to the built _portico.abi3.so', 2)
    return os.path.abspath(found[0])


def interpreters():
    return [name for name in os.environ.get('PORTICO_TEST_PYTHONS', '').split(os.pathsep) if name] or [sys.executable]


@pytest.fixture(scope='session')
def engine():
    return find_engine()


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
