"""The application that the engine's tests ask: `/name/...` calls the function `name` of applications/, as the server would.

Each returns its own iterable untouched. What an application has seen is kept in `seen` and told by /seen_by.
"""
from applications.base import *  # noqa: F401,F403
from applications.iterables import *  # noqa: F401,F403
from applications.starting import *  # noqa: F401,F403
from applications.lengths import *  # noqa: F401,F403
from applications.streams import *  # noqa: F401,F403
from applications.files import *  # noqa: F401,F403
from applications.processes import *  # noqa: F401,F403
from applications.extensions import *  # noqa: F401,F403


def applications(environ):
    return globals()[environ['PATH_INFO'].split('/')[1] or 'hello']


def application(environ, start_response):
    return applications(environ)(environ, start_response)
