"""Compare two runs: two ``results.json`` documents → a ``Difference`` → text for people.

Above ``report``, whose documents it reads. ``reading`` makes a ``RecordedRun`` of a document; ``difference`` joins
two by check ids and nodes; ``reasons`` says of each change whether a fact that the expectation depends on changed
too; ``sections`` puts it into words, and one module per format renders it. Nothing here opens a file, reads a clock
or judges a check.
"""

from nettests.compare.difference import Difference, difference
from nettests.compare.difference_json import document
from nettests.compare.difference_markdown import render_markdown
from nettests.compare.difference_page import render_page, render_since
from nettests.compare.items import Section
from nettests.compare.reading import read_results
from nettests.compare.recorded import RecordedRun
from nettests.compare.sections import headline, run_line, sections

__all__ = [
    "Difference",
    "RecordedRun",
    "Section",
    "difference",
    "document",
    "headline",
    "read_results",
    "render_markdown",
    "render_page",
    "render_since",
    "run_line",
    "sections",
]
