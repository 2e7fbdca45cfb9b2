"""What a base finds out: what it is made of, whether that has changed, why an import failed; a zygote's variables."""
import os
import sys
import time

import pytest

from driver import SOURCE


class Base:
    """The text of base.py as a module."""

    def __init__(self):
        names = {'__name__': 'portico_base', '_portico': None}
        exec((SOURCE / 'backend/engine/base.py').read_text(), names)
        self.__dict__.update(names)


@pytest.fixture
def base():
    return Base()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder on the path, with a package that is imported, from bytecode the second time."""
    place = tmp_path / 'of_a_base'
    place.mkdir()
    (place / '__init__.py').write_text('VALUE = 1\n')
    (place / 'part.py').write_text('')
    monkeypatch.syspath_prepend(tmp_path)
    yield place
    for name in [name for name in sys.modules if name.startswith('of_a_base')]:
        del sys.modules[name]


def later():
    """A time at which all that has been written lies well behind."""
    return time.time_ns() + 3600 * 10**9


def files_of(base, *names):
    assert base.import_all(names, None) == ''
    return base.Files(later())


def test_nothing_has_changed_as_long_as_nothing_changes(base, package):
    files = files_of(base, 'of_a_base', 'of_a_base.part')
    assert files.changed() is None
    assert str(package / 'part.py') in files.stamps
    assert not [path for path in files.stamps if path.startswith(('/proc/', '/dev/'))]


@pytest.mark.parametrize('change', [
    lambda package: (package / 'part.py').write_text('VALUE = 2\n'),
    lambda package: os.utime(package / 'part.py', ns=(1, 1)),
    lambda package: (package / 'part.py').unlink(),
    lambda package: (package / 'found_first.so').write_text(''),
    lambda package: (package.parent / 'another').mkdir(),
    lambda package: package.rename(package.with_name('gone'))])
def test_a_change_is_found(base, package, change):
    files = files_of(base, 'of_a_base', 'of_a_base.part')
    change(package)
    assert files.changed().startswith(str(package.parent))


def test_a_file_that_is_exchanged_with_the_same_times_is_found(base, package):
    files = files_of(base, 'of_a_base.part')
    before = os.stat(package / 'part.py')
    other = package.parent / 'other'
    other.write_text('')
    folder = os.stat(package)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.rename(package / 'part.py')
    os.utime(package, ns=(folder.st_atime_ns, folder.st_mtime_ns))
    assert files.changed() is not None


def test_what_is_written_while_it_imports_counts_as_changed(base, package):
    assert base.import_all(['of_a_base.part'], None) == ''
    young = base.Files(time.time_ns() - 10**9).changed()
    assert young is not None and young.startswith(str(package.parent))


def test_bytecode_that_is_written_while_it_imports_is_no_change(base, package):
    began = later()
    assert base.import_all(['of_a_base'], None) == ''
    assert base.Files(began).changed() is None


def test_the_interpreter_and_its_libraries_belong_to_it(base):
    found = base.mapped_files()
    assert os.path.realpath(sys.executable) in found
    assert any('/libc' in path or 'ld-' in path for path in found)


def test_an_import_that_fails_names_the_module(base, package):
    shown = []
    why = base.import_all(['of_a_base', 'not_there.part'], None)
    assert why.startswith("not_there.part failed: there is no module 'not_there' in ")
    (package / 'broken.py').write_text('raise ValueError("not today")')
    why = base.import_all(['of_a_base.broken'], lambda: shown.append(1))
    assert why == 'of_a_base.broken failed: ValueError: not today'
    assert shown == [1]


def test_all_variables_of_a_site_and_no_others(base, tmp_path, monkeypatch):
    monkeypatch.setattr(os, 'environb', dict(os.environb))
    file = tmp_path / 'environment'
    file.write_bytes(b'A=1\0B=with = and\nlines\0C=\0' + b'D=\xff\0')
    base.take_environment(os.open(file, os.O_RDONLY))
    assert os.environb == {b'A': b'1', b'B': b'with = and\nlines', b'C': b'', b'D': b'\xff'}
