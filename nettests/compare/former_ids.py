"""Ids that checks had before every node became a member of every flow's checks, and the checks that took their place.

``reading`` brings older results into today's ids, for ``diff`` and ``history``, and ``baseline`` finds the checks that
an older entry is about. The table is in ``former_ids.json``. A former check was about all nodes of one or two systems;
each of its members belongs to the check of its nodes' pools. Pure.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files

from nettests.compare.recorded import Member, RecordedCheck, RecordedRun, Seen
from nettests.model.check_id import flow_of, parts_of
from nettests.model.facts import NodeFacts
from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.words import OS, Placement, Verdict

_SERVICE = "svc-server-"
"""What a member's label has for a Service in front of a node's server."""
_POOLS = ("{source}", "{target}")
_RANK = {verdict: rank for rank, verdict in enumerate(SUMMARY_ORDER)}


@cache
def _table() -> Mapping[str, str]:
    text = (files("nettests.compare") / "former_ids.json").read_text(encoding="utf-8")
    table: Mapping[str, str] = json.loads(text)
    return table


def is_former(check: str) -> bool:
    """Whether an id is of this kind: its place is an operating system where it is a node pool today."""
    parts = parts_of(check)
    return parts[0] in _table() and len(parts) > 1 and parts[1] in set(OS)


def successors(check: str, ids: Iterable[str]) -> Iterator[str]:
    """Yield those of ``ids`` that took the place of a former check, or of a part of it."""
    systems = [part for part in parts_of(check)[1:] if part in set(OS)]
    places = parts_of(_table()[flow_of(check)].replace("{protocol}", _protocol(check)))
    for candidate in ids:
        parts = parts_of(candidate)
        if len(parts) != len(places):
            continue
        pairs = [*zip(places, parts, strict=True)]
        pools = [part.rpartition("-")[0] for place, part in pairs if place in _POOLS]
        alike = all(place.startswith("{") or place == part for place, part in pairs)
        if alike and all(a == b for a, b in zip(systems, pools, strict=False)):
            yield candidate


def current(run: RecordedRun) -> RecordedRun:
    """Return the run with the members of former checks in today's ones; without facts nothing is known of its pools."""
    former = [check for check in run.checks if is_former(check.id)]
    if not former or run.facts is None:
        return run
    nodes = {node.name: node for node in run.facts.nodes}
    checks = {check.id: check for check in run.checks if not is_former(check.id)}
    for check in former:
        for label, member in check.members.items():
            if name := _current_id(check.id, label, nodes):
                checks[name] = _with(checks.get(name, _empty(check, name)), label, member)
    return replace(run, checks=tuple(checks[name] for name in sorted(checks)))


def _protocol(check: str) -> str:
    """Return the protocol of a former check: the first part after the flow that is no system."""
    return next((part for part in parts_of(check)[1:] if part not in set(OS)), "")


def _current_id(check: str, label: str, nodes: Mapping[str, NodeFacts]) -> str:
    """Return the id of the check that a member belongs to today; empty if its nodes are not known."""
    name, _, to = label.partition(" → ")
    source, target = nodes.get(name), nodes.get(to)
    if to.startswith(_SERVICE):
        slots = {f"{_SERVICE}{node.pool}-{node.member}": node for node in nodes.values()}
        target = slots.get(to)
    if source is None or (to and target is None):
        return ""
    lightest = min((node.pool for node in nodes.values()), key=lambda pool: (pool[0] != "l", pool))
    same = target is not None and target.name == source.name
    return _table()[flow_of(check)].format(
        source=source.pool,
        target=target.pool if target else lightest,
        placement=(Placement.SAME_NODE if same else Placement.OTHER_NODE).value,
        protocol=_protocol(check),
    )


def _empty(former: RecordedCheck, name: str) -> RecordedCheck:
    parts = parts_of(name)
    roles = [part if part.rpartition("-")[0] in set(OS) else None for part in (*parts[1:3], "")]
    return replace(
        former,
        id=name,
        flow=flow_of(name),
        verdict=Verdict.SKIPPED,
        source=replace(former.source, role=roles[0]),
        target=replace(former.target, role=roles[1]),
        members={},
    )


def _with(check: RecordedCheck, label: str, member: Member) -> RecordedCheck:
    """Return a check with one more member; of two about the same nodes the worse one counts."""
    held = check.members.get(label)
    if held and _RANK[held.verdict] <= _RANK[member.verdict]:
        return check
    worse = _RANK[member.verdict] < _RANK[check.verdict]
    return replace(
        check,
        verdict=member.verdict if worse else check.verdict,
        message=(worse and member.message) or check.message,
        observed=Seen(text=check.observed.text),
        members={**check.members, label: member},
    )
