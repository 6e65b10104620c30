"""``Results`` → ``report.html``: one file for people that needs no network access.

The templates lay out values prepared here. All text is made visible and escaped (``harmless``); the
page's policy allows only its own style and script, and no script parses text as markup. Verdicts,
messages and matrices need no script; evidence stays packed (``packed``) until it is opened.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup

from nettests.model.expectation import Source
from nettests.model.facts import ClusterFacts
from nettests.model.grouping import grouped
from nettests.model.observation import Raw
from nettests.model.verdict import ATTENTION, SUMMARY_ORDER
from nettests.model.visible import plural
from nettests.model.words import Verdict
from nettests.report import harmless, summary
from nettests.report.harmless import pack, tree
from nettests.report.heat_map import HeatMap, heat_maps, node_map
from nettests.report.matrix import FlowGroup, Suite, flow_groups, overview, suites
from nettests.report.members import member_line
from nettests.report.results import CheckResult, Incident, Results
from nettests.report.summary import (
    EXPORT_REQUEST,
    convergence_line,
    cost_line,
    exercised_line,
    headline,
    leading,
    unread_line,
)
from nettests.resources import lines_of

_PURPOSES = dict(line.split(" = ") for line in lines_of("nettests.report", "purposes.txt"))


NOTHING = Markup("")
ALONE = 40
"""How many checks that need attention the page lists without a cause that others share."""
FLOW_ROWS = 30
"""In how many flows checks may need attention until the matrix above them has rows of suites alone."""
EXAMPLES = 10
"""Checks listed of the leading incident, three for later ones; the rest are counted by flow."""


SMALL = 20
"""Columns of a heat map without node names that fit onto a telephone: more are scrolled."""
PICTURES = 12
"""Heat maps with node names; if there are more, they are small and ordered like the headline's."""
ROWS = 12
"""Rows shown of a table of the run, the slowest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """Raw records of one purpose; the page shows the first ones at once, the others on demand."""

    purpose: str
    meaning: str
    raws: tuple[Raw, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One verdict's part of the bar below the headline, in percent of its width."""

    verdict: Verdict
    start: float
    width: float


def render_html(results: Results, *, since: Markup = NOTHING) -> str:
    """Render the page; ``since`` is the fragment that compares with the previous run."""
    groups = flow_groups(results.checks)
    page = _environment().get_template("report.html.j2")
    style, script = _source("report.css"), _source("report.js")
    text = page.render(
        results=results,
        since=since,
        groups=groups,
        named=partial(named_by_nodes, results.facts),
        suites=suites(groups),
        overview=overview(groups),
        pictures=sum(len(pictures(group)) for group in groups),
        red_flows=sum(map(needs_attention, groups)),
        shares=_shares(results),
        attention=summary.needing_attention(results),
        of_incident=[_members(results, incident) for incident in results.incidents],
        meaning=summary.meanings(results),
        verdicts=[v for v in SUMMARY_ORDER if results.counts.get(v)],
        style=Markup(style),  # noqa: S704 - shipped with the package
        script=Markup(script),  # noqa: S704 - shipped with the package
        policy=harmless.policy(style=style, script=script),
    )
    return harmless.as_utf8(text)


def named_by_nodes(facts: ClusterFacts | None, end: str) -> str:
    """Return the label of an end with the nodes of its node pool, whose own name is for ids."""
    pool, bracket, build = end.partition(" (")
    nodes = [node.name for node in facts.nodes if node.pool == pool] if facts else []
    if not nodes:
        return end
    names = ", ".join(nodes) if len(nodes) <= 2 else f"{nodes[0]} … {nodes[-1]}"
    return f"{names}{bracket}{build}"


def _members(results: Results, incident: Incident) -> list[CheckResult]:
    of = set(incident.checks)
    checks = [check for check in results.checks if check.id in of]
    return sorted(checks, key=lambda check: SUMMARY_ORDER.index(check.verdict))


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = harmless.environment("nettests.report")
    environment.globals.update(
        ALONE=ALONE,
        EXAMPLES=EXAMPLES,
        FLOW_ROWS=FLOW_ROWS,
        PICTURES=PICTURES,
        ROWS=ROWS,
        SMALL=SMALL,
        Verdict=Verdict,
        exchanges=exchanges,
        convergence_line=convergence_line,
        cost_line=cost_line,
        member_line=member_line,
        exercised_line=exercised_line,
        headline=headline,
        pictures_of=pictures,
        node_map=node_map,
        leading=leading,
        packed=packed,
        skip_reasons=skip_reasons,
        needs_attention=needs_attention,
        export_request=EXPORT_REQUEST.replace("`", ""),
        unread_line=unread_line,
        worst_first=worst_first,
    )
    environment.filters.update(
        link=link,
        citation=citation,
        moment=summary.moment,
        cluster_line=summary.cluster_line,
        counted=summary.counted,
        counted_verdicts=summary.counted_verdicts,
        coverage_line=summary.coverage_line,
        duration=summary.duration,
        inside=inside,
        end_label=summary.end_label,
        fact=summary.fact_text,
        plural=plural,
        typed=typed,
        shell=shlex.join,
        variant=summary.variant,
    )
    return environment


@lru_cache(maxsize=2)
def _source(name: str) -> str:
    environment = _environment()
    assert environment.loader is not None  # set above
    return environment.loader.get_source(environment, name)[0]


_INSIDE = re.compile(
    r"(?:\.\./)?"  # a run that was judged again has a folder of its own
    r"diagnostics(?:/(?!\.{0,2}(?:/|$))[^/\\\x00-\x1f\x7f]+)+"
)
"""Diagnostics are inside the run's folder; no run writes another path into its journal."""
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d+)?(?:[/?#][!-\[\]-~]*)?")
"""ASCII only, no user part, no backslash: the host that is shown is the one contacted."""


_OF_OUR_PYTEST = (
    *("--config-file=", "--import-mode=", "--rootdir=", "--nettests-output="),
    *("-pno:", "-pnettests.plugin", "-qq"),
)
"""Prefixes of the arguments that ``nettests run`` itself passes to pytest."""


def typed(argv: Sequence[str]) -> str:
    """Return the command as typed, or as it can be typed again: pytest's arguments after ``--``."""
    if not any(word.startswith("--nettests-output=") for word in argv):
        program = {"nettests": (), "watch": ("nettests",)}.get(argv[0] if argv else "", ("pytest",))
        return shlex.join((*program, *argv))
    shipped = {word.removeprefix("--rootdir=") for word in argv if word.startswith("--rootdir=")}
    at = next((at for at, word in enumerate(argv) if word in shipped), len(argv))
    options = [
        "--trace" if word == "--trace-incidents" else word
        for word in argv[:at]
        if not word.startswith(_OF_OUR_PYTEST)
    ]
    passed_on = argv[at + 1 :]
    return shlex.join(("nettests", "run", *options, *(("--", *passed_on) if passed_on else ())))


def inside(folder: str, file: str = "") -> str | None:
    """Return the URL of a path in the run's own folder; ``None`` if the path may lead out of it."""
    path = f"{folder}/{file}" if file else folder
    if not _INSIDE.fullmatch(path):
        return None
    return quote(path) if file else f"{quote(path)}/"


def link(source: Source) -> str | None:
    """Return the URL of a source; ``None`` unless it has a web address."""
    for address in (source.address, source.document):
        if _ADDRESS.fullmatch(address):
            return address
    return None


def citation(source: Source) -> str:
    """Return a source as people read it, without the scheme of a URL."""
    return str(source).removeprefix("https://").removeprefix("http://").replace("/ §", " §")


def exchanges(raws: Sequence[Raw]) -> tuple[Exchange, ...]:
    """Group raw records by purpose, those of the check itself first."""
    by_purpose = grouped(
        (raw.purpose, raw) for raw in sorted(raws, key=lambda raw: raw.purpose != "check")
    )
    return tuple(
        Exchange(purpose=purpose, meaning=_PURPOSES.get(purpose, purpose), raws=tuple(members))
        for purpose, members in by_purpose.items()
    )


def packed(checks: Iterable[CheckResult]) -> Markup:
    """Pack the evidence of checks for the page's script."""
    # Base64 has no character that closes a script element or starts a reference.
    return Markup(pack({check.id: tree(evidence(check)) for check in checks}))  # noqa: S704


def evidence(result: CheckResult) -> Markup:
    """Render a check's line in the list of its flow, and its evidence."""
    parts: Any = _environment().get_template("parts.html.j2").module
    return Markup(parts.evidence(result))  # noqa: S704 - escaped by the template


def skip_reasons(*groups: FlowGroup) -> dict[str, list[CheckResult]]:
    """Group the skips of flows that never applied by reason."""
    return grouped((skip.message, skip) for group in groups for skip in group.skips)


def pictures(group: FlowGroup) -> list[HeatMap]:
    """Return the heat maps of a flow that show something which needs attention."""
    maps = heat_maps(group.checks)
    return [each for each in maps if any(layer.verdict in ATTENTION for layer in each.layers)]


def needs_attention(part: Suite | FlowGroup) -> bool:
    """Whether a check needs attention: then suites start open and flows show their heat map."""
    return any(verdict in part.counts for verdict in ATTENTION)


def worst_first(checks: Sequence[CheckResult]) -> list[tuple[Verdict, int]]:
    """Count the verdicts that occur, worst first."""
    seen = [check.verdict for check in checks]
    return [(verdict, seen.count(verdict)) for verdict in SUMMARY_ORDER if verdict in seen]


def _shares(results: Results) -> list[Share]:
    total = sum(results.counts.values())
    shares: list[Share] = []
    start = 0.0
    for verdict in SUMMARY_ORDER:
        if results.counts.get(verdict):
            width = 100 * results.counts[verdict] / total
            shares.append(Share(verdict=verdict, start=round(start, 3), width=round(width, 3)))
            start += width
    return shares
