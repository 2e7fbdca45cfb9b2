#!/usr/bin/env python3
"""The layer test: reads every #include of ours and fails on an arrow that ARCHITECTURE.md forbids.

    tests/layers.py [ROOT]     prints each forbidden include as file:line: what; exit status 1 if any
"""
import pathlib
import re
import sys

# room -> the rooms that it may include, besides itself
ARROWS = {
    'conf': [],
    'balancer': ['conf'],
    'proxy/core': [],
    'proxy/net': ['proxy/core'],
    'proxy/http': ['proxy/core'],
    'proxy/serve': ['proxy/http', 'proxy/net', 'proxy/core'],
    'proxy/client': ['proxy/http', 'proxy/net', 'proxy/core'],
    'proxy/process': ['proxy/net', 'proxy/core', 'conf'],
    'proxy/route': ['proxy/serve', 'proxy/client', 'balancer', 'proxy/http', 'proxy/net',
                    'proxy/core', 'conf'],
    'proxy/run': ['proxy/route', 'proxy/serve', 'proxy/process', 'balancer', 'proxy/http',
                  'proxy/net', 'proxy/core', 'conf'],
    'backend/record': [],
    'backend/front': ['backend/record', 'proxy/serve', 'balancer', 'proxy/http', 'proxy/net',
                      'proxy/core', 'conf'],
    'backend/host': ['backend/record', 'proxy/process', 'proxy/net', 'proxy/core', 'conf'],
    'backend/engine': ['backend/record'],
}
# main alone sees both run and backend
MAIN = 'proxy/run/main.cc'
MAIN_MAY = ['backend/front', 'backend/host', *ARROWS['proxy/run']]

# third-party header -> the files that may include it
CAGES = {
    r'ev\.h': r'proxy/core/(loop|watch)\.(cc|h)',
    r'ares(_\w+)?\.h': r'proxy/net/(resolver|ares\w*)\.(cc|h)',
    r'openssl/.*': r'proxy/net/tls\w*\.(cc|h)',
    r'yaml-cpp/.*': r'conf/yaml\w*\.(cc|h)',
    r'nghttp2/.*': r'proxy/http/h2_codec\.(cc|h)',
    r'Python\.h': r'backend/engine/.*',
}

INCLUDE = re.compile(r'\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')


def room_of(path):
    """The room that a path from the root lies in, or None."""
    folder = path.rsplit('/', 1)[0]
    return folder if folder in ARROWS else None


def ours_allowed(path, included):
    target = room_of(included)
    if target is None:
        return False
    allowed = MAIN_MAY if path == MAIN else ARROWS[room_of(path)]
    return target == room_of(path) or target in allowed


def theirs_allowed(path, included):
    return all(re.fullmatch(files, path)
               for header, files in CAGES.items() if re.fullmatch(header, included))


def faults_of(root, file):
    path = file.relative_to(root).as_posix()
    for number, line in enumerate(file.read_text().splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        ours, theirs = found.groups()
        if ours and not ours_allowed(path, ours):
            yield f'{path}:{number}: {room_of(path)} must not include "{ours}"'
        if theirs and not theirs_allowed(path, theirs):
            yield f'{path}:{number}: <{theirs}> has a room of its own'


def main(root):
    files = [file for room in ARROWS for file in sorted((root / room).glob('*.*'))
             if file.suffix in ('.h', '.cc')]
    faults = [fault for file in files for fault in faults_of(root, file)]
    print('\n'.join(faults) if faults else f'{len(files)} files keep to the arrows')
    return 1 if faults or not files else 0


if __name__ == '__main__':
    base = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent
    sys.exit(main(pathlib.Path(base).resolve()))
