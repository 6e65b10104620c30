"""``ConformanceReport`` → a badge: a small SVG for a README with the result as word, sign and colour.

It loads nothing and contains only fixed text and numbers; the document around it names the vendor.
"""

from functools import lru_cache

from jinja2 import Environment

from nettests.conformance.conformance_report import ConformanceReport, Result
from nettests.conformance.sentences import SYMBOL, cluster_line, implementation_line
from nettests.report import harmless

LABEL = "Windows networking"
COLOUR = {Result.SUCCESS: "#14713d", Result.PARTIAL: "#8a5600", Result.FAILURE: "#b3151f"}
PER_LETTER = 6.4
"""Pixels of a letter of Verdana at 11 px, on average; ``textLength`` makes other fonts fit."""
PADDING = 16


def render_badge(report: ConformanceReport) -> str:
    """Return the image."""
    text = f"{SYMBOL[report.result]} {report.result.value}: {_levels(report)}"
    left, right = _width(LABEL), _width(text)
    page = _environment().get_template("badge.svg.j2")
    return page.render(
        label=LABEL,
        text=text,
        left=left,
        right=right,
        total=left + right,
        inner=PADDING // 2,
        colour=COLOUR[report.result],
        title=f"{implementation_line(report)}: {text}. {cluster_line(report)}",
    )


def _levels(report: ConformanceReport) -> str:
    return ", ".join(
        f"{level.value} {sum(feature.result is Result.SUCCESS for feature in level_report.features)}/{len(level_report.features)}"
        for level, level_report in report.levels.items()
    )


def _width(text: str) -> int:
    return round(len(text) * PER_LETTER) + PADDING


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return harmless.environment("nettests.conformance")
