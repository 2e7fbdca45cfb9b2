"""The command line: version, help, check, and starts that fail."""
import socket
import time

import pytest

from door import command

GOOD = 'listen: ["127.0.0.1:0"]\nsites:\n  a.example: {to: "127.0.0.1:9"}\n'
BAD = '''listen: [":http"]
sites:
  a.example: {tto: "127.0.0.1:9"}
  a.example: {to: nowhere}
timeouts: {idle: soon}
'''


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / 'portico.yaml'
        path.write_text(text)
        return path
    return write


def test_version_is_one_line():
    for word in ('version', '--version', '-V'):
        done = command(word)
        assert done.returncode == 0
        assert done.stdout.startswith('portico ') and done.stdout.count('\n') == 1


def test_help_teaches_and_is_not_an_error():
    for words in ([], ['--help'], ['help']):
        done = command(*words)
        assert done.returncode == 0
        for taught in ('portico run', 'portico serve', 'wsgi: shop.wsgi', 'man portico.yaml'):
            assert taught in done.stdout
    assert 'TERM, INT' in command('run', '--help').stdout
    assert '--effective' in command('help', 'check').stdout


def test_an_unknown_option_names_the_nearest():
    done = command('check', '--efective')
    assert done.returncode == 2
    assert 'did you mean "--effective"?' in done.stderr


@pytest.mark.parametrize('verb', ['run', 'check'])
def test_all_mistakes_are_told_at_once_with_their_places(file, verb):
    path = file(BAD)
    done = command(verb, path)
    assert done.returncode == 2
    for line in (1, 3, 4, 5):
        assert f'{path}:{line}:' in done.stderr
    assert '"to"' in done.stderr  # what "tto" was meant to be


@pytest.mark.parametrize('verb', ['run', 'check'])
def test_a_missing_file_is_told(tmp_path, verb):
    done = command(verb, tmp_path / 'nothing.yaml')
    assert done.returncode == 2
    assert 'nothing.yaml' in done.stderr


def test_check_of_a_good_file(file):
    done = command('check', file(GOOD))
    assert 'no mistakes; 1 site' in done.stderr
    assert done.returncode in (0, 1)  # 1: something is missing on this machine, and told


def test_check_tells_what_the_machine_lacks(file):
    path = file(GOOD + '  b.example: {wsgi: shop.wsgi, directory: /nonexistent/shop}\n')
    done = command('check', path)
    assert done.returncode == 1
    assert '/nonexistent/shop' in done.stderr


def test_effective_values_are_a_file_that_means_the_same(file):
    first = command('check', '--effective', file(GOOD)).stdout
    assert 'timeouts' in first and 'a.example' in first
    again = command('check', '--effective', file(first)).stdout
    assert again == first


def test_a_port_in_use_is_told_with_what_helps(file):
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
        done = command('run', file('control: "off"\n' + GOOD.replace(':0"', f':{port}"')))
    assert done.returncode == 1
    assert f'cannot listen on 127.0.0.1:{port}' in done.stderr


BOMBS = {
    'aliases': 'a: &a [x, x]\n' + '\n'.join(f'{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]'
                                            for n in range(24)) + '\n',
    'alias to itself': 'sites: &a {x: *a}\n',
    'merge': 'a: &a {x: 1}\nsites: {<<: *a}\n',
    'nesting': 'sites: ' + '[' * 100_000 + '\n',
    'nesting of maps': 'sites: ' + '{a: ' * 50_000 + '\n',
    'nesting of lines': ''.join(' ' * n + f'k{n}:\n' for n in range(1000)),
    'nesting of dashes': '- ' * 100_000 + '\n',
    'too large': 'sites: {}\n' + '# x\n' * 400_000,
    'a long key': 'x' * 900_000 + ': 1\n',
    'many keys': ''.join(f'k{n}: 1\n' for n in range(5_000)),
    'many documents': '---\n' * 10_000,
    'bytes': '\x00\x01\xfe\xff' * 1000,
    'a tag': 'sites: !!python/object/apply:os.system ["true"]\n',
}


@pytest.mark.parametrize('name', BOMBS)
def test_a_bomb_of_a_file_is_refused_soon_with_its_place(tmp_path, name):
    file = tmp_path / 'bomb.yaml'
    file.write_text(BOMBS[name], encoding='latin-1')
    began = time.monotonic()
    ended = command('check', file)
    assert ended.returncode == 2
    assert str(file) in ended.stderr + ended.stdout
    assert time.monotonic() - began < 5
