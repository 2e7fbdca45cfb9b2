"""No memory and no references are lost over many requests of every kind."""
import os

import pytest

COUNT = int(os.environ.get('PORTICO_TEST_REQUESTS', '20000'))
WAYS = ['/hello', '/late_start', '/closing', '/writes', '/environ?x=1', '/replaced', '/chunks?5', '/never_started', '/listed?9000',
        '/raises', '/iteration_fails', '/text_item', '/second_call', '/sized?5:8', '/sized?5:2', '/file_memory', '/file_plain',
        '/print_errors', '/mutate', '/exc_info_kept']


def memory(site):
    return int(site.ask(target='/memory').body)


def round_of(site, count):
    for number in range(count // len(WAYS)):
        for way in WAYS:
            fields = [('host', 'h'), ('user-agent', 'agent %d' % (number % 7)), ('x-own', 'v%d' % number)]
            site.ask(target=way, fields=fields, method='POST' if number % 3 == 0 else 'GET', body=b'abc' if number % 3 == 0 else None)


@pytest.mark.skipif('PORTICO_TEST_SANITIZED' in os.environ, reason='the sanitizer keeps what is freed')
def test_memory_stays_level(make_site):
    site = make_site(cells=64, stderr=open(os.devnull, 'w')).start()
    site.fork()
    round_of(site, 4000)
    before = memory(site)
    round_of(site, COUNT)
    site.ask(target='/seen_by?closing')
    grown = memory(site) - before
    assert grown < 4 << 20, 'grown by %d bytes' % grown


REFERENCES = '''
import gc, sys
import apps
# Since 3.12 it is immortal: the interpreter leaves out half of the counting, a module of the stable ABI of 3.8 does not.
COUNTS_NONE = sys.version_info < (3, 12)

def application(environ, start_response):
    if environ['PATH_INFO'] == '/count':
        apps.seen.clear()
        gc.collect()
        start_response('200 OK', [])
        none = sys.getrefcount(None) if COUNTS_NONE else 0
        return [repr((len(gc.get_objects()), none, sys.getallocatedblocks())).encode()]
    return apps.application(environ, start_response)
'''


def test_references_stay_level(make_site, tmp_path):
    (tmp_path / 'counted.py').write_text('import sys\nsys.path.append(%r)\n' % os.path.dirname(__file__) + REFERENCES)
    site = make_site('counted', tmp_path, stderr=open(os.devnull, 'w')).start()
    site.fork()
    round_of(site, 2000)
    site.ask(target='/count')
    objects, none, blocks = eval(site.ask(target='/count').body)
    round_of(site, 2000)
    site.ask(target='/count')
    objects_after, none_after, blocks_after = eval(site.ask(target='/count').body)
    assert objects_after - objects < 60
    assert blocks_after - blocks < 400
    assert none_after - none < 60
