"""Incidents: the fewest causes that explain the most red checks, found and said for people.

Used by ``build``; every document leads with them. ``traits`` says what a check has a part in, ``shapes``
which combinations of traits are causes that an engineer would name, ``search`` chooses among them, and
``words`` makes the sentence and the next step. Incidents change no verdict.
"""

from nettests.report.incidents.find import find_incidents

__all__ = ["find_incidents"]
