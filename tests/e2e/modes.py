"""The ways to run an application that must look the same to it: for tests of the interface itself."""
MODES = {  # name: (options of the site, threads that call the application)
    'pool': ('workers: 1', 1),
    'threaded': ('workers: 1, threads: 2', 2),
    'embedded': ('embedded: true', 1),
    'embedded-threaded': ('embedded: true, threads: 2', 2),
}
EMBEDDED = [name for name in MODES if name.startswith('embedded')]
