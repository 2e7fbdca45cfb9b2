"""One Django view behind the middleware that startproject writes."""
import django
from django.conf import settings

APPS = ['auth', 'contenttypes', 'sessions', 'messages']
MIDDLEWARE = ['middleware.security.SecurityMiddleware', 'contrib.sessions.middleware.SessionMiddleware',
              'middleware.common.CommonMiddleware', 'middleware.csrf.CsrfViewMiddleware',
              'contrib.auth.middleware.AuthenticationMiddleware', 'contrib.messages.middleware.MessageMiddleware',
              'middleware.clickjacking.XFrameOptionsMiddleware']

settings.configure(SECRET_KEY='only for benchmarks', ALLOWED_HOSTS=['*'], ROOT_URLCONF=__name__, USE_TZ=True,
                   INSTALLED_APPS=[f'django.contrib.{name}' for name in APPS],
                   MIDDLEWARE=[f'django.{name}' for name in MIDDLEWARE])
django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402  (after the settings)
from django.http import HttpResponse  # noqa: E402
from django.urls import path  # noqa: E402


def hello(request):
    return HttpResponse('Hello, world!', content_type='text/plain')


urlpatterns = [path('hello', hello)]
application = get_wsgi_application()
