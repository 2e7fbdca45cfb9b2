"""Finds `import portico` for the application that is loaded, and runs the hooks that it leaves there.

A part of boot.py, with `_portico` set.
"""
_portico = globals()['_portico']


class Offer:
    """Finds `import portico`, which is portico.py; asked last, so that a site's own module of that name comes first."""

    def __init__(self, complain):
        self.complain = complain
        self.module = None

    def find_spec(self, name, path=None, target=None):
        if name != 'portico':
            return None
        from importlib.machinery import ModuleSpec
        return ModuleSpec(name, self, origin='the engine of Portico')

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__version__ = _portico.version
        exec(compile(_portico.texts['portico'], '<portico.py>', 'exec'), module.__dict__)
        self.module = module

    def run_hooks(self):
        if self.module:
            self.module._run_hooks(self.complain)

    def forget_failed(self):
        if self.module:
            self.module._forget_failed()
