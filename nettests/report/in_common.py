"""What the checks that went wrong have in common, and the others do not: where to look first.

Used by ``build``; the documents say it above the list of what went wrong. When a node, a protocol or the cluster's DNS is broken, dozens of checks
say so one by one; this counts which trait covers most of them and few that went well. It counts only: it
changes no verdict, and says nothing where no trait stands out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from nettests.model.check import Check
from nettests.model.words import (
    OS,
    Family,
    Placement,
    TargetKind,
    VantageKind,
    Verdict,
)
from nettests.report.results import CheckResult, InCommon

WRONG = frozenset({Verdict.FAIL, Verdict.FLAKY, Verdict.UNKNOWN})
"""What may have one cause in the cluster; ``lifted`` checks share their limitation instead."""
FEWEST = 4
"""Fewer checks are read one by one."""
COVERED, CONCENTRATED = 0.6, 0.75
"""A trait stands out when so many of the wrong checks have it, and so many of those that have it are wrong."""
GAIN = 0.05
"""Two traits together are named only where they tell that much better than one."""


_CLUSTERIP = "ask for a ClusterIP"
"""Also by a name: what the name resolves to is asked next."""
_KINDS = {
    TargetKind.SERVICE_CLUSTERIP: _CLUSTERIP,
    TargetKind.SERVICE_PQDN: _CLUSTERIP,
    TargetKind.SERVICE_PARTIAL_NAME: _CLUSTERIP,
    TargetKind.SERVICE_FQDN: _CLUSTERIP,
    TargetKind.NODEPORT: "ask a NodePort",
    TargetKind.HOSTPORT: "ask a hostPort",
    TargetKind.EXTERNAL_IP: "leave the cluster",
    TargetKind.EXTERNAL_NAME: "leave the cluster",
    TargetKind.NODE_IP: "ask a node's address",
    TargetKind.API_SERVER: "ask the API server",
    TargetKind.CONFIGURATION: "read the configuration of a node",
    TargetKind.POD: "start a Pod of their own",
}
_VANTAGES = {
    VantageKind.NODE: "start at a node itself",
    VantageKind.EXTERNAL: "come from outside",
}


def in_common(checks: Iterable[CheckResult]) -> InCommon | None:
    """Return the trait that stands out among the checks that went wrong, ``None`` without one."""
    asked = [
        (result.verdict in WRONG, tuple(_traits(result.check)))
        for result in checks
        if result.ran and result.check
    ]
    all_wrong = sum(wrong for wrong, _ in asked)
    if all_wrong < FEWEST:
        return None
    one, two = _best(asked, all_wrong, 1), _best(asked, all_wrong, 2)
    if one and two:
        return two if two.fitting > one.fitting + GAIN else one
    return one or two


def _best(
    asked: Sequence[tuple[bool, tuple[str, ...]]], all_wrong: int, size: int
) -> InCommon | None:
    """Return the combination of ``size`` traits that fits best of those that stand out."""
    there: Counter[tuple[str, ...]] = Counter()
    wrong: Counter[tuple[str, ...]] = Counter()
    for went_wrong, traits in asked:
        for chosen in combinations(traits, size):
            there[chosen] += 1
            wrong[chosen] += went_wrong
    found = [
        InCommon(
            trait=" and ".join(chosen),
            wrong=wrong[chosen],
            all_wrong=all_wrong,
            asked=there[chosen],
        )
        for chosen in there
        if wrong[chosen] >= max(COVERED * all_wrong, CONCENTRATED * there[chosen])
        and there[chosen] < len(asked)
    ]
    return max(found, key=lambda one: one.fitting, default=None)


def _traits(check: Check) -> Iterator[str]:
    """Yield what a check shares with others, the more telling first; each completes "these checks …"."""
    source, target = check.source, check.target
    if check.asks_dns:
        yield "ask the cluster's DNS"
    if target.kind in _KINDS:
        yield _KINDS[target.kind]
    if check.placement is Placement.OTHER_NODE:
        yield "lead to another node"
    if check.placement is not Placement.NOWHERE:
        yield f"use {check.ask.protocol.value.upper()}"
    if check.ask.family is Family.IPV6:
        yield "use IPv6"
    for end, verb in ((source, "start at"), (target, "lead to")):
        if end.role:
            yield f"{verb} {end.role}"
        if end.node:
            yield f"{verb} node {end.node}"
        if end.os is OS.WINDOWS:
            yield f"{verb} Windows"
    if source.kind in _VANTAGES:
        yield _VANTAGES[source.kind]
