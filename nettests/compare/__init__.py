"""Two runs, and what changed between them: from their ``results.json`` to a ``Difference``, and to what people read.

Above ``report``, whose documents it reads. ``reading`` makes a ``RecordedRun`` of a document; ``difference`` joins two by
check ids and nodes, and says of each change whether a fact that its expectation depends on changed (``reasons``);
``sections`` words it, and one module per format renders it. Nothing here opens a file, reads a clock or judges a check.
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
