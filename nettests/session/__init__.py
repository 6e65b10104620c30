"""Strings the stages of a run together: prepare, run in the background, journal, clean up.

``journal`` holds what was asked and answered, ``run`` the stages in order, ``observed`` what a waiting
test reads back, ``cleanup`` what a run leaves behind and how it goes. Nothing here judges.
"""
