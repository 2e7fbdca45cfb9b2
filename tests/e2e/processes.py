"""What /proc says of the processes of a Portico."""
import os
import pathlib


def stat(pid):
    """The fields of /proc/PID/stat from the state on, or None when there is no such process."""
    try:
        text = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text.rsplit(')', 1)[1].split()


def alive(pid):
    """True unless it has ended (a zombie has)."""
    fields = stat(pid)
    return fields is not None and fields[0] not in 'ZX'


def children(pid):
    """The living children of a process."""
    everyone = [int(name) for name in os.listdir('/proc') if name.isdigit()]
    return [each for each in everyone
            if (fields := stat(each)) and int(fields[1]) == pid and fields[0] not in 'ZX']


def descendants(pid):
    found = []
    for child in children(pid):
        found += [child, *descendants(child)]
    return found


def command_line(pid):
    """The arguments of a process; none of one that has ended."""
    try:
        return pathlib.Path(f'/proc/{pid}/cmdline').read_bytes().split(b'\0')[:-1]
    except (FileNotFoundError, ProcessLookupError):
        return []


def status(pid, name):
    """One line of /proc/PID/status, such as status(pid, 'NoNewPrivs')."""
    for line in pathlib.Path(f'/proc/{pid}/status').read_text().splitlines():
        if line.startswith(name + ':'):
            return line.split(':', 1)[1].split()
    return None


def descriptors(pid):
    """number -> what it is, such as 'socket:[123]' or a path."""
    folder = f'/proc/{pid}/fd'
    found = {}
    for number in os.listdir(folder):
        try:
            found[int(number)] = os.readlink(f'{folder}/{number}')
        except FileNotFoundError:
            pass  # closed meanwhile
    return found


def parent(pid):
    return int(stat(pid)[1])
