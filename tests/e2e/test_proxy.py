"""A site that goes to other HTTP servers: by Host, by path, with bodies both ways."""
import hashlib
import os

from endpoint import text

SITES = '''
sites:
  one.example:
    to: "{one}"
    routes:
      /api/: {{to: "{api}"}}
  two.example:
    aliases: [www.two.example]
    to: "{two}"
'''


def three(portico, endpoint):
    ends = {name: endpoint(lambda request, name=name: text(f'{name} {request.target}'))
            for name in ('one', 'two', 'api')}
    return portico(SITES.format(**{name: end.address for name, end in ends.items()})), ends


def test_host_and_path_decide_who_answers(portico, endpoint):
    door, _ = three(portico, endpoint)
    for host, target, answer in [('one.example', '/', b'one /'),
                                 ('ONE.example:80', '/x?y=1', b'one /x?y=1'),
                                 ('one.example', '/api/v1', b'api /api/v1'),
                                 ('one.example', '/apis', b'one /apis'),
                                 ('two.example', '/api/v1', b'two /api/v1'),
                                 ('www.two.example', '/', b'two /')]:
        response = door.get(target, host)
        assert (response.status, response.body) == (200, answer), (host, target)


def test_an_unknown_host_is_421_and_reaches_nobody(portico, endpoint):
    door, ends = three(portico, endpoint)
    assert door.get('/', 'three.example').status == 421
    assert not any(end.requests for end in ends.values())


def test_a_default_site_takes_unknown_hosts(portico, endpoint):
    end = endpoint(lambda request: text('default'))
    door = portico(f'sites:\n  default: {{to: "{end.address}"}}\n')
    assert door.get('/', 'whatever.example').body == b'default'


def test_a_site_without_a_handler_of_its_own_answers_404_elsewhere(portico, endpoint):
    end = endpoint(lambda request: text('api'))
    door = portico(f'sites:\n  a.example:\n    routes:\n      /api/: {{to: "{end.address}"}}\n')
    assert door.get('/api/', 'a.example').status == 200
    assert door.get('/', 'a.example').status == 404


def test_bodies_arrive_whole_both_ways(portico, endpoint):
    def echo_digest(request):
        return text(request.body, x_digest=hashlib.sha256(request.body).hexdigest())
    end = endpoint(echo_digest)
    door = portico(f'sites:\n  a.example: {{to: "{end.address}"}}\n')
    with door.connect() as connection:
        for size in (0, 1, 1000, 65536, 3_000_000):
            body = os.urandom(size)
            response = connection.get('/', 'a.example', method='POST', body=body)
            assert response.body == body
            assert response.field('x-digest') == hashlib.sha256(body).hexdigest()


def test_the_endpoint_hears_who_the_client_is_and_no_lies(portico, endpoint):
    end = endpoint(lambda request: text('ok'))
    door = portico(f'sites:\n  a.example: {{to: "{end.address}"}}\n')
    door.get('/', 'a.example', fields={'X-Forwarded-For': '6.6.6.6', 'X-Forwarded-Proto': 'https'})
    request = end.requests[-1]
    assert request.field('x-forwarded-for') == '127.0.0.1'
    assert request.field('x-forwarded-proto') == 'http'
    assert request.field('x-forwarded-host') == 'a.example'
    assert request.field('host') == 'a.example'


def test_a_dead_endpoint_is_an_error_of_the_server_with_its_cause(portico, endpoint):
    end = endpoint(lambda request: text('ok'))
    end.close()
    door = portico(f'sites:\n  a.example: {{to: "{end.address}"}}\ntimeouts: {{queue: 1s}}\n')
    response = door.get('/', 'a.example')
    assert response.status in (502, 503)
    assert b'request:' in response.body


def test_a_unix_socket_is_a_listener_like_any_other(portico, endpoint, tmp_path):
    end = endpoint(lambda request: text('ok'))
    path = tmp_path / 'door.sock'
    door = portico(f'listen: ["unix:{path}"]\nsites:\n  default: {{to: "{end.address}"}}\n')
    assert door.urls == [f'unix:{path}']
    assert door.get('/').body == b'ok'
    assert door.stop() == 0
    assert not path.exists()
