"""Run the stages one after the other: prepare, run in the background, journal, clean up.

``journal`` stores requests and answers, ``run`` has the stages in order, ``judging`` alone reads and
judges answers, ``run_objects`` removes the run's objects.
"""
