"""All documents of a ``ConformanceReport`` by file name: YAML, HTML page, Markdown and badge.

The YAML document follows gateway-api's ``ConformanceReport``, and is published as
``conformance-report.schema.json``; ``document`` is its plain data, which ``verification`` compares.
The page needs no network and no script, and is styled like a run's report. The badge is a small SVG
for a README; it loads nothing and has only fixed text and numbers. Other texts are escaped
(``harmless``).
"""

import hashlib
import re
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

from jinja2 import Environment
from markupsafe import Markup

from nettests.conformance import report_text
from nettests.conformance.conformance_report import (
    ConformanceReport,
    Digest,
    FeatureReport,
    Missing,
    PoolRow,
    Result,
    ScopeRow,
    Statistics,
    Unclaimed,
    UnsupportedFeature,
)
from nettests.conformance.report_text import (
    HOLDS,
    SYMBOL,
    cluster_line,
    headline,
    implementation_line,
)
from nettests.conformance.vendor_profile import Level
from nettests.expect.condition import Truth
from nettests.model.expectation import Source
from nettests.model.labels import document_version
from nettests.model.visible import code, plural, visible
from nettests.model.yaml_text import write_yaml
from nettests.report import harmless
from nettests.report.html_report import link

API_VERSION = document_version("v1alpha1")
KIND = "ConformanceReport"
NAME = "conformance"
YAML, PAGE, MARKDOWN, BADGE = (f"{NAME}.{ending}" for ending in ("yaml", "html", "md", "svg"))
VERDICT_OF = {Result.SUCCESS: "pass", Result.PARTIAL: "limited", Result.FAILURE: "fail"}
"""The verdicts whose colours the results have on the page."""
COLOUR_OF = {
    "passed": "pass",
    "recorded": "recorded",
    "limited": "limited",
    "known_bugs": "known-bug",
    "skipped": "skipped",
    "not_planned": "not-planned",
    "unknown": "unknown",
    "failed": "fail",
}
"""The parts of a feature's bar, from left to right: from passed to failed."""
SHOWN = 12
"""How many lines about a feature are initially open."""
POINTS = 40
"""How many lines per feature, and unclaimed deviations, Markdown shows; YAML has all."""
LABEL = "Windows networking"
COLOUR = {Result.SUCCESS: "#14713d", Result.PARTIAL: "#8a5600", Result.FAILURE: "#b3151f"}
PER_LETTER = 6.4
"""The average width of a letter in Verdana at 11 px; ``textLength`` fits other fonts."""
PADDING = 16


_KEYS: dict[type, dict[str, str]] = {
    FeatureReport: {"failed": "failedChecks", "missing": "notShown"},
    Unclaimed: {"failed": "failedChecks"},
    UnsupportedFeature: {"works": "observed"},
    ScopeRow: {"claimed": "supported", "found": "tested"},
    Missing: {"gap": "why"},
    PoolRow: {"pool": "name"},
}
"""Keys of the document that are not the camel case of their fields."""
_RARE: dict[type, set[str]] = {
    FeatureReport: {"summary", "failed", "missing", "limitations"},
    PoolRow: {"build", "driver"},
    Digest: {"own"},
}
"""Fields that are omitted if empty."""
_CLUSTER = ("kubernetes", "plugin", "backend", "facts_digest")
_RUN = ("started", "finished", "complete", "exercised", "judged_otherwise")


class Segment(NamedTuple):
    """A part of a bar, in percent of its width."""

    colour: str
    start: float
    width: float


def documents(report: ConformanceReport) -> dict[str, str]:
    """Return each document's text; all others quote the digest of the first one, the YAML."""
    text = write_yaml(document(report), width=120, literal=True)
    source = hashlib.sha256(text.encode()).hexdigest()
    return {
        YAML: text,
        PAGE: render_page(report, source),
        MARKDOWN: render_markdown(report, source),
        BADGE: f"{render_badge(report).strip()}\n",
    }


def document(report: ConformanceReport) -> dict[str, Any]:
    """Return the document as plain data; hidden characters are spelled out."""
    tested = {name: _data(getattr(report.tested, name)) for name in (*_CLUSTER, *_RUN, "pools")}
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "date": _data(report.date),
        "nettestsVersion": _data(report.nettests),
        "implementation": _data(report.implementation),
        "result": report.result.value,
        "summary": _data(headline(report)),
        **{level.value: _data(level_report) for level, level_report in report.levels.items()},
        "unsupportedFeatures": _data(report.unsupported),
        "unclaimed": _data(report.unclaimed),
        "scope": _data(report.scope),
        "notCovered": _data(report.not_covered),
        "cluster": {
            **{_camel(name): tested[name] for name in _CLUSTER},
            "nodePools": tested["pools"],
        },
        "run": {
            "id": _data(report.tested.run_id),
            **{_camel(name): tested[name] for name in _RUN},
        },
        "digests": _data(report.digests),
        "profile": _data(report.profile),
    }


def _data(value: Any) -> Any:
    if isinstance(value, Truth):
        return HOLDS[value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, tuple):
        return [_data(part) for part in value]
    if not is_dataclass(value):
        return value
    keys, rare = _KEYS.get(type(value), {}), _RARE.get(type(value), set())
    return {
        keys.get(part.name, _camel(part.name)): _data(inner)
        for part in fields(value)
        if (inner := getattr(value, part.name)) or part.name not in rare
        if not isinstance(inner, Level)
    }


def _camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


def render_page(report: ConformanceReport, source: str) -> str:
    """Return the page; ``source`` is the digest of the YAML document."""
    return harmless.render_page(
        _environment(),
        "conformance.html.j2",
        style_sheet="conformance.css",
        report=report,
        made=report.implementation,
        address=link(Source(document="", address=report.implementation.url)),
        source=source,
    )


def render_markdown(report: ConformanceReport, source: str) -> str:
    """Return Markdown for a repository or a release; ``source`` is the digest of the YAML document."""
    page = _environment(markdown=True).get_template("conformance.md.j2")
    return page.render(report=report, source=source)


def render_badge(report: ConformanceReport) -> str:
    """Return the SVG image."""
    levels = ", ".join(
        f"{level.value} {of.succeeded}/{len(of.features)}" for level, of in report.levels.items()
    )
    text = f"{SYMBOL[report.result]} {report.result.value}: {levels}"
    left, right = (round(len(part) * PER_LETTER) + PADDING for part in (LABEL, text))
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


def segments(statistics: Statistics) -> tuple[Segment, ...]:
    """Return the bar for counts of checks."""
    counts = {colour: getattr(statistics, name) for name, colour in COLOUR_OF.items()}
    total = sum(counts.values())
    bar, start = [], 0.0
    for colour, count in counts.items():
        if count:
            width = 100 * count / total
            bar.append(Segment(colour, round(start, 3), round(width, 3)))
            start += width
    return tuple(bar)


def place(name: str) -> str:
    """Return a feature's name as an id on the page."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())


@lru_cache(maxsize=2)
def _environment(*, markdown: bool = False) -> Environment:
    environment = harmless.environment("nettests.conformance", markdown=markdown)
    environment.globals.update(
        BREAK=Markup("  "),
        COLUMNS=report_text.COLUMNS,
        HOLDS=HOLDS,
        POINTS=POINTS,
        SHOWN=SHOWN,
        VERDICT_OF=VERDICT_OF,
        segments=segments,
        sentences=report_text,
    )
    environment.filters.update(
        code=lambda text: Markup(code(text)),  # noqa: S704 - a code span shows its text as it is
        plural=plural,
        place=place,
    )
    return environment
