"""environ: items 41 to 58 of the checklist, as far as they are the engine's."""
import json

import pytest

from driver import KNOWN


def environ(site, **request):
    told = json.loads(site.ask(target=request.pop('target', '/environ'), **request).body)
    return told['plain']


def twice(site, **request):
    """The same request three times: built afresh, built as a template, copied from the template."""
    first, second, third = (environ(site, **request) for _ in range(3))
    assert first == second == third
    return first


def test_41_cgi_values_are_exact_latin_1_str(site):
    told = json.loads(site.ask(target='/environ/%FF%C3%A4?q', fields=[('x-odd', 'gr\xfc\xdfe')], body=b'1', method='POST').body)
    assert told['odd'] == {}
    for value in told['plain'].values():
        if isinstance(value, str):
            assert all(ord(character) < 256 for character in value)
    assert told['plain']['PATH_INFO'] == '/environ/\xff\xc3\xa4'
    assert told['plain']['HTTP_X_ODD'] == 'gr\xfc\xdfe'


@pytest.mark.parametrize('method', ['GET', 'POST', 'get', 'PROPFIND', 'M-SEARCH'])
def test_42_the_method_is_as_sent(site, method):
    assert environ(site, method=method)['REQUEST_METHOD'] == method


def test_43_script_name_and_decoded_path(site):
    told = twice(site, target='/mount/environ/a%2Fb//c?x=%20', script_name='/mount')
    assert (told['SCRIPT_NAME'], told['PATH_INFO']) == ('/mount', '/environ/a/b//c')
    assert told['REQUEST_URI'] == told['RAW_URI'] == '/mount/environ/a%2Fb//c?x=%20'


def test_44_slashes_and_dots_stay(site):
    assert environ(site, target='/environ//a/../b/.')['PATH_INFO'] == '/environ//a/../b/.'


def test_47_the_query_is_raw_and_always_there(site):
    assert environ(site)['QUERY_STRING'] == ''
    assert environ(site, target='/environ?a=%41&b=+')['QUERY_STRING'] == 'a=%41&b=+'


def test_48_content_type_and_length_have_no_prefix(site):
    told = twice(site, method='POST', body=b'12345', fields=[('content-type', 'text/x'), ('content-length', '99')])
    assert (told['CONTENT_TYPE'], told['CONTENT_LENGTH']) == ('text/x', '5')
    assert 'HTTP_CONTENT_TYPE' not in told and 'HTTP_CONTENT_LENGTH' not in told


def test_48_absent_means_left_out(site):
    told = twice(site)
    assert 'CONTENT_TYPE' not in told and 'CONTENT_LENGTH' not in told


def test_48_an_empty_body_with_a_length_says_0(site):
    assert environ(site, method='POST', body=b'')['CONTENT_LENGTH'] == '0'


@pytest.mark.parametrize('known', [True, False])
def test_49_names_are_upper_case_with_underscores(site, known):
    told = twice(site, known=known, fields=[('user-agent', 'me'), ('x-one-two', '3'), ('x.y!', 'z')])
    assert (told['HTTP_USER_AGENT'], told['HTTP_X_ONE_TWO'], told['HTTP_X.Y!']) == ('me', '3', 'z')


def test_49_every_known_name_has_its_key(site):
    withheld = ('content-type', 'content-length', 'proxy')
    told = environ(site, fields=[(name, 'v') for name in KNOWN])
    keys = {key for key in told if key.startswith('HTTP_')}
    assert keys == {'HTTP_' + name.upper().replace('-', '_') for name in KNOWN if name not in withheld}


def test_49_names_with_underscores_are_dropped(site):
    told = twice(site, fields=[('x_user', 'forged'), ('x-user', 'real'), ('x_user', 'forged again')])
    assert told['HTTP_X_USER'] == 'real'


@pytest.mark.parametrize('known', [True, False])
def test_50_repeated_fields_are_joined(site, known):
    told = twice(site, known=known, fields=[('accept', 'a'), ('x-own', '1'), ('accept', 'b'), ('x-own', '2'), ('accept', 'c')])
    assert (told['HTTP_ACCEPT'], told['HTTP_X_OWN']) == ('a, b, c', '1, 2')


def test_50_cookies_are_joined_with_semicolons(site):
    assert twice(site, fields=[('cookie', 'a=1'), ('cookie', 'b=2')])['HTTP_COOKIE'] == 'a=1; b=2'


def test_52_proxy_is_dropped(site):
    assert 'HTTP_PROXY' not in twice(site, fields=[('proxy', 'http://evil')])


def test_53_server_name_and_port(site):
    told = twice(site, server=('shop.example', 443))
    assert (told['SERVER_NAME'], told['SERVER_PORT']) == ('shop.example', '443')


@pytest.mark.parametrize('version, text', [(10, 'HTTP/1.0'), (11, 'HTTP/1.1'), (20, 'HTTP/2.0')])
def test_54_the_protocol(site, version, text):
    assert twice(site, http=version)['SERVER_PROTOCOL'] == text


def test_54_the_client(site):
    told = environ(site, client=('2001:db8::1', 65535))
    assert (told['REMOTE_ADDR'], told['REMOTE_PORT']) == ('2001:db8::1', '65535')
    assert environ(site, client=('192.0.2.1', 0))['REMOTE_PORT'] == '0'


def test_55_the_scheme_is_the_fronts_knowledge(site):
    plain = twice(site, fields=[('x-forwarded-proto', 'https')])
    assert plain['wsgi.url_scheme'] == 'http' and 'HTTPS' not in plain and 'SSL_PROTOCOL' not in plain
    secure = twice(site, https=True, tls=('TLSv1.3', 'TLS_AES_128_GCM_SHA256'))
    assert (secure['wsgi.url_scheme'], secure['HTTPS']) == ('https', 'on')
    assert (secure['SSL_PROTOCOL'], secure['SSL_CIPHER']) == ('TLSv1.3', 'TLS_AES_128_GCM_SHA256')


def test_56_the_server_facts(site):
    told = environ(site)
    assert told['wsgi.version'] == [1, 0]
    assert (told['wsgi.multithread'], told['wsgi.multiprocess'], told['wsgi.run_once']) == (False, True, False)


def test_57_input_terminated_and_the_deployers_pairs(site):
    told = environ(site)
    assert told['wsgi.input_terminated'] is True
    assert told['shop.colour'] == 'blau-\xc3\xa4'
    assert 'PATH' not in told and 'HOME' not in told


def test_58_the_request_id(site):
    assert environ(site, request_id='abc-123')['portico.request_id'] == 'abc-123'


def test_templates_are_told_apart_by_all_they_hold(site):
    base = dict(server=('a.example', 80), fields=[('host', 'a.example')], script_name='')
    changes = [dict(server=('b.example', 80)), dict(server=('a.example', 81)), dict(fields=[('host', 'b.example')]),
               dict(fields=[('host', 'a.example'), ('dnt', '1')]), dict(https=True), dict(http=10)]
    told = [twice(site, **{**base, **change}) for change in [{}] + changes]
    for index, one in enumerate(told):
        for other in told[index + 1:]:
            assert one != other


def test_values_of_every_length_are_right(site):
    for size in (0, 1, 7, 8, 9, 255, 256, 257, 5000):
        assert twice(site, fields=[('x-long', 'v' * size)])['HTTP_X_LONG'] == 'v' * size


def test_a_full_record_is_served(site):
    fields = [('x-%d' % index, 'v' * 700) for index in range(100)]
    told = twice(site, fields=fields)
    assert sum(key.startswith('HTTP_X_') for key in told) == 100
