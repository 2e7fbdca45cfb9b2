"""Virtual environments by venv (linked, copied) and uv, in pools and embedded; tests/pythons: on each Python."""
import json
import shutil
import subprocess

import pytest

from door import PYTHON
from modes import MODES

HOST = 'a.example'
CODE = '''
import json, os, ssl, sys, sysconfig, only_here
def application(environ, start_response):
    start_response('200 OK', [('Content-Type', 'application/json')])
    return [json.dumps({'prefix': sys.prefix, 'base': sys.base_prefix, 'executable': sys.executable,
                        'version': sys.version_info[:3], 'only_here': only_here.__file__}).encode()]
'''
MAKERS = {
    'venv': [PYTHON, '-m', 'venv', '--without-pip'],
    'copies': [PYTHON, '-m', 'venv', '--without-pip', '--copies'],
    'uv': ['uv', 'venv', '--quiet', '--python', PYTHON],
}


@pytest.fixture(params=MAKERS)
def venv(request, folder):
    """A virtual environment, beside the application, with a package that is nowhere else."""
    maker = MAKERS[request.param]
    if not shutil.which(maker[0]):
        pytest.skip(f'{maker[0]} is not installed')
    path = folder / 'of its own'
    subprocess.run([*maker, path], check=True, cwd=folder)
    packages, = path.glob('lib/python3*/site-packages')
    (packages / 'only_here.py').write_text('')
    return path


@pytest.mark.parametrize('mode', MODES)
def test_a_virtual_environment_is_used_as_its_own_python_uses_it(portico, folder, venv, mode):
    (folder / 'shop.py').write_text(CODE)
    mode = MODES[mode]
    site = f'{{wsgi: shop, directory: {folder}, python: "{venv}", {mode.options}}}'
    door = portico(f'{mode.top}sites:\n  {HOST}: {site}\n')
    seen = json.loads(door.get('/', HOST).body)
    script = 'import json, sys; print(json.dumps([sys.prefix, sys.base_prefix, sys.executable, sys.version_info[:3]]))'
    told = subprocess.run([venv / 'bin' / 'python', '-c', script], capture_output=True, check=True, text=True)
    assert [seen[name] for name in ('prefix', 'base', 'executable', 'version')] == json.loads(told.stdout)
    assert seen['only_here'].startswith(f'{venv}/')
