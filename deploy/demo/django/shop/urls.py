from django.contrib import admin
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from shop import views

urlpatterns = [
    path('', views.index, name='index'),
    path('facts/', csrf_exempt(views.facts)),
    path('admin/', admin.site.urls),
]
