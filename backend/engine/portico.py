"""What Portico offers to the applications that it runs: the module that they `import portico`.

The engine carries this text, and boot.py loads it when it is asked for. `__version__` is Portico's.
"""
import sys

_hooks = []


def post_fork(function):
    """Decorator: calls the function, without arguments, in each worker after its fork and before its first request.

    Hooks run in the order of their registration. What one raises ends the worker as a failed start. Embedded, where
    nothing is forked, they run once after the import.
    """
    if not callable(function):
        raise TypeError('portico.post_fork takes a callable, not %r' % (function,))
    _hooks.append(function)
    return function


def _run_hooks(complain):
    for function in _hooks:
        try:
            function()
        except BaseException:
            complain('the post_fork hook %s raised' % getattr(function, '__qualname__', function))
            raise


def _forget_failed():
    """Before another import: modules that failed come again, and with them their hooks."""
    _hooks[:] = [function for function in _hooks if getattr(function, '__module__', None) in sys.modules]
