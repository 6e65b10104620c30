"""Run the stages one after the other: prepare, run in the background, journal, clean up.

``journal`` stores requests and answers, ``run`` has the stages in order, ``watch`` alone reads and
judges answers, ``holding`` removes the run's objects.
"""
