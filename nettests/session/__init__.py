"""String the stages of a run together: prepare, run in the background, journal, clean up.

``journal`` stores what was sent and answered, ``run`` has the stages in order, ``watch`` is the one place where
answers are read and judged, ``holding`` removes the run's objects.
"""
