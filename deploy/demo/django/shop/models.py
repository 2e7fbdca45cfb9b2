from django.db import models


class Item(models.Model):
    name = models.CharField(max_length=100)
    picture = models.FileField(upload_to='pictures', blank=True)
    added = models.DateTimeField(auto_now_add=True)

    def __str__(self):
        return self.name
