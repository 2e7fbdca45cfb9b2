"""describe_shared: which descriptors must not be shared by forks, and how they are named."""
import json
import os
import subprocess

import pytest

LOADER = '''
import importlib.machinery, importlib.util, json, os, socket, sys
spec = importlib.util.spec_from_loader('_portico', importlib.machinery.ExtensionFileLoader('_portico', sys.argv[1]))
_portico = importlib.util.module_from_spec(spec)
spec.loader.exec_module(_portico)
folder = sys.argv[2]
def connected(listening):
    client = socket.socket(listening.family)
    client.connect(listening.getsockname())
    return client
def listening(family, place, kind=socket.SOCK_STREAM):
    made = socket.socket(family, kind)
    made.bind(place)
    made.listen(1)
    return made
'''


@pytest.fixture
def said(engine, python, tmp_path):
    """said(code) -> what describe_shared says of the descriptor `it.fileno()` (or `it`), and the values of `more`"""
    def run(code):
        script = LOADER + code + (
            "\nnumber = it if isinstance(it, int) else it.fileno()\n"
            "said = _portico.describe_shared(number)\n"
            "print(json.dumps([said and said.replace('descriptor %d, which ' % number, ''), more]))\n")
        env = dict(os.environ)
        if 'PORTICO_TEST_PRELOAD' in env:
            env['LD_PRELOAD'] = env['PORTICO_TEST_PRELOAD']
        done = subprocess.run([python, '-c', script, engine, str(tmp_path)], capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    return run


@pytest.mark.parametrize('family, host, shown', [('AF_INET', '127.0.0.1', '127.0.0.1:%d'),
                                                 ('AF_INET6', '::1', '[::1]:%d')])
def test_a_stream_that_listens_or_is_connected_is_named_with_its_address(said, family, host, shown):
    server = f'server = listening(socket.{family}, ({host!r}, 0))\nmore = server.getsockname()[1]\n'
    text, port = said(server + 'it = server')
    assert text == 'listens on ' + shown % port
    text, port = said(server + 'it = connected(server)')
    assert text == 'is connected to ' + shown % port


@pytest.mark.parametrize('kind', ['SOCK_STREAM', 'SOCK_SEQPACKET'])
def test_a_unix_socket_is_named_by_its_path(said, kind, tmp_path):
    text, _ = said(f'more = 0\nit = listening(socket.AF_UNIX, folder + "/here", socket.{kind})')
    assert text == f'listens on {tmp_path}/here'


def test_names_as_long_as_may_be_are_shown_whole(said):
    text, path = said('os.chdir(folder)\nmore = "x" * 107\nit = listening(socket.AF_UNIX, more)')
    assert text == 'listens on ' + path
    text, name = said('more = ("%d" % os.getpid()).rjust(107, "x")\nit = listening(socket.AF_UNIX, "\\0" + more)')
    assert text == 'listens on @' + name


def test_a_unix_socket_without_a_path_is_named_by_its_name_or_as_one_without(said):
    text, name = said('more = "portico-test-%d" % os.getpid()\nit = listening(socket.AF_UNIX, "\\0" + more)')
    assert text == 'listens on @' + name
    text, _ = said('more = 0\nit, other = socket.socketpair()')
    assert text == 'is connected to a socket without a name'


@pytest.mark.parametrize('code', [
    'it = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); it.connect(("127.0.0.1", 9))',
    'it, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)',
    'it = socket.socket()',  # neither listens nor is connected
    'it, other = os.pipe()',
    'it = open("/dev/null")',
    'it = 9999',
], ids=['udp', 'unix datagrams', 'unused', 'pipe', 'file', 'closed'])
def test_all_else_may_be_shared(said, code):
    assert said(code + '\nmore = 0')[0] is None
