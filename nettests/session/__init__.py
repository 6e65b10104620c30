"""Strings the stages of a run together: prepare, run in the background, journal, clean up.

``journal`` holds what was sent and answered, ``run`` the stages in order, ``watch`` the one place where answers
are read and judged, ``cleanup`` what a run leaves behind and how it goes.
"""
