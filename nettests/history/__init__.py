"""The history of many runs: their ``results.json`` → a ``History`` → text and a page.

Above ``compare``, which compares the last good and the first bad run of each check. ``clusters`` puts runs in order,
``levels`` tells a lasting change from a swing, ``trends`` joins both with the facts; ``sentences`` puts it into
words, and one module per format renders it. Nothing here opens a file, reads a clock or judges a check.
"""

from nettests.history.clusters import LeftOutRun, ReadRun
from nettests.history.history_json import document
from nettests.history.history_page import render_page
from nettests.history.sentences import headline, left_out_lines, sections, span_line, warnings
from nettests.history.trends import ClusterHistory, History, history_of

__all__ = [
    "ClusterHistory",
    "History",
    "LeftOutRun",
    "ReadRun",
    "document",
    "headline",
    "history_of",
    "left_out_lines",
    "render_page",
    "sections",
    "span_line",
    "warnings",
]
