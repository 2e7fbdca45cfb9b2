"""The base: imports what several sites share, and forks their zygotes, which begin as a fresh interpreter would.

A part of boot.py, with `_portico` set. It never runs with more rights than the sites have, and imports nothing of
theirs: their directories are not on its path. The zygotes become children of the supervisor, so that they go on when
the base ends; their environment comes from there as well, and the base never sees it.
"""
import gc
import os
import sys
import time

_portico = globals()['_portico']

NO_FILES = ('/memfd:', '/dev/', '/SYSV', '/proc/')  # memory, and the engine where it is in memory
LEEWAY = 20_000_000  # nanoseconds: a file's times are as coarse as the kernel's clock ticks


def import_all(names, print_exception):
    """Imports the modules in their order; why that failed, or ''."""
    import importlib
    for name in names:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            return '%s failed: there is no module %r in %s' % (name, error.name, os.pathsep.join(sys.path))
        except BaseException as error:
            print_exception()
            return '%s failed: %s: %s' % (name, type(error).__name__, error)
    return ''


# -- what it is made of --------------------------------------------------------------------------------------------

def stamp(path):
    """Differs when something else lies there."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def mapped_files():
    """The interpreter, its libraries, and those of extension modules."""
    with open('/proc/self/maps', errors='surrogateescape') as maps:
        rows = (line.rstrip('\n').split(None, 5) for line in maps)
        return {row[5] for row in rows if len(row) == 6}


def module_files():
    """Of each module its file, and where its submodules are looked for: what comes to lie there may be found first."""
    for module in list(sys.modules.values()):
        facts = getattr(module, '__dict__', {})
        if isinstance(facts.get('__file__'), str):
            yield facts['__file__']
        yield from (path for path in facts.get('__path__') or () if isinstance(path, str))


class Files:
    """Everything that a fresh interpreter would read anew, as it was when it was read."""

    def __init__(self, began):
        found = {*mapped_files(), *module_files(), *sys.path, sys.executable, os.path.join(sys.prefix, 'pyvenv.cfg')}
        paths = {path for path in found if path.startswith('/') and not path.startswith(NO_FILES)}
        self.stamps = {path: stamp(path) for path in paths}
        self.young = next((path for path in paths if self.is_younger(path, began - LEEWAY)), None)

    @staticmethod
    def is_younger(path, began):
        """Whether a file came to lie there while it was read. A folder changes where bytecode is written."""
        try:
            return not os.path.isdir(path) and os.stat(path).st_ctime_ns >= began
        except OSError:
            return path.endswith(' (deleted)')

    def changed(self):
        """One that is not what was imported, or None."""
        return self.young or next((path for path, was in self.stamps.items() if stamp(path) != was), None)


# -- making zygotes ------------------------------------------------------------------------------------------------

class Base:
    def __init__(self, control, messages):
        self.control = control
        self.messages = messages
        self.collects = gc.isenabled()

    def freeze(self):
        """What is alive now is never looked at by a collection, so that its pages stay shared."""
        gc.collect()
        gc.disable()
        gc.freeze()

    def run(self, files):
        """Serves the control socket. Returns None at its end, and in each zygote that zygote's control socket."""
        while True:
            verb, values, descriptors = self.messages.listen(self.control)
            if verb != 'fork':
                return None
            serial = int(values['serial'])
            changed = files.changed()
            if changed is not None:
                self.messages.tell(self.control, 'changed', serial=serial, what=changed)
            elif self.bear(serial):
                return self.become(*descriptors)
            for descriptor in descriptors:
                os.close(descriptor)

    def bear(self, serial):
        """Forks twice: who loses its parent becomes a child of the supervisor. True in the zygote."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        reading, writing = os.pipe()
        between = self.fork()
        if between == 0:
            os.setsid()  # what the base leaves behind is ended by its session
            pid = self.fork()
            if pid:
                self.tell_and_leave(writing, pid)
            os.close(reading)
            os.close(writing)
            return True
        os.close(writing)
        if between > 0:
            os.waitpid(between, 0)
        self.messages.tell(self.control, 'born', serial=serial, pid=int(os.read(reading, 20) or 0))
        os.close(reading)
        return False

    @staticmethod
    def tell_and_leave(writing, pid):
        try:
            os.write(writing, b'%d' % pid)
        finally:
            os._exit(0)

    def fork(self):
        try:
            return os.fork()
        except OSError:
            self.messages.print_exception()
            return -1

    def become(self, control, output):
        """A zygote: a process as the supervisor would have started it."""
        os.setsid()
        os.close(self.control)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        os.set_blocking(control, True)
        verb, values, descriptors = self.messages.listen(control)
        if verb != 'become':
            os._exit(0)  # it is not wanted any more
        _portico.die_with_parent(os.getppid())
        _portico.rename(values['site'].decode('utf-8', 'replace'))
        take_environment(descriptors[0])
        if self.collects:
            gc.enable()
        return control


def take_environment(descriptor):
    """The variables of this site, all of them and no others."""
    with open(descriptor, 'rb') as file:
        file.seek(0)
        variables = dict(row.split(b'=', 1) for row in file.read().split(b'\0') if row)
    for name in list(os.environb):
        del os.environb[name]
    os.environb.update(variables)


def run(control, values, messages, audit):
    """A base to its end, which is None; or the control socket of a zygote in that zygote."""
    began = time.time_ns()
    if sys.path[:1] == ['']:
        del sys.path[0]  # a site puts its directory there
    failure = import_all(values['imports'].decode().split(','), messages.print_exception)
    if failure:
        return messages.tell(control, 'failed', reason=' '.join(failure.split())[:500]) and None
    unfit = audit.findings((control,))
    base = Base(control, messages)
    base.freeze()
    files = Files(began)
    messages.tell(control, 'imported', **({'unfit': ', '.join(unfit)} if unfit else {}))
    return base.run(files)
