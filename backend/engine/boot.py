"""The Python half of the engine: loads a WSGI application, forks workers, ends them in good order.

Runs in the site's own interpreter as `PYTHON -c LOADER ENGINE CONTROL`: loader.py loads the extension module and runs
this text with `_portico` set. backend/record/README.md has the messages. Imports as little as it can: whatever is
imported here is in every application's process. Its parts stand beside it; they are modules that only it sees.
"""
import gc
import os
import sys

_portico = globals()['_portico']


def part(name):
    """A text of the engine, such as messages.py, as a module."""
    module = type(sys)('portico_' + name)
    module._portico = _portico
    exec(compile(_portico.texts[name], '<portico %s>' % name, 'exec'), module.__dict__)
    return module


messages = part('messages')
references = part('references')
offer = part('offer')

complain = messages.complain
listen = messages.listen
print_exception = messages.print_exception
tell = messages.tell


# -- the worker ----------------------------------------------------------------------------------------------------

def flag(values, key, default):
    return values.get(key, default) == b'1'


def environ_constants(values):
    constants = {
        key[len('environ.'):]: value.decode('latin-1')
        for key, value in values.items() if key.startswith('environ.')
    }
    constants.update({
        'SERVER_SOFTWARE': 'portico/' + _portico.version,
        'GATEWAY_INTERFACE': 'CGI/1.1',
        'wsgi.version': (1, 0),
        'wsgi.multithread': int(values['threads']) > 1,
        'wsgi.multiprocess': flag(values, 'multiprocess', b'1'),
        'wsgi.run_once': False,
        'wsgi.input_terminated': True,
        'wsgi.file_wrapper': _portico.FileWrapper,
    })
    return constants


def serve(values, application, queue, cells, worker, descriptors):
    """Opens the worker and serves in all of its threads, until it leaves."""
    control, answers = descriptors[0], descriptors[1:]
    threads = int(values['threads'])
    _portico.open_worker(application, environ_constants(values), queue, cells, control, answers, worker,
                         threads, int(values['front_threads']), flag(values, 'embedded', b'0'))
    others = []
    if threads > 1:
        import threading
        others = [threading.Thread(target=_portico.serve, args=(index,), name='portico-%d' % index)
                  for index in range(1, threads)]
        for other in others:
            other.start()
    tell(control, 'ready')
    _portico.serve(0)
    for other in others:
        other.join()


def leave(status):
    """Ends a forked worker as an interpreter ends, but never through the zygote's frames."""
    try:
        threading = sys.modules.get('threading')
        if threading is not None:
            threading._shutdown()
        import atexit
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except BaseException:
        print_exception()
        status = status or 1
    os._exit(status)


# -- the zygote ----------------------------------------------------------------------------------------------------

class Zygote:
    """Forks workers until told to stop: of the application, where it was imported here, or to import it themselves."""

    def __init__(self, control, values, queue, cells):
        self.control = control
        self.values = values
        self.queue = queue
        self.cells = cells
        self.application = None
        self.offer = offer.Offer(complain)
        sys.meta_path.append(self.offer)
        self.collects = gc.isenabled()
        self.workers = {}

    def load(self):
        """Imports the application; False after saying why not."""
        return self.attempt(self.import_application)

    def run_hooks(self):
        """In the one process there is, in place of each worker; False after saying why not."""
        return self.attempt(self.offer.run_hooks)

    def attempt(self, step):
        try:
            step()
        except BaseException as error:
            self.refuse(error)
            return False
        return True

    def import_application(self):
        directory = os.fsdecode(self.values['directory'])
        os.chdir(directory)
        references.enter(directory)
        self.application = references.load_application(os.fsdecode(self.values['application']))

    def refuse(self, error):
        if isinstance(error, references.NotFound):
            reason = str(error)
        elif isinstance(error, SystemExit):
            reason = 'SystemExit: it called sys.exit(%r) while it was imported' % (error.code,)
        else:
            print_exception()
            reason = '%s: %s' % (type(error).__name__, error)
        tell(self.control, 'failed', reason=' '.join(reason.split())[:500])

    def freeze(self):
        """What is alive now stays: no collection touches it, so that its pages stay shared with the workers."""
        self.collects = gc.isenabled()
        gc.collect()
        gc.disable()
        gc.freeze()

    def run(self):
        """Serves the control socket. Returns in the zygote at its end, and never in a worker."""
        open_for_forks = True
        while open_for_forks or self.workers:
            readable = _portico.wait(self.control if open_for_forks else -1)
            self.reap()
            if not readable:
                continue
            verb, values, descriptors = listen(self.control)
            if verb == 'fork':
                self.fork(int(values['worker']), descriptors)
            elif verb == 'renew':
                self.renew(values, *descriptors[:2])
            elif verb in ('', 'stop'):
                open_for_forks = False

    def renew(self, values, queue, cells):
        """Workers forked from now on belong to a new front, with a queue and cells of its own."""
        os.close(self.queue)
        os.close(self.cells)
        self.queue = queue
        self.cells = cells
        self.values['front_threads'] = values.get('front_threads', self.values['front_threads'])

    def fork(self, worker, descriptors):
        zygote = os.getpid()
        try:
            pid = os.fork()
        except OSError:
            print_exception()
            tell(self.control, 'exited', worker=worker, pid=0, status=256)
            pid = None
        if pid == 0:
            self.become_worker(zygote, worker, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        if pid is not None:
            self.workers[pid] = worker
            tell(self.control, 'forked', worker=worker, pid=pid)

    def become_worker(self, zygote, worker, descriptors):
        status = 0
        try:
            _portico.release_signals()
            os.close(self.control)
            self.control = descriptors[0]
            os.setpgid(0, 0)
            if not _portico.die_with_parent(zygote):
                os._exit(0)
            if self.collects:
                gc.enable()
            if self.application is None and not self.load():
                leave(1)
            self.offer.run_hooks()
            serve(self.values, self.application, self.queue, self.cells, worker, descriptors)
        except BaseException:
            print_exception()
            status = 1
        leave(status)

    def reap(self):
        """Reports the workers that have died. Only our own pids are asked for: others are the application's."""
        for pid in list(self.workers):
            try:
                dead, status = os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                dead, status = pid, 256
            if dead:
                tell(self.control, 'exited', worker=self.workers.pop(pid), pid=pid, status=status)


def show_stacks_when_asked():
    """From here on, and in forked workers, the reserved signal shows all stacks, whoever holds the GIL."""
    try:
        import faulthandler
        faulthandler.register(_portico.stack_signal, messages.errors)
    except Exception:  # an interpreter built without: the supervisor sees that the signal is not caught
        pass


# -- embedded: the same inside the front's process -----------------------------------------------------------------

def redirect(output):
    """This process's own streams are the front's: the application has a pipe to its site's log."""
    messages.errors = output
    _portico.report_to(output)
    sys.stdout = sys.__stdout__ = open(output, 'w', 1, 'utf-8', 'backslashreplace', closefd=False)
    sys.stderr = sys.__stderr__ = open(output, 'w', 1, 'utf-8', 'backslashreplace', closefd=False)


def be_called(control, values, application, cells):
    """The front's loop calls the application itself, while this thread waits for the end."""
    _portico.open_direct(application, environ_constants(values), cells)
    tell(control, 'ready')
    listen(control)


def embed(control, values, descriptors):
    """Imports, as often as told, and serves in the thread that runs this interpreter, until the front drains."""
    queue, cells, output = descriptors[:3]
    redirect(output)
    show_stacks_when_asked()
    os.umask(0o022)
    zygote = Zygote(control, values, queue, cells)
    while not (zygote.load() and zygote.run_hooks()):
        if listen(control)[0] != 'again':
            return
        zygote.offer.forget_failed()
        import importlib
        importlib.invalidate_caches()
    tell(control, 'imported', pid=os.getpid())
    try:
        if not int(values['threads']):
            return be_called(control, values, zygote.application, cells)
        serve(values, zygote.application, queue, cells, int(values['worker']), [control] + descriptors[3:])
    except BaseException as error:  # a SystemExit would end the front
        zygote.refuse(error)


# -- the start -----------------------------------------------------------------------------------------------------

def hide_and_show(values):
    """Nobody of the same user may look inside; who may ask is shown the stacks."""
    show_stacks_when_asked()
    if flag(values, 'private', b'0'):
        _portico.hide()


def be_zygote(control, values, descriptors):
    hide_and_show(values)
    zygote = Zygote(control, values, *descriptors[:2])
    unfit = []
    if flag(values, 'preload', b'1'):
        if not zygote.load():
            return 1
        unfit = part('audit').findings((control, zygote.queue))
    zygote.freeze()
    tell(control, 'imported', **({'unfit': ', '.join(unfit)} if unfit else {}))
    zygote.run()
    return 0


def be_base(control, values):
    """A base to its end; in a zygote that it has forked, what that has as its control socket."""
    hide_and_show(values)
    return part('base').run(control, values, messages, part('audit'))


def main():
    engine, control = sys.argv[1:3]
    control = int(control)
    os.set_inheritable(control, False)
    os.set_blocking(control, True)
    _portico.die_with_parent(os.getppid())
    if engine.isdigit():
        os.close(int(engine))
    verb, values, descriptors = listen(control)
    if verb == 'base':
        control = be_base(control, values)
        if control is None:
            return 0
        verb, values, descriptors = listen(control)
    if verb != 'setup':
        return 1
    if flag(values, 'embedded', b'0'):
        return embed(control, values, descriptors)
    return be_zygote(control, values, descriptors)


if main():
    sys.exit(1)
