"""A trace without a run: deploy what one check needs, trace it, remove everything. For ``nettests trace CHECK``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nettests.capture.scene import refusal
from nettests.capture.trace_files import write_trace
from nettests.errors import PlanError
from nettests.model.check import Check
from nettests.model.nearest import nearest
from nettests.plan import Flow
from nettests.plan.selection import select
from nettests.private import require_writable
from nettests.session.blueprint import Blueprint
from nettests.session.deploying import deploy, temporary_objects
from nettests.session.prepare import Prepared, prepare
from nettests.session.run_options import RunOptions
from nettests.tracing.finding import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedNow:
    """The trace of a check, its page, and remarks for people."""

    check: str
    trace: Trace
    page: Path
    remarks: tuple[str, ...]


def trace_now(
    options: RunOptions,
    flows: Sequence[Flow],
    check_id: str,
    directory: Path,
    tell: Callable[[str], None],
) -> TracedNow:
    """Trace one check and write the trace into ``directory``; ``NettestsError`` if it cannot be."""
    require_writable(directory)
    prepared = prepare(options, flows)
    try:
        check = _check_named(prepared.blueprint, check_id)
        if why := refusal(check):
            raise PlanError(f"{check.id} cannot be traced: {why}")
        return _trace(prepared, check, directory, tell)
    finally:
        prepared.connection.close()


def _check_named(blueprint: Blueprint, name: str) -> Check:
    """Return the check or member of that id; the first member represents a check."""
    checks = {check.id: check.each[0] for check in blueprint.plan.checks}
    checks |= {member.id: member for member in blueprint.plan.each}
    if name not in checks:
        skipped = {skip.id: skip.reason for skip in blueprint.plan.skips}
        if name in skipped:
            raise PlanError(f"{name} is skipped on this cluster: {skipped[name]}")
        hint = nearest(name, [*checks], otherwise="list them with: nettests plan", most=3)
        raise PlanError(f"this cluster has no check {name!r}", hint=hint)
    return checks[name]


def _trace(
    prepared: Prepared, check: Check, directory: Path, tell: Callable[[str], None]
) -> TracedNow:
    facts = prepared.blueprint.facts
    whole = next(
        candidate
        for candidate in prepared.blueprint.plan.checks
        if check.id in {candidate.id, *(member.id for member in candidate.each)}
    )
    plan = select(prepared.blueprint.plan, facts, {whole.id})
    remarks: list[str] = []
    with temporary_objects(prepared, remarks) as run_objects:
        tell("deploy")
        standing = deploy(prepared, plan, run_objects, lost=remarks.append)
        tracer = standing.tracer(facts, prepared.profile.timing, tell)
        expectation = prepared.blueprint.expectations[whole.id]
        traced = tracer.trace(check, expectation, rehearse=True)
        remarks += tracer.remarks
        tell("clean up")
    page = write_trace(directory, traced.trace, traced.captures, title=check.id)
    return TracedNow(check=check.id, trace=traced.trace, page=page, remarks=tuple(remarks))
