"""The module: what it needs and what it shows."""
import os
import subprocess

import pytest


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.skipif('PORTICO_TEST_SANITIZED' in os.environ, reason='a sanitizer brings its libraries')
def test_it_depends_on_libc_alone(engine):
    needed = [line.split('[')[1].rstrip(']') for line in lines('readelf', '-d', engine) if '(NEEDED)' in line]
    assert needed == ['libc.so.6']


@pytest.mark.skipif('PORTICO_TEST_SANITIZED' in os.environ, reason='a sanitizer brings its symbols')
def test_it_uses_nothing_of_libstdcxx(engine):
    undefined = [line.split()[-1] for line in lines('nm', '-D', '--undefined-only', engine)]
    strange = [name for name in undefined if not name.lstrip('_').startswith('Py') and '@GLIBC_' not in name
               and name not in ('_ITM_deregisterTMCloneTable', '_ITM_registerTMCloneTable', '__gmon_start__')]
    assert strange == []


def test_it_shows_its_entries_only(engine):
    defined = [line.split()[-1] for line in lines('nm', '-D', '--defined-only', engine)]
    shown = {name for name in defined if 'asan' not in name and 'odr' not in name}
    assert shown == {'PyInit__portico', 'portico_direct'}  # for Python, and for a front with Python inside
