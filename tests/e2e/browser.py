"""Browser: an HTTP client with cookies, sent to one site of a door."""
import re

import requests


class Browser(requests.Session):
    """Speaks to a door by address and to a site by Host, and keeps cookies. Redirects are answers, not followed."""

    def __init__(self, door, host):
        super().__init__()
        self.trust_env = False
        self.base = 'http://%s:%d' % door.address
        self.headers['Host'] = host

    def request(self, method, path, **more):
        more.setdefault('timeout', 60)
        more['allow_redirects'] = False
        return super().request(method, self.base + path, **more)

    def submit(self, path, data, files=None):
        """Fills in a form of a Django site, with the token of its page."""
        page = self.get(path)
        assert page.status_code == 200, page.text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text).group(1)
        return self.post(path, data={'csrfmiddlewaretoken': token, **data}, files=files)
