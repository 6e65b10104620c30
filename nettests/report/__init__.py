"""Reports of a run for people and machines: journal → JSON, JUnit, HTML, Markdown.

The last stage. ``build`` turns journal records into ``Results``; one module per format renders
them. Nothing here opens a run's files, reads a clock or judges: a check without a verdict is
``unknown``, with the reason.
"""

from nettests.report.build import build_results
from nettests.report.html_report import render_html
from nettests.report.junit import render_junit
from nettests.report.markdown_report import render_markdown
from nettests.report.results import API_VERSION, Results
from nettests.report.results_json import render_json

__all__ = [
    "API_VERSION",
    "Results",
    "build_results",
    "render_html",
    "render_json",
    "render_junit",
    "render_markdown",
]
