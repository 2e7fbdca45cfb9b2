"""Finds and loads an application by its reference, such as 'module:callable' or 'path/file.py:factory()'.

A part of boot.py.
"""
import os
import sys


class NotFound(Exception):
    """An application reference that leads nowhere; the message says what was looked for."""


def enter(directory):
    """Makes the interpreter look as if the application had been started in its directory."""
    if sys.path[:1] == ['']:
        sys.path[0] = directory
    elif sys.path[:1] != [directory]:
        sys.path.insert(0, directory)
    sys.argv = ['portico']
    if hasattr(sys.stdout, 'reconfigure'):
        sys.stdout.reconfigure(line_buffering=True)


def split_reference(reference):
    """'module:callable', 'path/file.py:callable()' -> (module or path, callable or None, whether to call it)."""
    where, colon, name = reference.partition(':')
    if not where or (colon and not name):
        raise NotFound('%r is not an application reference; write module:callable' % reference)
    factory = name.endswith('()')
    return where, (name[:-2] if factory else name) or None, factory


def is_file(where):
    """'app.wsgi' is a file as Apache's mod_wsgi has it, unless there is app/wsgi.py, a module as Django has it."""
    if where.endswith('.py'):
        return True
    return where.endswith('.wsgi') and ('/' in where or os.path.isfile(where)
                                        and not os.path.isfile(where[:-5].replace('.', '/') + '/wsgi.py'))


def loader_of(name, path):
    """A .py file's as usual; another's writes no bytecode, for it would have the name of a .py file's beside it."""
    from importlib.machinery import SourceFileLoader

    class Uncached(SourceFileLoader):
        def path_stats(self, path):
            raise OSError

    return (SourceFileLoader if path.endswith('.py') else Uncached)(name, path)


def load_file(path):
    import importlib.util
    path = os.path.abspath(path)
    if not os.path.isfile(path):
        raise NotFound('there is no file %s' % path)
    folder, file = os.path.split(path)
    name = os.path.splitext(file)[0]
    if folder not in sys.path:
        sys.path.insert(1, folder)
    if not name.isidentifier() or name in sys.modules:
        name = 'portico_application'
    spec = importlib.util.spec_from_file_location(name, path, loader=loader_of(name, path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load_module(name):
    import importlib
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + '.')):
            raise NotFound('there is no module %r: looked for %r in %s'
                           % (name, error.name, os.pathsep.join(sys.path))) from None
        raise


def find_callable(module, where, name):
    if name is None:
        for name in ('application', 'app'):
            if callable(getattr(module, name, None)):
                return getattr(module, name)
        raise NotFound("%s has neither a callable 'application' nor 'app'" % where)
    found = module
    for part in name.split('.'):
        if not hasattr(found, part):
            raise NotFound('%s has no %r' % (where, name))
        found = getattr(found, part)
    return found


def takes_two(application):
    """Whether two arguments fit; of what is no plain function only a call tells."""
    if type(application) is not type(takes_two):
        return True
    code, defaults = application.__code__, application.__defaults__ or ()
    most = 2 if code.co_flags & 0x04 else code.co_argcount  # CO_VARARGS
    named = code.co_kwonlyargcount - len(application.__kwdefaults__ or ())
    return code.co_argcount - len(defaults) <= 2 <= most and named == 0


def load_application(reference):
    where, name, factory = split_reference(reference)
    module = load_file(where) if is_file(where) else load_module(where)
    application = find_callable(module, where, name)
    if factory:
        application = application()
    if not callable(application):
        raise NotFound('%s in %s is not callable but %s' % (name, where, type(application).__name__))
    if not takes_two(application):
        raise NotFound('%s in %s cannot be called with environ and start_response; if it makes the application, write %s:%s()'
                       % (application.__name__, where, where, application.__name__))
    return application
