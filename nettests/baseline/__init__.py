"""Baselines: the failures and recorded outcomes of a run that a site accepts until a date. Pure.

``entries`` reads and writes the file, ``accepting`` derives entries from runs, with the facts under
which they hold, ``matching`` says which entries hold for another run. A baseline changes no
verdict: it decides what ``--fail-on new`` counts. Nothing here opens a file or reads a clock.
"""
