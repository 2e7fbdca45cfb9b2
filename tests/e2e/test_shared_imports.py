"""shared_imports: the Python of several sites is forked from a base, and no site depends on that."""
import json
import os
import re
import signal
import subprocess

import pytest

import processes
from door import PYTHON, command
from load import Load
from waiting import eventually

HOSTS = ['a.example', 'b.example']
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason='users are changed by root only')

# Tells of the process that answers, and of the package that is shared.
CODE = '''
import json, os, sys, threading
import shared_package
def application(environ, start_response):
    start_response('200 OK', [('Content-Type', 'application/json')])
    return [json.dumps({'site': SITE, 'pid': os.getpid(), 'zygote': os.getppid(), 'session': os.getsid(0),
                        'prefix': sys.prefix, 'importer': shared_package.IMPORTER, 'version': shared_package.VERSION,
                        'environment': dict(os.environ), 'path': sys.path, 'arguments': sys.argv,
                        'directory': os.getcwd(), 'user': os.getuid(), 'umask': os.umask(0o022), 'hash': hash('x'),
                        'file': shared_package.__file__, 'own': sorted(os.listdir('/proc/self/fd'))}).encode()]
'''


def write_package(folder, version, more=''):
    """A package beside the sites, exchanged as an installer does it."""
    package = folder / 'packages' / 'shared_package'
    package.mkdir(parents=True, exist_ok=True)
    other = package / 'new'
    other.write_text(f'import os, sys\nIMPORTER = os.getpid()\nVERSION = {version!r}\n{more}\n')
    other.rename(package / '__init__.py')


class Sites:
    """Two sites with one package, behind a door; more: further keys, of all or of each; variables: likewise."""

    def __init__(self, portico, folder, more=', workers: 1', top='shared_imports: [shared_package]', each=('', ''),
                 package='', variables=('', '')):
        self.folder = folder
        write_package(folder, '1', package)
        text = top + '\nsites:\n'
        for host, own, variable in zip(HOSTS, each, variables):
            place = folder / host
            place.mkdir()
            (place / 'shop.py').write_text(f'SITE = {host!r}\n' + CODE)
            text += (f'  {host}: {{wsgi: shop, directory: {place}, '
                     f'environment: {{PYTHONPATH: {folder}/packages, SITE: {host}{variable}}}{more}{own}}}\n')
        self.door = portico(text)

    def facts(self, host):
        answer = self.door.get('/', host)
        assert answer.status == 200, answer.body
        return json.loads(answer.body)

    def all_facts(self):
        return [self.facts(host) for host in HOSTS]

    def bases(self):
        return [pid for pid in processes.children(self.door.pid)
                if b''.join(processes.command_line(pid)[-1:]).strip() == b'base']

    def base(self):
        found = self.bases()
        assert len(found) == 1
        return found[0]

    def deploy(self, host):
        return command('deploy', host, '--config', self.door.file)


def test_sites_are_forked_from_one_base(portico, folder):
    sites = Sites(portico, folder)
    for host, said in zip(HOSTS, sites.all_facts()):
        assert said['site'] == said['environment']['SITE'] == host
        assert said['importer'] == sites.base()
        assert processes.parent(said['zygote']) == sites.door.pid and said['session'] == said['zygote']
        assert processes.command_line(said['zygote'])[4:6] == [b'3', host.encode()]
    assert 'shares no imports' not in sites.door.log()


def test_a_zygote_of_a_base_is_like_any_other(portico, folder):
    """But for what is imported: everything that an application can see of its process."""
    shared, alone = Sites(portico, folder, each=('', ', shared_imports: []')).all_facts()
    assert shared['importer'] != shared['zygote'] and alone['importer'] == alone['zygote']
    for said in (shared, alone):
        for name in ('pid', 'zygote', 'session', 'importer', 'hash'):
            del said[name]
    text = json.dumps(alone).replace(HOSTS[1], HOSTS[0])
    assert shared == json.loads(text)


def test_sites_share_only_what_they_have_in_common(portico, folder):
    sites = Sites(portico, folder, each=(', shared_imports: [shared_package, json.tool]', ''))
    one, other = sites.all_facts()
    assert {one['importer'], other['importer']} == set(sites.bases()) and len(sites.bases()) == 2


def test_random_numbers_are_each_sites_own(portico, folder):
    sites = Sites(portico, folder, package='import random\nrandom.random()')
    for host in HOSTS:
        with (folder / host / 'shop.py').open('a') as file:
            file.write('\nfrom shared_package import random\nos.environ["DRAWN"] = str(random.random())\n')
        assert sites.deploy(host).returncode == 0
    one, other = sites.all_facts()
    assert one['importer'] == other['importer'] and one['environment']['DRAWN'] != other['environment']['DRAWN']


def test_an_environment_that_is_exchanged_has_a_base_of_its_own(portico, folder):
    """As `python: current/venv`, with a link that leads to another one at the next deploy."""
    for name in ('one', 'two'):
        subprocess.run([PYTHON, '-m', 'venv', '--without-pip', folder / name], check=True)
    (folder / 'current').symlink_to('one')
    sites = Sites(portico, folder, f', workers: 1, python: {folder}/current')
    before = sites.all_facts()
    (folder / 'other').symlink_to('two')
    (folder / 'other').rename(folder / 'current')
    assert sites.deploy(HOSTS[0]).returncode == 0
    one, other = sites.all_facts()
    assert [said['prefix'] for said in before] == [f'{folder}/one'] * 2
    assert (one['prefix'], other['prefix']) == (f'{folder}/two', f'{folder}/one')
    assert one['importer'] != before[0]['importer'] == other['importer']
    assert sites.deploy(HOSTS[1]).returncode == 0
    assert sites.facts(HOSTS[1])['importer'] == one['importer']
    eventually(lambda: sites.bases() == [one['importer']], what='the end of the first base')


def test_variables_of_an_interpreter_part_sites(portico, folder):
    sites = Sites(portico, folder, variables=('', ', PYTHONHASHSEED: "7"'))
    one, two = sites.all_facts()
    assert len(sites.bases()) == 2 and one['importer'] != two['importer']


@needs_root
@pytest.mark.parametrize('users, bases', [(('daemon', 'nobody'), 2), (('daemon', 'daemon'), 1)])
def test_a_base_is_its_sites_user(portico, folder, users, bases):
    sites = Sites(portico, folder, each=[f', user: {user}' for user in users])
    for said in sites.all_facts():
        assert processes.status(said['importer'], 'Uid') == [str(said['user'])] * 4
        assert said['user'] != 0 and said['importer'] in sites.bases()
    assert len(sites.bases()) == bases


@pytest.mark.parametrize('more', [', workers: 1, threads: 3', ', workers: 1, preload: false'])
def test_with_threads_and_without_preload(portico, folder, more):
    sites = Sites(portico, folder, more)
    assert {said['importer'] for said in sites.all_facts()} == {sites.base()}


def test_sites_go_on_when_the_base_is_killed_and_the_next_deploy_has_another(portico, folder):
    sites = Sites(portico, folder)
    first = sites.all_facts()
    base = sites.base()
    loads = [Load(sites.door, method, number, host=host)
             for number, (method, host) in enumerate((method, host) for method in ('GET', 'POST') for host in HOSTS)]
    for load in loads:
        load.start()
    os.kill(base, signal.SIGKILL)
    sites.door.wait_for_log(r'\[base 1\] the base was killed by signal 9')
    assert sites.all_facts() == first
    eventually(lambda: sites.deploy(HOSTS[0]).returncode == 0 and sites.bases(), what='another base, after a pause')
    for load in loads:
        load.stop.set()
        load.join()
        assert load.failed == [] and load.statuses[200] > 0
    one, other = sites.all_facts()
    assert one['importer'] == sites.base() != base and other == first[1]


def test_a_deploy_after_a_package_has_changed_runs_the_new_code(portico, folder):
    sites = Sites(portico, folder)
    assert [said['version'] for said in sites.all_facts()] == ['1', '1']
    before = sites.base()
    write_package(folder, '2')
    assert sites.deploy(HOSTS[0]).returncode == 0
    assert [said['version'] for said in sites.all_facts()] == ['2', '1']
    sites.door.wait_for_log(r'\[base 1\] .*/shared_package(/__init__.py)? has changed; another base takes its place')
    eventually(lambda: not processes.alive(before), what='the end of the old base')
    assert sites.deploy(HOSTS[1]).returncode == 0
    one, other = sites.all_facts()
    assert one['importer'] == other['importer'] == sites.base() and other['version'] == '2'


def test_a_deploy_of_what_has_not_changed_keeps_the_base(portico, folder):
    sites = Sites(portico, folder)
    before = sites.all_facts()
    assert all(sites.deploy(host).returncode == 0 for host in HOSTS)
    after = sites.all_facts()
    assert {said['importer'] for said in before + after} == {sites.base()}
    assert all(old['zygote'] != new['zygote'] for old, new in zip(before, after))


# In the base alone; the sites import it as ever.
IN_BASE = 'if b"base" in open("/proc/self/cmdline", "rb").read(): '


@pytest.mark.parametrize('package, why', [
    (IN_BASE + 'raise ValueError("not today")', 'importing shared_package failed: ValueError: not today; mend it'),
    (IN_BASE + 'os._exit(3)', 'the base ended with status 3'),
    ('import threading\nthreading.Thread(target=threading.Event().wait, name="ticker", daemon=True).start()',
     'leaves behind the thread ticker, which zygotes forked from there would share or miss')])
def test_sites_that_cannot_share_run_by_themselves(portico, folder, package, why):
    sites = Sites(portico, folder, package=package)
    for said in sites.all_facts():
        assert said['importer'] in (said['zygote'], said['pid'])
    assert len(re.findall(rf'warning \[[ab].example\] shares no imports: .*{re.escape(why)}', sites.door.log())) == 2
    eventually(lambda: not sites.bases(), what='the end of the base')
    write_package(folder, '2')
    eventually(lambda: sites.deploy(HOSTS[0]).returncode == 0 and sites.bases(), what='a base after the pause')
    assert sites.facts(HOSTS[0])['importer'] == sites.base()


def test_a_module_that_is_not_there_is_named(portico, folder):
    sites = Sites(portico, folder, top='shared_imports: [shared_package, no_such_module]')
    assert all(said['importer'] == said['zygote'] for said in sites.all_facts())
    why = r"importing no_such_module failed: there is no module 'no_such_module' in .*/packages"
    assert re.search(why, sites.door.log())


def test_a_site_with_such_a_module_of_its_own_shares_nothing(portico, folder):
    (folder / 'packages').mkdir()
    sites_folder = folder / HOSTS[0]
    sites = Sites(portico, folder, top='shared_imports: [shared_package, xml.dom]')
    (sites_folder / 'xml.py').write_text('')
    assert sites.facts(HOSTS[0])['importer'] == sites.base()
    done = sites.deploy(HOSTS[0])
    assert done.returncode == 0 and f'{sites_folder}/xml.py has the name of a shared one' in done.stdout
    said = sites.facts(HOSTS[0])
    assert said['importer'] == said['zygote']


def test_a_base_that_hangs_holds_up_nobody_for_long(portico, folder):
    sites = Sites(portico, folder, ', workers: 1, timeouts: {start: 4s}',
                  package='import time\n' + IN_BASE + 'time.sleep(3600)')
    assert all(said['importer'] == said['zygote'] for said in sites.all_facts())
    assert 'shares no imports: the base does not answer in time' in sites.door.log()
    eventually(lambda: not sites.bases(), what='the end of the base')


def test_a_stopped_base_holds_up_no_deploy_for_long(portico, folder):
    sites = Sites(portico, folder, ', workers: 1, timeouts: {start: 4s}')
    sites.all_facts()
    base = sites.base()
    os.kill(base, signal.SIGSTOP)
    done = sites.deploy(HOSTS[0])
    assert done.returncode == 0 and 'the base does not answer in time' in done.stdout
    eventually(lambda: not processes.alive(base), what='the end of the base')


def test_a_site_of_a_base_whose_zygote_dies_is_back(portico, folder):
    sites = Sites(portico, folder)
    first = sites.facts(HOSTS[0])
    os.kill(first['zygote'], signal.SIGKILL)
    sites.door.wait_for_log(r'\[a.example\] its Python was killed by signal 9')
    second = eventually(lambda: (said := sites.facts(HOSTS[0]))['pid'] != first['pid'] and said, what='another zygote')
    assert second['importer'] == first['importer'] == sites.base() and second['zygote'] != first['zygote']


def test_a_zygote_that_dies_in_its_import_is_tried_without_the_base(portico, folder):
    sites = Sites(portico, folder)
    sites.all_facts()
    with (folder / HOSTS[0] / 'shop.py').open('a') as file:
        file.write('\nif shared_package.IMPORTER != os.getpid(): os._exit(9)\n')
    done = sites.deploy(HOSTS[0])
    assert done.returncode == 0 and 'shares no imports: its zygote ended with status 9' in done.stdout
    said = sites.facts(HOSTS[0])
    assert said['importer'] == said['zygote']


def test_when_all_sites_sleep_the_base_ends(portico, folder):
    sites = Sites(portico, folder, ', workers: {min: 0, max: 1, idle: 1s}')
    assert not sites.bases()
    first = sites.all_facts()
    base = sites.base()
    assert {said['importer'] for said in first} == {base}
    eventually(lambda: not sites.bases(), what='the end of the base')
    assert processes.children(sites.door.pid) == [sites.door.front()]
    assert 'the base' not in sites.door.log()
    again = sites.all_facts()
    assert {said['importer'] for said in again} == {sites.base()} != {base}


def test_nothing_is_left_after_the_end(portico, folder):
    sites = Sites(portico, folder)
    sites.all_facts()
    known = sites.door.remember_descendants()
    assert sites.door.stop() == 0
    assert not [pid for pid in known if processes.alive(pid)]


def test_all_ends_with_the_supervisor(portico, folder):
    sites = Sites(portico, folder)
    sites.all_facts()
    known = sites.door.remember_descendants()
    sites.door.signal(signal.SIGKILL)
    eventually(lambda: not any(map(processes.alive, known)), what='the end of everything')
