"""Logs: access logs written where the site says and opened anew after a rotation; the log that nobody reads."""
import signal
import subprocess

import raw
from door import binary, command, environment
from endpoint import text
from waiting import PATIENCE, eventually

LINE = r'127.0.0.1 - - \[.+\] "GET {} HTTP/1.1" 200 2 "-" "-"'


def test_the_access_log_is_standard_output_unless_written_otherwise(portico, endpoint):
    end = endpoint(lambda request: text('ok'))
    door = portico(f'sites:\n  a.example: {{to: "{end.address}"}}\n')
    door.get('/first', 'a.example')
    eventually(lambda: any('"GET /first HTTP/1.1" 200 2' in line for line in door.access_log()))


def test_usr1_opens_the_log_anew(portico, endpoint, tmp_path):
    log = tmp_path / 'access.log'
    end = endpoint(lambda request: text('ok'))
    door = portico(f'sites:\n  a.example: {{to: "{end.address}"}}\nlog: {{access: {log}}}\n')
    door.get('/before', 'a.example')
    eventually(lambda: '/before' in log.read_text())
    old = log.rename(tmp_path / 'access.log.1')
    door.signal(signal.SIGUSR1)
    door.wait_for_log('log files opened anew')
    # The front hears of it in its own time: ask until the new file has a line.
    asked = 0

    def new_file_has_lines():
        nonlocal asked
        asked += 1
        door.get('/after', 'a.example')
        return log.exists() and '/after' in log.read_text()
    eventually(new_file_has_lines)
    eventually(lambda: (old.read_text() + log.read_text()).count('/after') == asked)  # none lost


def test_each_site_may_have_its_own(portico, endpoint, tmp_path):
    end = endpoint(lambda request: text('ok'))
    door = portico(f'''
sites:
  a.example: {{to: "{end.address}", log: {{access: {tmp_path}/a.log}}}}
  b.example: {{to: "{end.address}", log: {{access: {tmp_path}/b.log, format: json}}}}
''')
    door.get('/for-a', 'a.example')
    door.get('/for-b', 'b.example')
    eventually(lambda: '/for-a' in (tmp_path / 'a.log').read_text())
    eventually(lambda: '"/for-b"' in (tmp_path / 'b.log').read_text())
    assert '/for-b' not in (tmp_path / 'a.log').read_text()


def test_a_log_that_cannot_be_opened_is_told_and_stops_nothing(portico, endpoint):
    end = endpoint(lambda request: text('ok'))
    door = portico(f'sites:\n  a.example: {{to: "{end.address}"}}\n'
                   'log: {access: /nonexistent/access.log}\n')
    door.wait_for_log('cannot open the access log /nonexistent/access.log: .*; its lines are lost until')
    assert door.get('/', 'a.example').status == 200


CHATTY = '''
import sys
def application(environ, start_response):
    start_response('200 OK', [])
    for number in range(100):
        print('x' * 1000, file=sys.stderr)
    return [b'said']
'''


def test_a_log_that_nobody_reads_stalls_neither_requests_nor_status_nor_the_end(folder):
    """The log is a pipe, which is full after 64 KiB; the application says 3 MB."""
    (folder / 'chatty.py').write_text(CHATTY)
    file = folder / 'portico.yaml'
    file.write_text(f'listen: ["unix:{folder}/door"]\ncontrol: {folder}/control\nlog: {{access: "off"}}\n'
                    f'sites:\n  a.example: {{wsgi: chatty, directory: {folder}, workers: 1}}\n')
    words = [binary(), 'run', file]
    with subprocess.Popen(words, env=environment(), stderr=subprocess.PIPE, start_new_session=True) as run:
        try:
            eventually((folder / 'door').exists)
            for _ in range(30):
                with raw.Connection(str(folder / 'door')) as connection:
                    assert connection.get('/', 'a.example').body == b'said'
                assert command('status', file).returncode == 0
            run.send_signal(signal.SIGTERM)
            assert run.wait(PATIENCE) == 0
        finally:
            run.kill()
