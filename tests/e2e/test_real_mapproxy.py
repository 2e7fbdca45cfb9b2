"""mapproxy behind the front: tiles fetched, kept and sent from its cache with wsgi.file_wrapper, images drawn."""
import io

import pytest

from applications import needs, open_to_all, start_site
from endpoint import Endpoint, text

needs('mapproxy', 'python3-mapproxy')

MAP = '''
services:
  tms:
  wms: {{srs: ['EPSG:3857', 'EPSG:4326'], md: {{title: A map}}}}
  demo:
layers: [{{name: world, title: World, sources: [kept]}}]
caches: {{kept: {{grids: [GLOBAL_WEBMERCATOR], sources: [tiles], format: image/png, image: {{mode: RGB}}}}}}
sources: {{tiles: {{type: tile, url: 'http://{address}/%(z)s/%(x)s/%(y)s.png', grid: GLOBAL_WEBMERCATOR}}}}
globals: {{cache: {{base_dir: {folder}/cache, lock_dir: {folder}/locks, meta_size: [1, 1], meta_buffer: 0}}}}
'''
APPLICATION = '''
from mapproxy.wsgiapp import make_wsgi_app
application = make_wsgi_app('map.yaml')
'''
TILE = '/tms/1.0.0/world/EPSG3857/1/0/0.png'


def image(content):
    from PIL import Image
    return Image.open(io.BytesIO(content))


def noise():
    """A tile that does not become small when packed."""
    from PIL import Image
    made = io.BytesIO()
    Image.effect_noise((256, 256), 200).convert('RGB').save(made, 'PNG')
    return made.getvalue()


@pytest.fixture(scope='module')
def source():
    """Where mapproxy gets its tiles from."""
    tile = noise()
    end = Endpoint(lambda request: text(tile, Content_Type='image/png'))
    yield end
    end.close()


@pytest.fixture(scope='module')
def site(lasting_portico, lasting_folder, threads, source):
    folder = lasting_folder / f'threads-{threads}'
    folder.mkdir()
    (folder / 'map.yaml').write_text(MAP.format(address=source.address, folder=folder))
    (folder / 'map_site.py').write_text(APPLICATION)
    open_to_all(folder)
    return start_site(lasting_portico, threads, folder, 'map_site')[1]


def test_a_tile_is_fetched_once_and_then_sent_from_its_file(site, source):
    first = site.get(TILE)
    assert first.status_code == 200, first.text
    assert first.headers['Content-Type'] == 'image/png' and image(first.content).size == (256, 256)
    asked = len(source.requests)
    again = [site.get(TILE) for _ in range(4)]
    assert len(source.requests) == asked
    assert {answer.content for answer in again} == {again[0].content}
    assert image(again[0].content).tobytes() == image(first.content).tobytes()


def test_a_tile_that_is_known_is_not_sent_again(site):
    kept = [site.get(TILE) for _ in range(2)][1]  # the first may come from its source, with another tag
    again = site.get(TILE, headers={'If-None-Match': kept.headers['ETag']})
    assert (again.status_code, again.content) == (304, b'')


def test_an_image_is_drawn_from_several_tiles(site):
    box = '-10000000,-10000000,10000000,10000000'
    answer = site.get('/service', params={
        'SERVICE': 'WMS', 'VERSION': '1.1.1', 'REQUEST': 'GetMap', 'LAYERS': 'world', 'SRS': 'EPSG:3857',
        'BBOX': box, 'WIDTH': 400, 'HEIGHT': 300, 'FORMAT': 'image/jpeg', 'STYLES': ''})
    assert answer.headers['Content-Type'] == 'image/jpeg', answer.text
    assert image(answer.content).size == (400, 300)


def test_its_pages_and_errors_are_its_own(site):
    assert 'World' in site.get('/service?REQUEST=GetCapabilities&SERVICE=WMS').text
    assert site.get('/demo/').status_code == 200
    assert site.get('/nothing').status_code == 404
