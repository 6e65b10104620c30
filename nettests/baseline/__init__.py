"""What a site has accepted of its runs for a while: failures that are known, and outcomes that were recorded.

``entries`` reads and writes the file, ``accepting`` makes entries of a run, ``matching`` says which of them hold for another
one. A baseline changes no verdict and no document's judgement: it decides what ``--fail-on new`` counts. Nothing here opens a
file or reads a clock.
"""

from nettests.baseline.accepting import accepted, merged
from nettests.baseline.entries import Baseline, Entry, read_baseline, render_baseline
from nettests.baseline.matching import Fit, Fitting, Told, counted, fittings, told_of

__all__ = [
    "Baseline",
    "Entry",
    "Fit",
    "Fitting",
    "Told",
    "accepted",
    "counted",
    "fittings",
    "merged",
    "read_baseline",
    "render_baseline",
    "told_of",
]
