"""An ordinary HTTP server, as a proxied site has one: server.py PORT"""
import http.server
import sys


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        body = ('<!doctype html><title>An ordinary server</title><h1>Server %d answers</h1>'
                '<p>%s %s for %s</p>\n' % (self.server.server_port, self.command, self.path,
                                          self.headers.get('X-Forwarded-For'))).encode()
        self.send_response(200)
        self.send_header('Content-Type', 'text/html; charset=utf-8')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """The front writes the access log."""


http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Page).serve_forever()
