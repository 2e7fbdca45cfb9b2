"""What the front is allowed and what it holds: user, privileges, dumps, session, descriptors."""
import os
import re
import signal

import pytest

import processes
from endpoint import text


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason='only root may look so deep')


@pytest.fixture
def door(portico, endpoint):
    end = endpoint(lambda request: text('ok'))
    return portico(f'front_threads: 2\nsites:\n  a.example: {{to: "{end.address}"}}\n')


@needs_root
def test_started_as_root_the_front_is_nobody_special(door):
    front = door.front()
    users = set(processes.status(front, 'Uid')) | set(processes.status(front, 'Gid'))
    assert '0' not in users
    assert '0' not in processes.status(front, 'Groups')
    for capabilities in ('CapInh', 'CapPrm', 'CapEff', 'CapAmb'):
        assert int(processes.status(front, capabilities)[0], 16) == 0


def test_no_new_privileges_and_no_core_dumps(door):
    front = door.front()
    assert processes.status(front, 'NoNewPrivs') == ['1']
    limits = open(f'/proc/{front}/limits').read()
    assert re.search(r'Max core file size +0 +0 ', limits)


@pytest.mark.skipif(os.geteuid() == 0, reason='root may look everywhere')
def test_others_of_the_same_user_cannot_look_into_the_front(door):
    with pytest.raises(PermissionError):
        processes.descriptors(door.front())


def test_the_front_has_a_session_of_its_own(door):
    front = door.front()
    session = int(processes.stat(front)[3])
    assert session == front != os.getsid(door.pid)


def test_open_files_are_raised_to_the_hard_limit(door):
    limits = open(f'/proc/{door.front()}/limits').read()
    soft, hard = re.search(r'Max open files +(\w+) +(\w+)', limits).groups()
    assert soft == hard


@needs_root
def test_the_front_gets_no_descriptor_but_its_own(portico, endpoint):
    """Descriptors that Portico inherited, or has for itself, do not leak through the exec."""
    end = endpoint(lambda request: text('ok'))
    readable, writable = os.pipe()
    door = portico(f'front_threads: 3\nsites:\n  a.example: {{to: "{end.address}"}}\n',
                   inherits=(readable, writable))
    os.close(readable)
    os.close(writable)
    supervisors = set(processes.descriptors(door.pid).values())
    assert any(what.startswith('pipe:') for what in supervisors)  # it has them, and
    fronts = processes.descriptors(door.front()).values()
    assert not any(what.startswith('pipe:') for what in fronts)  # keeps them to itself
    shared = [what for what in fronts if what.startswith('socket:') and what in supervisors]
    assert len(shared) == 3  # the listener's, one a thread


def test_workers_get_neither_listeners_nor_the_configuration(portico, folder):
    """What the front holds is not for the site's code: only the worker's own channels are."""
    (folder / 'hello.py').write_text('import os\n'
                                     'def application(environ, start_response):\n'
                                     '    start_response("200 OK", [])\n'
                                     '    return [str(os.getpid()).encode()]\n')
    door = portico(f'sites:\n  a.example: {{wsgi: hello, directory: {folder}}}\n')
    worker = int(door.get('/', 'a.example').body)
    zygote = int(processes.stat(worker)[1])
    listeners = listening_sockets(door.pid)
    assert listeners
    for pid in (zygote, worker):
        held = processes.descriptors(pid).values()
        assert not listeners & set(held)
        assert not [what for what in held if 'portico-configuration' in what]


def listening_sockets(pid):
    """The TCP sockets of a process that listen, as 'socket:[inode]'."""
    rows = [line.split() for name in ('tcp', 'tcp6') for line in open(f'/proc/{pid}/net/{name}')]
    inodes = {f'socket:[{row[9]}]' for row in rows if row[3] == '0A'}  # TCP_LISTEN
    return inodes & set(processes.descriptors(pid).values())


def test_a_front_that_reads_nothing_of_what_it_is_told_is_killed_and_another_comes(portico, endpoint, folder):
    """It is told of logs again and again, with long names, so that little has to be sent."""
    deep = folder.joinpath(*['d' * 240] * 14)
    deep.mkdir(parents=True)
    end = endpoint(lambda request: text('ok'))
    door = portico('sites:\n' + ''.join(
        f'  s{number}.example: {{to: "{end.address}", log: {{access: {deep}/{number}}}}}\n' for number in range(50)))
    front = door.front()
    os.kill(front, signal.SIGSTOP)
    for opened in range(1, 200):
        door.signal(signal.SIGUSR1)
        door.wait_for_log('log files opened anew', times=opened)
        if 'the front has not read what it was told for a long time; it is killed' in door.log():
            break
    door.wait_for_log('the front is back')
    assert not processes.alive(front)
    assert door.get('/', 's1.example').status == 200
