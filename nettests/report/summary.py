"""Names for a run's summary: the headline, and labels of node pools and of a check's ends. Pure text over ``Results``."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeVar

from nettests.model.check import Check, Target, Vantage
from nettests.model.check_id import details_of
from nettests.model.facts import ClusterFacts, Fact, NodeFacts
from nettests.model.verdict import ATTENTION, SUMMARY_ORDER
from nettests.model.words import OS, CheckClass, Placement, Resolver, VantageKind, Verdict
from nettests.plan.classes import CHOICES, OPTION, not_enabled
from nettests.report.results import CheckResult, Results
from nettests.report.text import plural

T = TypeVar("T")
UNKNOWN = "unknown"
"""What is said of a fact without a value."""

MEANING: dict[Verdict, str] = {
    Verdict.PASS: "behaves as claimed",
    Verdict.KNOWN_BUG: "the documents know of a bug, and it shows here",
    Verdict.LIMITED: "a documented limitation, observed exactly as described",
    Verdict.FAIL: "neither the claim nor a documented limitation was observed",
    Verdict.LIFTED: "a documented limitation did not show: update the manifest",
    Verdict.FLAKY: "attempts disagree",
    Verdict.RECORDED: "the documents leave it open; what happened is recorded",
    Verdict.UNKNOWN: "the probe, its origin or a precondition could not be trusted",
    Verdict.SKIPPED: "planned, but not run here; each says why",
}

SYMBOL: dict[Verdict, str] = {
    Verdict.PASS: "✓",
    Verdict.KNOWN_BUG: "◆",
    Verdict.LIMITED: "◐",
    Verdict.FAIL: "✗",
    Verdict.LIFTED: "↑",
    Verdict.FLAKY: "≈",
    Verdict.RECORDED: "●",
    Verdict.UNKNOWN: "?",
    Verdict.SKIPPED: "–",
}


def meanings(results: Results) -> Mapping[Verdict, str]:
    """Return what each verdict means in this run: what was not run may be for a user to enable."""
    classes = {
        not_enabled(check_class, ()): check_class.value
        for check_class in CheckClass
        if check_class.value in CHOICES
    }
    skipped = [check.message for check in results.checks if check.verdict is Verdict.SKIPPED]
    held_back = Counter(classes[reason] for reason in skipped if reason in classes)
    if not held_back:
        return MEANING
    option = f"{OPTION}={','.join(sorted(held_back))}"
    more = f"planned, but not run here; {option} runs {held_back.total()} of them"
    return {**MEANING, Verdict.SKIPPED: more}


def counted(results: Results) -> str:
    """Return the verdicts that occurred, worst first: ``1 fail, 24 limited, 130 pass``."""
    counts = [f"{results.counts[v]} {v.value}" for v in SUMMARY_ORDER if results.counts.get(v)]
    return ", ".join(counts) or "no checks"


def counted_verdicts(checks: Iterable[CheckResult]) -> str:
    """Return how some checks ended, worst first and in parentheses: ``(3 fail, 1 unknown)``."""
    seen = Counter(check.verdict for check in checks)
    return f"({', '.join(f'{seen[v]} {v.value}' for v in SUMMARY_ORDER if seen[v])})"


def coverage_line(results: Results) -> str:
    """Return what was planned, ran, was skipped, and was never judged."""
    cover = results.coverage
    parts = [f"{cover.ran} ran", f"{cover.skipped} skipped"]
    if cover.not_judged:
        parts.append(f"{cover.not_judged} never judged")
    return f"{plural(cover.due, 'check')} planned: {', '.join(parts)}"


def needing_attention(results: Results) -> tuple[CheckResult, ...]:
    """Return the checks somebody should act on, most urgent first, in the plan's order."""
    return tuple(c for verdict in ATTENTION for c in results.checks if c.verdict is verdict)


def duration(seconds: float | None) -> str:
    """Return ``48.2 s`` or ``3 min 05 s``; empty when the run has no end."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"


def moment(text: str) -> str:
    """Return an ISO 8601 time of the journal (UTC) to the second; empty stays empty."""
    # sample: "2026-11-21T14:04:12.200000+00:00"
    return f"{text[:19].replace('T', ' ')} UTC" if text else ""


def end_label(end: Vantage | Target) -> str:
    """Return an end of a check in words: ``windows-1 (17763.1339)``, ``outside``."""
    if isinstance(end, Vantage) and end.kind is VantageKind.EXTERNAL:
        return "outside the cluster"
    if isinstance(end, Vantage) and end.kind is VantageKind.API and end.pool is None:
        return "API server"
    if isinstance(end, Target) and end.descriptor.heading:
        return end.descriptor.heading
    if end.pool is None:
        return "outside the cluster" if end.os is None else end.os.value
    return f"{end.pool} ({end.build})" if end.build else end.pool


def variant(check: Check) -> str:
    """Return what tells a check from its neighbours in one cell: ``TCP``, ``svc.ns nslookup``."""
    # A resolver is reached over UDP whatever the flow: the name's form and the resolver say more.
    if check.action.case is not None:
        return check.action.case.label
    extra = details_of(check.id, on_no_node=check.placement is Placement.NOWHERE)
    resolver = check.action.resolver
    if resolver and resolver is not Resolver.SYSTEM and resolver.value not in extra:
        extra.append(resolver.value)
    return " ".join([check.action.protocol.value.upper(), *extra])


def fact_text(fact: Fact[T]) -> str:
    """Return a fact's value in words, ``UNKNOWN`` without one."""
    if fact.value is None:
        return UNKNOWN
    if isinstance(fact.value, bool):
        return "on" if fact.value else "off"
    if isinstance(fact.value, tuple):
        return ", ".join(str(part) for part in fact.value)
    return str(fact.value)


def windows_nodes(facts: ClusterFacts) -> tuple[NodeFacts, ...]:
    """Return the Windows nodes."""
    return tuple(node for node in facts.nodes if node.os is OS.WINDOWS)


def cluster_line(facts: ClusterFacts) -> str:
    """Return the cluster in one line: version, nodes by OS and build, plugin."""
    builds = sorted({fact_text(node.build) for node in windows_nodes(facts)})
    windows = plural(len(windows_nodes(facts)), "Windows node")
    linux = plural(len(facts.nodes) - len(windows_nodes(facts)), "Linux node")
    parts = [f"Kubernetes {facts.server_version}"]
    parts.append(f"{windows} ({', '.join(builds)})" if builds else windows)
    parts.append(linux)
    network = [fact_text(facts.cni.plugin), fact_text(facts.cni.backend)]
    parts.append(" ".join(word for word in network if word != "unknown") or "unknown CNI")
    return " · ".join(parts)
