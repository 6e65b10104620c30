"""Text for a run's summary: the headline, and labels of node pools and of a check's ends. Pure.

Every report for people begins with it. The headline gives the leading causes of problems. If all is
well but nodes or node pairs were left out, it says how many it covers.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from nettests.model.check import Check, Target, Vantage
from nettests.model.check_id import details_of
from nettests.model.facts import ClusterFacts, Fact, NodeFacts
from nettests.model.journal_records import Convergence
from nettests.model.verdict import ACCEPTED, ATTENTION, SUMMARY_ORDER
from nettests.model.visible import one_line, plural
from nettests.model.words import OS, CheckClass, Placement, Resolver, VantageKind, Verdict
from nettests.plan.flow import CAN_BE_ENABLED, ENABLE, not_enabled
from nettests.report.results import CheckResult, ExercisedNodes, Results
from nettests.resources import lines_of, rows_of

T = TypeVar("T")
UNKNOWN = "unknown"
"""Shown for a fact without a value."""

VERDICTS = {Verdict(row["verdict"]): row for row in rows_of("nettests.report", "verdicts.txt")}
MEANING = {verdict: row["means"] for verdict, row in VERDICTS.items()}
SYMBOL = {verdict: row["symbol"] for verdict, row in VERDICTS.items()}


def meanings(results: Results) -> Mapping[Verdict, str]:
    """Return what each verdict means in this run; for skips, which option would run more checks."""
    classes = {
        not_enabled(check_class, ()): check_class.value
        for check_class in CheckClass
        if check_class.value in CAN_BE_ENABLED
    }
    skipped = [check.message for check in results.checks if check.verdict is Verdict.SKIPPED]
    held_back = Counter(classes[reason] for reason in skipped if reason in classes)
    if not held_back:
        return MEANING
    option = f"{ENABLE}={','.join(sorted(held_back))}"
    more = f"planned, but not run here; {option} runs {held_back.total()} of them"
    return {**MEANING, Verdict.SKIPPED: more}


def counted(results: Results) -> str:
    """Count the verdicts, worst first: ``1 fail, 24 limited, 130 pass``."""
    counts = [f"{results.counts[v]} {v.value}" for v in SUMMARY_ORDER if results.counts.get(v)]
    return ", ".join(counts) or "no checks"


def counted_verdicts(checks: Iterable[CheckResult]) -> str:
    """Count the verdicts of some checks, worst first: ``(3 fail, 1 unknown)``."""
    seen = Counter(check.verdict for check in checks)
    return f"({', '.join(f'{seen[v]} {v.value}' for v in SUMMARY_ORDER if seen[v])})"


def coverage_line(results: Results) -> str:
    """Return how many checks were planned, ran, were skipped, and were never judged."""
    cover = results.coverage
    parts = [f"{cover.ran} ran", f"{cover.skipped} skipped"]
    if cover.not_judged:
        parts.append(f"{cover.not_judged} never judged")
    return f"{plural(cover.due, 'check')} planned: {', '.join(parts)}"


def needing_attention(results: Results) -> tuple[CheckResult, ...]:
    """Return the checks that need action, most urgent verdict first, then in plan order."""
    return tuple(c for verdict in ATTENTION for c in results.checks if c.verdict is verdict)


def duration(seconds: float | None) -> str:
    """Return ``48.2 s`` or ``3 min 05 s``; empty if the run has no end."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"


def moment(text: str) -> str:
    """Shorten an ISO 8601 time of the journal (UTC) to seconds; empty stays empty."""
    # sample: "2026-11-21T14:04:12.200000+00:00"
    return f"{text[:19].replace('T', ' ')} UTC" if text else ""


def end_label(end: Vantage | Target) -> str:
    """Return the label of a check's end: ``windows-1 (17763.1339)``, ``outside the cluster``."""
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
    """Return what distinguishes a check within its cell: ``TCP``, ``svc.ns nslookup``."""
    # A resolver uses UDP whatever the flow: the name's form and the resolver say more.
    if check.action.case is not None:
        return check.action.case.label
    extra = details_of(check.id, on_no_node=check.placement is Placement.NOWHERE)
    resolver = check.action.resolver
    if resolver and resolver is not Resolver.SYSTEM and resolver.value not in extra:
        extra.append(resolver.value)
    return " ".join([check.action.protocol.value.upper(), *extra])


def fact_text(fact: Fact[T]) -> str:
    """Return a fact's value as text, ``UNKNOWN`` without one."""
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
    """Return the cluster in one line: version, nodes by OS and build, network plugin."""
    builds = sorted({fact_text(node.build) for node in windows_nodes(facts)})
    windows = plural(len(windows_nodes(facts)), "Windows node")
    linux = plural(len(facts.nodes) - len(windows_nodes(facts)), "Linux node")
    parts = [f"Kubernetes {facts.server_version}"]
    parts.append(f"{windows} ({', '.join(builds)})" if builds else windows)
    parts.append(linux)
    network = [fact_text(facts.cni.plugin), fact_text(facts.cni.backend)]
    parts.append(" ".join(word for word in network if word != "unknown") or "unknown CNI")
    return " · ".join(parts)


EXPORT_REQUEST = "Please help to read them: `nettests export` makes a bundle without names and addresses, to send with an issue."
NAMED = 4
"""Nodes or Services listed at most; ``results.json`` has all."""
CAUSES = 3
"""Causes in the headline at most, while they fit; the list of incidents has all."""
CAUSE_LENGTH = 140
"""Characters of a cause: it contains names from a cluster, and the headline is one line."""
LINE, LINES = 24, 3
"""Characters of a line of the headline on a telephone of 360 pixels, and how many lines it may have."""
_SHORT = [
    (re.compile(cause), short)
    for cause, _, short in (
        line.partition(" => ") for line in lines_of("nettests.report", "headline.txt")
    )
]


def headline(results: Results) -> str:
    """Return the run's result in one sentence."""
    if results.run.error:
        return "The run could not start"
    bugs = known_bugs(results)
    if wrong := _what_is_wrong(results, [plural(len(bugs), "known bug")] if bugs else []):
        return wrong
    sentence = (
        f"This cluster behaves as documented, but for {_present(bugs)}" if bugs else _AS_DOCUMENTED
    )
    if not results.exercised.whole:
        sentence = f"{sentence}, as far as exercised: {_scope(results)}"
    if results.facts is not None and OS.WINDOWS not in {node.os for node in results.facts.nodes}:
        sentence = f"{sentence}; without a Windows node, nothing here speaks of Windows"
    return sentence


_AS_DOCUMENTED = "This cluster behaves as documented"


def unread_line(results: Results) -> str:
    """Return how much tool output no parser understands; empty if all was read."""
    if not results.unread:
        return ""
    count = plural(len(results.unread), "tool answer")
    checks = {check for unread in results.unread for check in unread.checks}
    return f"{count} not understood, in {plural(len(checks), 'check')}"


def leading(results: Results) -> Verdict:
    """Return the verdict that sets the headline's colour and symbol."""
    if results.run.error or not results.coverage.ran:
        return Verdict.UNKNOWN
    for verdict in (*ATTENTION, Verdict.KNOWN_BUG):
        if results.counts[verdict]:
            return verdict
    return Verdict.PASS


def _what_is_wrong(results: Results, bugs: list[str]) -> str:
    explained = [incident for incident in results.incidents if incident.explained]
    alone = [
        check
        for incident in results.incidents
        if not incident.explained
        for check in incident.checks
    ]
    if not explained:
        kind = _without_cause(results, alone)
        return " · ".join((kind, *bugs)) if kind else ""
    causes = list(dict.fromkeys(in_short(incident.cause) for incident in explained))
    implied = {f"Pods of {cause.replace(' is ', ' are ')}" for cause in causes}  # cut off
    causes = [cause for cause in causes if cause not in implied]
    unknown = {check.id for check in results.checks if check.verdict is Verdict.UNKNOWN}
    others = sum(check not in unknown for check in alone)
    for shown in range(min(CAUSES, len(causes)), 0, -1):
        more = len(causes) - shown + others
        rest = [*([f"{more} more"] if more else []), *bugs]
        headline = " · ".join((*causes[:shown], *rest))
        if _fits(headline):
            return headline
    words = causes[0].split()
    while len(words) > 1 and not _fits(" · ".join((f"{' '.join(words)} …", *rest))):
        words.pop()
    return " · ".join((f"{' '.join(words)} …", *rest))


def _fits(sentence: str) -> bool:
    return len(textwrap.wrap(sentence, LINE)) <= LINES


_OF_FAMILY = re.compile(r"( over IPv[46]) alone$")


def in_short(cause: str) -> str:
    """Shorten a cause for a headline, by ``headline.txt``: behind its slash stands the protocol alone."""
    if family := _OF_FAMILY.search(cause):
        return f"{in_short(cause[: family.start()])}{family[1]}"
    cause = one_line(cause, limit=CAUSE_LENGTH)
    for pattern, short in _SHORT:
        if match := pattern.fullmatch(cause):
            shortened, _, protocol = match.expand(short).partition("/")
            return f"{shortened} for {protocol}" if protocol else shortened
    return cause


def _without_cause(results: Results, alone: list[str]) -> str:
    kind = _kind(results)
    if not kind or not alone:
        return kind
    flow = alone[0].partition("/")[0] if len(alone) == 1 else ""
    return f"{kind}: {flow or f'{len(alone)} checks without a common cause'}"


def _kind(results: Results) -> str:
    seen = {verdict for verdict, count in results.counts.items() if count}
    seen |= {member.verdict for check in results.checks for member in check.members}
    if seen & {Verdict.FAIL, Verdict.FLAKY}:
        return "Something is not as documented"
    if Verdict.LIFTED in seen:
        return "A limitation no longer shows"
    if Verdict.UNKNOWN in seen:
        return "Not everything could be judged"
    return "" if results.coverage.ran else "Nothing was judged"


def known_bugs(results: Results) -> tuple[str, ...]:
    """Return the manifest ids of the known bugs that show in this run."""
    bugs = {c.limitation_id for c in results.checks if c.verdict is Verdict.KNOWN_BUG}
    return tuple(sorted(bug for bug in bugs if bug))


def _present(bugs: tuple[str, ...]) -> str:
    noun = "a known bug that shows" if len(bugs) == 1 else f"{len(bugs)} known bugs that show"
    return f"{noun} ({', '.join(_first_names(bugs))})"


def _scope(results: Results) -> str:
    """Return ``2 of 4 Windows nodes, 6 of 30 node pairs``; the other OS if it has gaps."""
    first = results.exercised.nodes[0]
    nodes = f"{len(first.exercised)} of {plural(first.total, f'{first.os.words} node')}"
    if len(results.exercised.nodes) > 1 and results.exercised.nodes[1].left_out:
        other = results.exercised.nodes[1]
        nodes += f", {len(other.exercised)} of {plural(other.total, f'{other.os.words} node')}"
    pairs = results.exercised.pairs
    return (
        f"{nodes}, {sum(p.exercised for p in pairs)} of {sum(p.possible for p in pairs)} node pairs"
    )


def exercised_line(results: Results) -> str:
    """Return how many nodes and ordered node pairs were exercised, and which not and why.

    Empty without facts.
    """
    if not results.exercised.nodes:
        return ""
    nodes = "; ".join(_of_os(node) for node in results.exercised.nodes)
    pairs = ", ".join(
        f"{pair.source.words} → {pair.target.words} {pair.exercised} of {pair.possible}"
        for pair in results.exercised.pairs
        if pair.possible
    )
    kinds = [
        f"{', '.join(f'{of.kind} {of.exercised} of {of.possible}' for of in chosen)} {unit}"
        for between, unit in ((True, "pairs"), (False, "nodes"))
        if (chosen := [of for of in results.exercised.kinds if of.pairs is between])
    ]
    return "; ".join(
        (f"Exercised: {nodes}", *([f"ordered node pairs: {pairs}"] if pairs else ()), *kinds)
    )


def _of_os(nodes: ExercisedNodes) -> str:
    phrase = f"{len(nodes.exercised)} of {plural(nodes.total, f'{nodes.os.words} node')}"
    if len(nodes.sources) < len(nodes.exercised):
        phrase += f", {len(nodes.sources)} as a source"
    if nodes.left_out:
        names = [f"{left.node}: {left.reason}" for left in nodes.left_out]
        phrase += f" (left out: {', '.join(_first_names(names))})"
    return phrase


def convergence_line(results: Results) -> str:
    """Return how long Services took to answer, and which were late; empty without any."""
    answered = [convergence for convergence in results.convergence if convergence.converged]
    late = list(_late(results))
    parts = []
    if answered:
        slowest = max(answered, key=lambda convergence: convergence.seconds)
        where = f"{slowest.service} for {slowest.probe}"
        parts.append(f"Services answered within {slowest.seconds:.1f} s ({where} took longest)")
    if late:
        names = [
            f"{convergence.service} for {convergence.probe} in {convergence.seconds:.0f} s"
            for convergence in late
        ]
        parts.append(f"not converged: {', '.join(_first_names(names))}")
    return "; ".join(parts)


def cost_line(results: Results) -> str:
    """Return what took the run's seconds and API requests; empty if the journal does not say."""
    run, parts = results.run, []
    if run.stages:
        spent = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in run.stages.items())
        parts.append(f"Spent: {spent}")
    if run.requests:
        most = [f"{many} {kind}" for kind, many in run.requests.items()]
        parts.append(f"{sum(run.requests.values())} API requests ({', '.join(_first_names(most))})")
    return "; ".join(parts)


def _late(results: Results) -> Iterator[Convergence]:
    """Yield what did not converge, except Services documented to stay silent there."""
    for convergence in results.convergence:
        probed = [
            check.verdict
            for check in results.checks
            if check.ran
            and check.check is not None
            and check.check.target.service == convergence.service
            and check.check.source.probe == convergence.probe
        ]
        if not convergence.converged and not (
            probed and all(verdict in ACCEPTED for verdict in probed)
        ):
            yield convergence


def _first_names(names: list[str] | tuple[str, ...]) -> list[str]:
    more = len(names) - NAMED
    return [*names[:NAMED], *([f"… and {more} more"] if more > 0 else [])]
