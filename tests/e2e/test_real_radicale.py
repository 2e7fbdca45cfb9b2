"""radicale behind the front: a calendar made, filled, asked and emptied, with the methods of CalDAV."""
import xml.etree.ElementTree

import pytest

from applications import needs, open_to_all, start_site

needs('radicale', 'python3-radicale')

SETTINGS = '''
[auth]
type = htpasswd
htpasswd_encryption = plain
htpasswd_filename = {folder}/passwords
[rights]
type = owner_only
[storage]
filesystem_folder = {folder}/collections
[logging]
level = warning
'''
CALENDAR = '''<?xml version="1.0"?>
<C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">
  <D:set><D:prop><D:displayname>Anna’s days</D:displayname></D:prop></D:set>
</C:mkcalendar>'''
PROPERTIES = ('<?xml version="1.0"?><D:propfind xmlns:D="DAV:"><D:prop><D:displayname/><D:getetag/></D:prop>'
              '</D:propfind>')
QUERY = '''<?xml version="1.0"?>
<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><C:calendar-data/></D:prop>
<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"/></C:comp-filter></C:filter>
</C:calendar-query>'''


def event(number, summary):
    return '\r\n'.join(['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//tests//EN', 'BEGIN:VEVENT', f'UID:event-{number}',
                        'DTSTART:20300101T100000Z', 'DTEND:20300101T110000Z', 'DTSTAMP:20290101T000000Z',
                        f'SUMMARY:{summary}', 'END:VEVENT', 'END:VCALENDAR', '']).encode()


@pytest.fixture(scope='module')
def site(lasting_portico, lasting_folder, threads):
    folder = lasting_folder / f'threads-{threads}'
    (folder / 'collections').mkdir(parents=True)
    (folder / 'settings').write_text(SETTINGS.format(folder=folder))
    (folder / 'passwords').write_text('anna:secret\nbob:secret\n')
    open_to_all(folder)
    more = f', environment: {{RADICALE_CONFIG: {folder}/settings}}'
    _, browser = start_site(lasting_portico, threads, folder, 'radicale', more)
    browser.auth = ('anna', 'secret')
    return browser


@pytest.fixture
def calendar(site):
    """The path of a calendar that is new for each test."""
    path = '/anna/days/'
    made = site.request('MKCALENDAR', path, data=CALENDAR.encode())
    assert made.status_code == 201, made.text
    yield path
    assert site.request('DELETE', path).status_code == 200


def hrefs(answer):
    assert answer.status_code == 207, answer.text
    return [each.text for each in xml.etree.ElementTree.fromstring(answer.content).iter('{DAV:}href')]


def test_an_event_is_put_got_changed_and_deleted(site, calendar):
    path = calendar + 'lunch.ics'
    assert site.put(path, data=event(1, 'Lunch')).status_code == 201
    got = site.get(path)
    assert got.headers['Content-Type'].startswith('text/calendar') and 'SUMMARY:Lunch' in got.text
    assert site.put(path, data=event(1, 'Dinner'), headers={'If-Match': '"another"'}).status_code == 412
    assert site.put(path, data=event(1, 'Dinner'), headers={'If-Match': got.headers['ETag']}).status_code == 201
    assert 'SUMMARY:Dinner' in site.get(path).text
    assert site.delete(path).status_code == 200
    assert site.get(path).status_code == 404


def test_propfind_lists_by_depth(site, calendar):
    for number in range(3):
        assert site.put(f'{calendar}{number}.ics', data=event(number, 'Tea')).status_code == 201
    asked = {depth: site.request('PROPFIND', calendar, data=PROPERTIES, headers={'Depth': depth}) for depth in '01'}
    assert hrefs(asked['0']) == [calendar]
    assert sorted(hrefs(asked['1'])) == [calendar, *(f'{calendar}{number}.ics' for number in range(3))]
    assert 'Anna’s days' in asked['0'].text


def test_a_report_gives_the_events_also_asked_in_chunks(site, calendar):
    assert site.put(calendar + 'tea.ics', data=event(1, 'Tea')).status_code == 201
    pieces = (QUERY[at:at + 50].encode() for at in range(0, len(QUERY), 50))
    assert 'SUMMARY:Tea' in site.request('REPORT', calendar, data=pieces).text


def test_an_event_moves(site, calendar):
    assert site.put(calendar + 'old.ics', data=event(1, 'Tea')).status_code == 201
    moved = site.request('MOVE', calendar + 'old.ics',
                         headers={'Destination': 'http://site.example' + calendar + 'new.ics'})
    assert moved.status_code == 201
    assert (site.get(calendar + 'old.ics').status_code, site.get(calendar + 'new.ics').status_code) == (404, 200)


def test_what_is_somebody_elses_stays_closed(site, calendar):
    assert site.get(calendar, auth=('bob', 'secret')).status_code == 403


def test_options_tell_what_it_can_do(site):
    answer = site.options('/')
    assert answer.status_code == 200 and 'calendar-access' in answer.headers['DAV']
