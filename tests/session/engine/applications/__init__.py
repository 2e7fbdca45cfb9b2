"""The applications of apps.py, by what they are about."""
