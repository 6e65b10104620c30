"""Incidents: the fewest causes that explain the most red checks, found and worded for people.

Used by ``build``; every report leads with them. ``traits`` lists what a check involves, ``search``
chooses among the combinations of traits that an engineer would call a cause, ``phrases`` words the
cause and ``steps`` the next step. Incidents change no verdict.
"""

from nettests.report.incidents.find import find_incidents

__all__ = ["find_incidents"]
