import hashlib

from django import forms
from django.http import JsonResponse
from django.shortcuts import redirect, render

from shop.models import Item


class ItemForm(forms.ModelForm):
    class Meta:
        model = Item
        fields = ['name', 'picture']


def index(request):
    form = ItemForm(request.POST or None, request.FILES or None)
    if request.method == 'POST' and form.is_valid():
        form.save()
        return redirect('index')
    return render(request, 'index.html', {'form': form, 'items': Item.objects.order_by('-added')[:20]})


def facts(request):
    """What the application sees of a request: for the curious, and for tests."""
    return JsonResponse({
        'method': request.method,
        'path': request.path,
        'host': request.get_host(),
        'secure': request.is_secure(),
        'address': request.META['REMOTE_ADDR'],
        'bytes': len(request.body),
        'sha256': hashlib.sha256(request.body).hexdigest(),
    })
