"""Baselines: the failures and recorded outcomes of a run that a site accepts until a date. Pure.

``entries`` reads and writes the file, ``accepting`` makes entries from runs, on the facts that ``separating`` finds,
``matching`` says which entries hold for another run. A baseline changes no verdict: it decides what ``--fail-on new``
counts. Nothing here opens a file or reads a clock.
"""

from nettests.baseline.accepting import (
    Accepted,
    accepted,
    covers,
    deviating_checks,
    merged,
    of_incident,
)
from nettests.baseline.entries import AcceptedOn, Baseline, Entry, read_baseline, render_baseline
from nettests.baseline.matching import (
    BaselineComparison,
    Fit,
    Fitting,
    compared,
    counted,
    elsewhere,
    fittings,
)

__all__ = [
    "Accepted",
    "AcceptedOn",
    "Baseline",
    "BaselineComparison",
    "Entry",
    "Fit",
    "Fitting",
    "accepted",
    "compared",
    "counted",
    "covers",
    "deviating_checks",
    "elsewhere",
    "fittings",
    "merged",
    "of_incident",
    "read_baseline",
    "render_baseline",
]
