"""wsgi.file_wrapper: item 65 of the checklist."""
import json

import pytest

from driver import DATA, END, FILE, HEAD

PATTERN = bytes(index % 251 for index in range(200000))


def seen(site, name):
    return json.loads(site.ask(target='/seen_by?' + name).body)


def test_65_a_real_file_goes_as_a_descriptor_from_its_offset(site):
    answer = site.ask(target='/file_plain')
    assert answer.frames == [HEAD, FILE, END]
    assert answer.length == 199990 and answer.body == PATTERN[10:]


def test_65_the_file_is_closed_afterwards(site):
    site.ask(target='/file_plain')
    site.ask(target='/file_closed')
    assert seen(site, 'file_closed') == [True]


def test_65_head_has_the_length_and_no_file(site):
    answer = site.ask(target='/file_plain', method='HEAD')
    assert (answer.frames, answer.length) == ([HEAD, END], 199990)


def test_65_content_length_is_obeyed(site):
    answer = site.ask(target='/file_limited?1000')
    assert answer.length == 1000 and answer.body == PATTERN[:1000]


@pytest.mark.parametrize('name, body', [
    ('file_memory', b'from memory' * 1000), ('file_gzip', b'unpacked'), ('file_gzip_real', b'unpacked from disk'),
    ('file_pipe', b'through a pipe'), ('file_wrapped_again', b'abc')])
def test_65_anything_readable_is_read(site, name, body):
    answer = site.ask(target='/' + name)
    assert answer.body == body and answer.aborted is None and FILE not in answer.frames and DATA in answer.frames


def test_65_a_temporary_file_is_a_real_file(site):
    answer = site.ask(target='/file_temporary')
    assert answer.body == b'orary' and answer.frames == [HEAD, FILE, END]
