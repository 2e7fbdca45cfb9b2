"""graphite-web (Django) behind the front: numbers found and drawn, events kept, its admin and its files."""
import json
import subprocess
import time

import pytest

from applications import needs, open_to_all, start_site
from door import environment

needs('graphite', 'graphite-web')
needs('whisper', 'python3-whisper')

SETTINGS = '''
SECRET_KEY = 'only for tests'
STORAGE_DIR = CONF_DIR = LOG_DIR = {folder!r}
WHISPER_DIR = {folder!r} + '/whisper'
INDEX_FILE = {folder!r} + '/index'
STATIC_ROOT = {folder!r}
LOG_RENDERING_PERFORMANCE = LOG_CACHE_PERFORMANCE = LOG_ROTATION = False
'''
MODULES = {'DJANGO_SETTINGS_MODULE': 'graphite.settings', 'GRAPHITE_SETTINGS_MODULE': 'graphite_here'}


def record_numbers(file):
    """One number a minute for the last ten."""
    import whisper
    whisper.create(str(file), [(60, 60)])
    now = int(time.time())
    for ago in range(10):
        whisper.update(str(file), 40 + ago, now - 60 * ago)


def django_admin(folder, *arguments):
    subprocess.run(['/usr/bin/python3', '-m', 'django', *arguments], cwd=folder, check=True, capture_output=True,
                   env=environment(PYTHONPATH=str(folder), DJANGO_SUPERUSER_PASSWORD='admin', **MODULES))


@pytest.fixture(scope='module')
def storage(lasting_folder):
    (lasting_folder / 'whisper/shop').mkdir(parents=True)
    record_numbers(lasting_folder / 'whisper/shop/visits.wsp')
    (lasting_folder / 'graphite_here.py').write_text(SETTINGS.format(folder=str(lasting_folder)))
    django_admin(lasting_folder, 'migrate', '--verbosity', '0', '--run-syncdb')
    django_admin(lasting_folder, 'createsuperuser', '--noinput', '--username', 'admin', '--email', 'a@site.example')
    open_to_all(lasting_folder)
    return lasting_folder


@pytest.fixture(scope='module')
def site(lasting_portico, storage, threads):
    listed = ', '.join(f'{name}: {value}' for name, value in MODULES.items())
    return start_site(lasting_portico, threads, storage, 'graphite.wsgi', f', environment: {{{listed}}}')[1]


def test_a_metric_is_found_and_its_numbers_come(site):
    found = site.get('/metrics/find', params={'query': 'shop.*'})
    assert [each['id'] for each in found.json()] == ['shop.visits']
    data = site.get('/render', params={'target': 'shop.visits', 'format': 'json', 'from': '-8min'}).json()
    assert {value for value, _ in data[0]['datapoints'] if value} <= set(range(40, 50))
    assert any(value for value, _ in data[0]['datapoints'])


def test_a_picture_is_drawn(site):
    drawn = site.get('/render', params={'target': 'shop.visits', 'width': 500, 'height': 300, 'from': '-8min'})
    assert drawn.headers['Content-Type'] == 'image/png'
    assert drawn.content.startswith(b'\x89PNG') and drawn.content.endswith(b'IEND\xaeB`\x82')


def test_a_long_query_is_posted(site):
    targets = [('target', f'alias(shop.visits,"line {number}")') for number in range(200)]
    data = site.post('/render', data=[*targets, ('format', 'json'), ('from', '-8min')]).json()
    assert len(data) == 200


def test_an_event_is_kept_for_every_worker(site):
    event = {'what': 'opened', 'tags': ['door'], 'data': 'ä' * 1000}
    assert site.post('/events/', data=json.dumps(event)).status_code == 200
    for _ in range(4):
        kept = site.get('/events/get_data', params={'tags': 'door'}).json()
        assert kept[-1]['data'] == event['data']


def test_a_log_in_lasts(site):
    page = site.submit('/admin/login/', {'username': 'admin', 'password': 'admin', 'next': '/admin/'})
    assert page.status_code == 302, page.text
    assert 'Site administration' in site.get('/admin/').text


def test_pages_of_the_browser_are_there(site):
    assert site.get('/').status_code == 200
    assert site.get('/dashboard/').status_code == 200
    assert site.get('/version/').text
