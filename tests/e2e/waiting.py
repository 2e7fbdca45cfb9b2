"""Waiting for something to become true, by looking again and again until a deadline."""
import time

# The machine of a test run may be busy with other things; what takes longer than this is stuck.
PATIENCE = 20.0


def eventually(check, within=PATIENCE, what=None):
    """Calls check() until what it returns is true, and returns that. Fails after `within` seconds.

    what  said in the failure; default: the check's name
    """
    deadline = time.monotonic() + within
    while True:
        found = check()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f'not within {within} s: {what or check.__name__}')
        time.sleep(0.01)  # between two looks; nothing relies on its length
