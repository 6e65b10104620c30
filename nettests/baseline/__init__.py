"""What a site has accepted of its runs for a while: failures that are known, and outcomes that were recorded.

``entries`` reads and writes the file, ``accepting`` makes entries of runs, on the facts that ``separating`` finds, ``matching`` says which of them hold for another
one. A baseline changes no verdict and no document's judgement: it decides what ``--fail-on new`` counts. Nothing here opens a
file or reads a clock.
"""

from nettests.baseline.accepting import Accepted, accepted, merged
from nettests.baseline.entries import AcceptedOn, Baseline, Entry, read_baseline, render_baseline
from nettests.baseline.matching import Fit, Fitting, Told, counted, elsewhere, fittings, told_of

__all__ = [
    "Accepted",
    "AcceptedOn",
    "Baseline",
    "Entry",
    "Fit",
    "Fitting",
    "Told",
    "accepted",
    "counted",
    "elsewhere",
    "fittings",
    "merged",
    "read_baseline",
    "render_baseline",
    "told_of",
]
