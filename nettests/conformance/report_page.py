"""``ConformanceReport`` → one HTML page without network access or script, in the style of a run's report.

The template lays out values prepared here. Texts of the vendor and of the cluster are escaped (``harmless``).
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from jinja2 import Environment
from markupsafe import Markup

from nettests.conformance import sentences
from nettests.conformance.conformance_report import (
    ConformanceReport,
    FeatureReport,
    LevelReport,
    Result,
    Statistics,
)
from nettests.conformance.report_yaml import HOLDS
from nettests.expect.condition import Truth
from nettests.model.expectation import Source
from nettests.report import harmless
from nettests.report.html_report import link
from nettests.report.text import plural

VERDICT_OF = {Result.SUCCESS: "pass", Result.PARTIAL: "limited", Result.FAILURE: "fail"}
"""The colours of verdicts that results have on the page."""
COLOUR_OF = {
    "failed": "fail",
    "unknown": "unknown",
    "not_planned": "not-planned",
    "skipped": "skipped",
    "known_bugs": "known-bug",
    "limited": "limited",
    "recorded": "recorded",
    "passed": "pass",
}
"""The parts of a feature's bar, from left to right reversed: what was shown begins it."""
SHOWN = 12
"""Lines about one feature that are open at first sight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a bar, in percent of its width."""

    colour: str
    start: float
    width: float


def render_page(report: ConformanceReport, source: str) -> str:
    """Return the page; ``source`` is the digest of the YAML document that it belongs to."""
    style = harmless.style_of_pages() + _own_style()
    text = (
        _environment()
        .get_template("conformance.html.j2")
        .render(
            report=report,
            made=report.implementation,
            address=link(Source(document="", address=report.implementation.url)),
            source=source,
            style=Markup(style),  # noqa: S704 - shipped with the package
            policy=harmless.policy(style=style),
        )
    )
    return harmless.as_utf8(text)


def parts(statistics: Statistics) -> tuple[Part, ...]:
    """Return the bar of some checks: what was shown first, what deviates last."""
    counts = {name: getattr(statistics, name) for name in reversed(COLOUR_OF)}
    total = sum(counts.values())
    segments, start = [], 0.0
    for name, count in counts.items():
        if count:
            width = 100 * count / total
            segments.append(
                Part(colour=COLOUR_OF[name], start=round(start, 3), width=round(width, 3))
            )
            start += width
    return tuple(segments)


def succeeded(level: LevelReport) -> int:
    """Return how many features of a level succeeded."""
    return sum(feature.result is Result.SUCCESS for feature in level.features)


def lines(feature: FeatureReport) -> tuple[str, ...]:
    """Return what a feature lacks."""
    return tuple(sentences.feature_lines(feature))


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = harmless.environment("nettests.conformance")
    environment.globals.update(
        COLUMNS=sentences.COLUMNS,
        HOLDS=HOLDS,
        SHOWN=SHOWN,
        Truth=Truth,
        VERDICT_OF=VERDICT_OF,
        lines=lines,
        parts=parts,
        sentences=sentences,
        succeeded=succeeded,
    )
    environment.filters.update(plural=plural, place=place)
    return environment


def place(name: str) -> str:
    """Return the name of a feature as an id on the page."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())


@lru_cache(maxsize=1)
def _own_style() -> str:
    return files("nettests.conformance").joinpath("templates/conformance.css").read_text("utf-8")
