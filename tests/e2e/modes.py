"""The ways to run an application that must look the same to it: for tests of the interface itself."""
import collections

# options: of the site; threads: that call the application; top: what stands at the top of the file
Mode = collections.namedtuple('Mode', 'options threads top', defaults=[''])
MODES = {
    'pool': Mode('workers: 1', 1),
    'threaded': Mode('workers: 1, threads: 2', 2),
    'embedded': Mode('embedded: true', 1),
    'embedded-threaded': Mode('embedded: true, threads: 2', 2),
    'embedded-in-the-loop': Mode('embedded: true, threads: 0', 1, 'front_threads: 1\n'),
}
EMBEDDED = [name for name in MODES if name.startswith('embedded')]
# Those in which an application can read while the client sends.
STREAMING = [name for name, mode in MODES.items() if 'threads: 0' not in mode.options]
