"""The text of a ``results.json`` → ``RecordedRun``, or an error that says how to get a valid one.

The reverse of ``report.results_json``. Unknown keys are ignored: a newer version with the same
``apiVersion`` may add some. The file's path is only used in messages. Checks had other ids before
every node became a member of its flow's checks: ``former_ids.json`` maps older ids to today's, for
``diff``, ``history`` and ``baseline``. A former check covered all nodes of one or two systems; each
of its members belongs to the check of its nodes' pools.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from cattrs.errors import BaseValidationError

from nettests.compare.recorded import Member, RecordedCheck, RecordedRun, Seen
from nettests.errors import PathError
from nettests.model.check_id import flow_of, parts_of
from nettests.model.codec import from_data
from nettests.model.facts import NodeFacts
from nettests.model.json_text import read_json
from nettests.model.limits import TooMuchError
from nettests.model.nearest import nearest
from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.words import OS, Placement, Verdict
from nettests.report.results import API_VERSION

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    """A kind of document: its content in words, who writes it, and what to name or do."""

    kind: str
    version: str
    holds: str
    writers: str
    hint: str
    again: str


RESULTS = Readable(
    kind="Results",
    version=API_VERSION,
    holds="results of a run",
    writers="runs",
    hint="name a run's folder or its results.json",
    again="make it again from the journal beside it: nettests rejudge RUN_DIR",
)


def read_results(text: str | bytes, name: str) -> RecordedRun:
    """Return the run in a document's text, with today's ids; ``PathError`` for anything else."""
    return current(read_value(text, name, RESULTS, RecordedRun))


def read_value(text: str | bytes, name: str, wanted: Readable, kind: type[T]) -> T:
    """Return the value in the text of one of our documents; ``PathError`` for anything else."""
    data = _document(text, name, wanted)
    try:
        return from_data(_ledger(data) if kind is RecordedRun else data, kind)
    except (BaseValidationError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise PathError(
            f"{name} is not as {wanted.writers} write it: {_first(error)}", hint=wanted.again
        ) from error


def _ledger(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a document with each check's members by label; it groups them by result."""
    checks = []
    for check in data.get("checks", ()):
        groups = check.get("members") or {}
        members = {label: group for group in groups.get("others", ()) for label in group["members"]}
        members |= {member["member"]: member for member in groups.get("deviating", ())}
        checks.append({**check, "members": members})
    return {**data, "checks": checks}


def _document(text: str | bytes, name: str, wanted: Readable) -> Mapping[str, Any]:
    try:
        data = read_json(text)
    except TooMuchError as error:
        raise PathError(f"{name} is not read: {error}") from error
    except ValueError as error:
        raise PathError(
            f"{name} cannot be read: {error}; it is cut off, or not JSON", hint=wanted.again
        ) from error
    kind, version = (
        data.get(key) if isinstance(data, dict) else None for key in ("kind", "apiVersion")
    )
    if not isinstance(data, dict) or kind != wanted.kind:
        detail = f": its kind is {kind!r}" if kind is not None else ""
        raise PathError(f"{name} holds no {wanted.holds}{detail}", hint=wanted.hint)
    if version != wanted.version:
        reads = f"this version reads {wanted.version}"
        hint = nearest(str(version), [wanted.version], otherwise=reads)
        raise PathError(
            f"{name} has apiVersion {version!r}, which this version of nettests does not read",
            hint=f"{hint}; compare with the version of nettests that wrote it, or a newer one",
        )
    return data


def _first(error: BaseException) -> str:
    """Return the innermost reason of an error that may contain others."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    return str(error) or type(error).__name__


_SERVICE = "svc-server-"
"""A Service in front of a node's server in a member's label."""
_POOLS = ("{source}", "{target}")
_RANK = {verdict: rank for rank, verdict in enumerate(SUMMARY_ORDER)}


@cache
def _table() -> Mapping[str, str]:
    text = (files("nettests.compare") / "former_ids.json").read_text(encoding="utf-8")
    table: Mapping[str, str] = json.loads(text)
    return table


def is_former(check: str) -> bool:
    """Whether an id is a former one: with an OS in place of a node pool."""
    parts = parts_of(check)
    return parts[0] in _table() and len(parts) > 1 and parts[1] in set(OS)


def successors(check: str, ids: Iterable[str]) -> Iterator[str]:
    """Yield those of ``ids`` that replaced a former check, or a part of it."""
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
    """Return the run with former checks' members in today's checks; unchanged without facts."""
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
    """Return the protocol of a former check: the first part after the flow that is no OS."""
    return next((part for part in parts_of(check)[1:] if part not in set(OS)), "")


def _current_id(check: str, label: str, nodes: Mapping[str, NodeFacts]) -> str:
    """Return the id of a member's check today; empty if its nodes are not known."""
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
    """Return a check with one more member; the worse of two for the same nodes counts."""
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
