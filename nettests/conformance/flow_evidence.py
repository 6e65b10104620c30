"""The evidence of a run for one flow: counts by verdict, deviations, and gaps with reasons.

Third step of ``conformance``. Verdicts are taken from the judge unchanged. A flow without any run
check shows nothing, and is reported so.

A conformance report is published, and reasons of skipped and unknown checks quote texts of the
cluster: what identifies a site is removed from them (``Anonymous``). The journal's writer removes
secrets, but others' journals are not trusted in this.
"""

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from urllib.parse import urlsplit

from nettests.conformance.conformance_report import Failed, Gap, Missing, Statistics
from nettests.model.check import Check, Plan, Skip, counted
from nettests.model.check_id import LEFT_OUT
from nettests.model.facts import ClusterFacts
from nettests.model.grouping import grouped
from nettests.model.verdict import DEVIATING, MERGE_ORDER
from nettests.model.visible import one_line
from nettests.model.words import Verdict
from nettests.redaction import Redactor
from nettests.report.results import CheckResult, Results

_BY_SHAPE = Redactor()
LENGTH = 240
"""Longer reasons are cut."""
ADDRESS = "⟨address⟩"

# samples: "https://api.prod.example:6443/version"
_HOST = re.compile(r"(?<=://)[^\s/\"'<>]+")
# samples: "172.30.0.13", "10.0.0.0/16", "127.0.0.1:6443"
_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?(?::\d{1,5})?(?![\w.]\d)")
# samples: "fd00:10:244::5", "fe80::1%eth0", "00:15:5d:aa:bb:cc"; "09:15:30" is none
_COLONS = re.compile(r"(?<![\w:.])[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?:%\w+)?(?![\w:])")
_HARDWARE = re.compile(r"(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}")


@dataclass(frozen=True, slots=True)
class Anonymous:
    """Replaces what identifies a site: the keys of ``names`` by their values, longest first."""

    names: Mapping[str, str]

    @classmethod
    def of(cls, facts: ClusterFacts, server: str = "") -> "Anonymous":
        """Return the replacements for a cluster: a node is named by its position in its pool."""
        external = facts.external_target
        replacements = {
            urlsplit(server).hostname or "": "the API server",
            facts.context: "the cluster",
            facts.namespace: "the namespace",
            (external and external.name) or "": "the external target",
        }
        for node in facts.nodes:
            called = f"{node.pool} node {node.member}"
            replacements |= {node.hostname: called, node.name: called}
        return cls({name: called for name, called in replacements.items() if name})

    def text(self, text: str) -> str:
        """Return ``text`` on one line, anonymised."""
        line = _HOST.sub(ADDRESS, one_line(_BY_SHAPE.text(text), limit=10 * LENGTH))
        for name in sorted(self.names, key=len, reverse=True):
            called = self.names[name]
            # sample: node "win" in "the driver of win is l2bridge", and not in "windows" or "win-10"
            pattern = rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)"
            line = re.sub(pattern, lambda _, called=called: called, line)  # type: ignore[misc]
        line = _COLONS.sub(_address, _IPV4.sub(ADDRESS, _HARDWARE.sub(ADDRESS, line)))
        return one_line(line, limit=LENGTH)


def _address(match: re.Match[str]) -> str:
    try:
        ipaddress.IPv6Address(match[0])
    except ValueError:
        return match[0]
    return ADDRESS


_COLUMN = {
    Verdict.PASS: "passed",
    Verdict.LIMITED: "limited",
    Verdict.RECORDED: "recorded",
    Verdict.KNOWN_BUG: "known_bugs",
    **dict.fromkeys(DEVIATING, "failed"),
    Verdict.UNKNOWN: "unknown",
    Verdict.SKIPPED: "skipped",
}
_OPEN = frozenset({Verdict.LIMITED, Verdict.RECORDED})
"""Verdicts that show nothing of a claim if the vendor's own entry decides."""
# samples: "source = client-pod (10.244.1.5)", "several-backends (server-windows-1-1, server-linux-1-1)"
_WHO = re.compile(r" \([^()]*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A run, its checks as this version plans them, and the vendor's own entries."""

    results: Mapping[str, Sequence[CheckResult]]
    """By flow."""
    planned: Mapping[str, Check]
    """What this version of nettests plans on the run's facts, by id."""
    belonging: Mapping[str, Sequence[str]]
    """The ids of all checks and skips of a flow there."""
    own_entries: frozenset[str]
    """Ids of the limitation entries that are the vendor's own."""
    names: Anonymous

    @classmethod
    def of(
        cls, results: Results, plan: Plan, own_entries: Iterable[str], names: Anonymous
    ) -> "Evidence":
        """Combine a run with today's plan."""
        every: tuple[Check | Skip, ...] = (*plan.checks, *plan.skips)
        return cls(
            results=grouped((check.flow, check) for check in results.checks),
            planned={check.id: check for check in plan.checks},
            belonging=grouped((planned.flow, planned.id) for planned in every),
            own_entries=frozenset(own_entries),
            names=names,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowEvidence:
    """The evidence for one flow; ``limitations`` decided expectations of its checks."""

    flow: str
    statistics: Statistics
    failed: tuple[Failed, ...] = ()
    missing: tuple[Missing, ...] = ()
    limitations: tuple[str, ...] = ()


def flow_evidence(flow: str, evidence: Evidence) -> FlowEvidence:
    """Return the evidence of a run for a flow."""
    checks = evidence.results.get(flow, ())
    absent = _absent(flow, checks, evidence)
    columns = [_COLUMN[deviation(check) or check.verdict] for check in checks]
    counts = {field.name: columns.count(field.name) for field in fields(Statistics)}
    statistics = Statistics(**{**counts, "not_planned": len(absent.checks) if absent else 0})
    missing = [*([absent] if absent else []), *_grouped(flow, checks, evidence)]
    if statistics.judged and not statistics.passed and not statistics.failed:
        missing.append(_not_met(flow, checks, statistics))
    limited = {
        each.limitation_id
        for check in checks
        for each in (check, *check.members)
        if each.limitation_id and each.verdict is Verdict.LIMITED
    }
    return FlowEvidence(
        flow=flow,
        statistics=statistics,
        failed=tuple(_failed(check, evidence.names) for check in checks if deviation(check)),
        missing=tuple(missing),
        limitations=tuple(sorted(limited)),
    )


def added(counted: Iterable[Statistics]) -> Statistics:
    """Return the sum."""
    summands = [*counted]
    names = [field.name for field in fields(Statistics)]
    return Statistics(**{name: sum(getattr(each, name) for each in summands) for name in names})


def deviation(result: CheckResult) -> Verdict | None:
    """Return the worst deviating verdict of a check and its members; ``None`` if nothing deviates."""
    shown = {result.verdict, *(member.verdict for member in result.members)} & DEVIATING
    return next((verdict for verdict in MERGE_ORDER if verdict in shown), None)


def _absent(flow: str, checks: Sequence[CheckResult], evidence: Evidence) -> Missing | None:
    """Return what belongs to the flow on this cluster and is missing in the run without a skip."""
    belongs = evidence.belonging.get(flow, ())
    # Members of a check that cannot run are a skip with an id of its own.
    held = {check.id.removesuffix(f"/{LEFT_OUT}") for check in checks}
    absent = [check for check in belongs if check.removesuffix(f"/{LEFT_OUT}") not in held]
    if absent:
        reason = "the run left it out, or was planned by suites without it"
    elif belongs or checks:
        return None
    else:
        reason = "there is no check of it on this cluster"
    return Missing(gap=Gap.NOT_PLANNED, flow=flow, reason=reason, checks=tuple(sorted(absent)))


def _grouped(flow: str, checks: Iterable[CheckResult], evidence: Evidence) -> Iterator[Missing]:
    groups = grouped(
        ((gap, evidence.names.text(reason)), check.id)
        for check in checks
        for gap, reason in _gaps(check, evidence)
    )
    for (gap, reason), ids in sorted(groups.items()):
        yield Missing(gap=gap, flow=flow, reason=reason, checks=tuple(sorted(ids)))


def _gaps(result: CheckResult, evidence: Evidence) -> Iterator[tuple[Gap, str]]:
    """Yield the gaps of a check and its members: a judged check may have skipped members."""
    planned = evidence.planned.get(result.id)
    if result.check is not None and planned is not None and not _alike(result.check, planned):
        yield Gap.PLANNED_OTHERWISE, "this version of nettests claims or sends something else"
    applied = {*(result.expectation.entries if result.expectation else ())} & evidence.own_entries
    seen = [member.verdict for member in result.members]
    if result.verdict is Verdict.SKIPPED:
        yield Gap.SKIPPED, result.message
    elif result.verdict is Verdict.UNKNOWN:
        undecided = result.expectation.undecided if result.expectation else None
        # sample: "windows-1 pod → windows-1 pod on its own node, TCP - pod-to-pod-ip - expected …"
        message = result.message.partition(f" - {result.flow} - ")[2] or result.message
        yield Gap.UNKNOWN, undecided or result.distrust or message
    elif result.verdict is Verdict.KNOWN_BUG:
        yield Gap.KNOWN_BUG, result.limitation_id or "a known bug shows"
    elif applied and (
        result.verdict in _OPEN or (result.verdict is Verdict.PASS and _OPEN & {*seen})
    ):
        yield Gap.OWN_LIMITATION, ", ".join(sorted(applied))
    for verdict, gap, word in (
        (Verdict.SKIPPED, Gap.SKIPPED, "skipped"),
        (Verdict.UNKNOWN, Gap.UNKNOWN, "not judged"),
    ):
        if verdict in seen and result.verdict is not verdict:
            yield (
                gap,
                f"{seen.count(verdict)} of {counted([member.label for member in result.members])} were {word}",
            )


def _alike(recorded: Check, planned: Check) -> bool:
    """Whether a recorded check claims and sends the same as this version's, apart from texts."""
    return (recorded.claim, recorded.action, recorded.members) == (
        planned.claim,
        planned.action,
        planned.members,
    )


def _not_met(flow: str, checks: Iterable[CheckResult], counted: Statistics) -> Missing:
    judged = {
        Verdict.LIMITED: counted.limited,
        Verdict.RECORDED: counted.recorded,
        Verdict.KNOWN_BUG: counted.known_bugs,
    }
    words = ", ".join(f"{count} {verdict.value}" for verdict, count in judged.items() if count)
    return Missing(
        gap=Gap.NOT_MET,
        flow=flow,
        reason=f"no check met what the flow claims: {words}",
        checks=tuple(sorted(check.id for check in checks if check.verdict in judged)),
    )


def _failed(result: CheckResult, names: Anonymous) -> Failed:
    """Return a deviating check, without observed addresses and names."""
    return Failed(
        check=result.id,
        verdict=deviation(result) or result.verdict,
        expected=names.text(result.expected),
        observed=names.text(_WHO.sub("", result.observed)),
    )
