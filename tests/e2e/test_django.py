"""A real Django project (the demonstration's) behind the front: admin, forms, uploads, static files."""
import hashlib
import os
import pathlib
import shutil
import subprocess

import pytest

from applications import needs, open_to_all
from browser import Browser
from door import PYTHON, ROOT, environment

needs('django', 'python3-django')
HOST = 'django.localhost'


@pytest.fixture(scope='module')
def migrated(tmp_path_factory):
    """The demonstration's Django project with a database and a superuser."""
    place = tmp_path_factory.mktemp('project') / 'django'
    shutil.copytree(ROOT / 'deploy/demo/django', place)
    manage = [PYTHON, 'manage.py']
    more = environment(DJANGO_SUPERUSER_PASSWORD='admin')
    for command in (['migrate', '--verbosity', '0'],
                    ['createsuperuser', '--noinput', '--username', 'admin', '--email', 'a@localhost']):
        subprocess.run(manage + command, cwd=place, env=more, check=True, capture_output=True)
    return place


@pytest.fixture
def project(migrated, folder):
    """A copy of it that workers may write into."""
    place = folder / 'django'
    shutil.copytree(migrated, place)
    open_to_all(place)
    return place


@pytest.fixture
def shop(portico, project):
    """start(workers) -> (door, session): a browser that knows only the front's address."""
    def start(workers=2, spool=None):
        extra = f'spool: {{directory: {spool}}}\n' if spool else ''
        door = portico(f'{extra}sites:\n  {HOST}: {{wsgi: shop.wsgi, directory: {project}, '
                       f'workers: {workers}}}\n')
        return door, Browser(door, HOST)
    return start


def log_in(browser):
    answer = browser.submit('/admin/login/', {'username': 'admin', 'password': 'admin', 'next': '/admin/'})
    assert (answer.status_code, answer.headers['Location']) == (302, '/admin/')


@pytest.mark.parametrize('workers', [1, 4])
def test_the_admin_logs_in_adds_uploads_and_logs_out(shop, workers):
    _, browser = shop(workers)
    log_in(browser)
    picture = os.urandom(20 * 1024 * 1024)
    answer = browser.submit('/admin/shop/item/add/', {'name': 'a lamp'},
                            files={'picture': ('lamp.png', picture)})
    assert (answer.status_code, answer.headers['Location']) == (302, '/admin/shop/item/')
    for _ in range(3 * workers):  # the session is known to every worker
        page = browser.get('/admin/shop/item/')
        assert page.status_code == 200 and 'a lamp' in page.text
    assert str(len(picture)) in browser.get('/').text.replace('\xa0', '')
    token = browser.cookies.get('csrftoken')
    assert browser.post('/admin/logout/', data={'csrfmiddlewaretoken': token}).status_code in (200, 302)
    assert browser.get('/admin/shop/item/').status_code == 302


def test_djangos_own_static_files_are_served(shop):
    _, browser = shop()
    page = browser.get('/static/admin/css/base.css')
    assert page.status_code == 200
    assert page.headers['Content-Type'] == 'text/css'
    import django
    file = pathlib.Path(django.__file__).parent / 'contrib/admin/static/admin/css/base.css'
    assert page.content == file.read_bytes()


def test_the_application_sees_the_true_request(shop):
    _, browser = shop()
    facts = browser.get('/facts/', headers={'X-Forwarded-For': '6.6.6.6', 'X-Forwarded-Proto': 'https'}).json()
    assert facts['host'] == HOST
    assert facts['address'] == '127.0.0.1'
    assert facts['secure'] is False


@pytest.mark.parametrize('size', [0, 1, 32 * 1024, 32 * 1024 + 1, 64 * 1024 + 1, 2_000_000])
def test_a_body_arrives_whole_by_length_and_in_chunks(shop, size):
    _, browser = shop()
    body = os.urandom(size)
    wanted = {'bytes': size, 'sha256': hashlib.sha256(body).hexdigest()}
    plain = browser.post('/facts/', data=body).json()
    assert {name: plain[name] for name in wanted} == wanted
    if size:
        pieces = (body[at:at + 70_000] for at in range(0, size, 70_000))
        chunked = browser.post('/facts/', data=pieces).json()
        assert {name: chunked[name] for name in wanted} == wanted


def test_a_spool_without_room_is_507_and_harms_nobody(shop, folder):
    _, browser = shop(spool=folder / 'missing')
    answer = browser.post('/facts/', data=os.urandom(200_000))
    assert answer.status_code == 507
    assert browser.get('/').status_code == 200
