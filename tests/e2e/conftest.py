"""Fixtures for tests of the real program. How to use them: README.md beside this file."""
import itertools
import os
import pathlib
import shutil
import tempfile

import pytest

from door import Door, binary, command
from endpoint import Endpoint, RawEndpoint


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Lets fixtures know whether their test, or one of their file, failed: request.node.failed"""
    outcome = yield
    if outcome.get_result().failed:
        item.failed = item.getparent(pytest.Module).failed = True


def why_not_embedded():
    """What `portico check` says of an embedded application in the Python that tests/pythons chose; empty: it can be."""
    with tempfile.TemporaryDirectory() as place:
        file = pathlib.Path(place, 'portico.yaml')
        file.write_text(f'sites: {{a.example: {{wsgi: hello, directory: {place}, embedded: true}}}}\n')
        said = command('check', file).stderr
    return next((line.partition('warning: ')[2] for line in said.splitlines() if 'cannot be embedded' in line), '')


def pytest_collection_modifyitems(items):
    """Another Python than Debian's may have no shared library; tests that embed it are skipped then."""
    why = why_not_embedded() if 'PORTICO_PYTHON' in os.environ else ''
    for item in items:
        if why and 'embedded' in item.nodeid:
            item.add_marker(pytest.mark.skip(reason=why))


def new_folder():
    path = pathlib.Path(tempfile.mkdtemp(prefix='portico-test-'))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def folder():
    """An empty directory that every user may enter and read, as workers and front must."""
    yield from new_folder()


@pytest.fixture(scope='module')
def lasting_folder():
    """A `folder` for all tests of a file."""
    yield from new_folder()


def new_doors(node, place_of_all):
    assert binary().exists(), f'{binary()} is missing: build it, or set PORTICO_BIN'
    started = []

    def start(*arguments, listening=True, **more):
        place = place_of_all / f'door{len(started)}'
        place.mkdir()
        door = Door(arguments, place, **more)
        started.append(door)
        if listening:
            door.wait_until_listening()
        return door

    yield start
    try:
        for door in started:
            door.finish()
    finally:
        if getattr(node, 'failed', False):
            for door in started:
                print(f'--- {door.process.args[1:]}: standard error\n{door.log()}')
                print('--- standard output', *door.access_log(), sep='\n')


@pytest.fixture
def doors(request, tmp_path):
    """start(arguments, ...) -> Door that listens; ended with the test, shown when it fails."""
    yield from new_doors(request.node, tmp_path)


def runner(doors, place):
    numbers = itertools.chain([''], itertools.count(1))

    def run(text, **more):
        number = next(numbers)
        written = {line.split(':')[0] for line in text.splitlines()}
        if 'listen' not in written:
            text = 'listen: ["127.0.0.1:0"]\n' + text
        if 'control' not in written:
            text = f'control: {place}/control{number}.sock\n' + text
        file = place / f'portico{number}.yaml'
        file.write_text(text)
        door = doors('run', file, **more)
        door.file = file
        return door
    return run


@pytest.fixture
def portico(doors, tmp_path):
    """portico(text) -> Door: `portico run` with a file of that text.

    The text needs no `listen:`; without one it listens on a free port of 127.0.0.1. Nor does it
    need a `control:`; without one the socket is control.sock beside the file, which is door.file; those of a second door have numbers.
    """
    return runner(doors, tmp_path)


@pytest.fixture(scope='module')
def lasting_portico(request, tmp_path_factory):
    """As `portico`, for a door that all tests of a file use: many small attacks, one start."""
    place = tmp_path_factory.mktemp('doors')
    for doors in new_doors(request.node, place):
        yield runner(doors, place)


@pytest.fixture(scope='module', params=[1, 4], ids='threads-{}'.format)
def threads(request):
    """Runs each test of a file once for each: the threads that a worker shall have."""
    return request.param


@pytest.fixture
def endpoint():
    """endpoint(answer) -> Endpoint; see endpoint.py. Closed with the test."""
    made = []

    def make(answer):
        made.append(Endpoint(answer))
        return made[-1]
    yield make
    for each in made:
        each.close()


@pytest.fixture
def raw_endpoint():
    """raw_endpoint(handler) -> RawEndpoint: handler(socket) has each connection to itself."""
    made = []

    def make(handler):
        made.append(RawEndpoint(handler))
        return made[-1]
    yield make
    for each in made:
        each.close()
