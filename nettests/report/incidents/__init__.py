"""Incidents: the fewest causes that explain the most red checks, found and said for people.

Used by ``build``; every document leads with them. ``traits`` says what a check has a part in, ``search`` which
combinations of traits are causes that an engineer would name, and chooses among them, ``phrases`` makes the sentence and
``steps`` the next step. Incidents change no verdict.
"""

from nettests.report.incidents.find import find_incidents

__all__ = ["find_incidents"]
