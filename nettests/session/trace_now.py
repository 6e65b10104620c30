"""A trace without a run: deploy what one check needs, trace it, remove everything. For ``nettests trace CHECK``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nettests import probes
from nettests.errors import PlanError
from nettests.model.check import Check
from nettests.model.nearest import nearest
from nettests.plan import Flow
from nettests.plan.selection import select
from nettests.session.blueprint import Blueprint
from nettests.session.holding import Holding
from nettests.session.prepare import Prepared, blank_of, prepare
from nettests.session.report_dir import require_writable
from nettests.session.run_options import Keep, RunOptions
from nettests.session.trace_files import write_trace
from nettests.session.trace_scene import refusal
from nettests.session.tracing import Tracer
from nettests.tracing.result import Trace


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
    """Trace one check of a cluster and write the trace into ``directory``; ``NettestsError`` says why that cannot be done."""
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
    """Return the check, or the member, of that id; of a check with members the first one, which stands for it."""
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
    facts, profile = prepared.blueprint.facts, prepared.profile
    whole = next(
        candidate
        for candidate in prepared.blueprint.plan.checks
        if check.id in {candidate.id, *(member.id for member in candidate.each)}
    )
    plan = select(prepared.blueprint.plan, facts, {whole.id})
    holding = Holding(
        connection=prepared.connection,
        run_id=prepared.run_id,
        namespace=facts.namespace or f"nettests-{prepared.run_id}",
        timing=profile.timing,
        keep=Keep.NEVER,
        shared=bool(facts.namespace),
    )
    remarks: list[str] = []
    try:
        access, marks = holding.begin(touches=True)
        blank = blank_of(marks.labels, profile, facts, holding.namespace)
        tell("deploy")
        deployment = probes.deploy(
            access,
            plan,
            facts,
            blank=blank,
            timing=profile.timing,
            on_namespace=lambda: holding.guard(marks, remarks.append),
            on_progress=lambda *_: None,
        )
        tracer = Tracer(
            access=access,
            directory=probes.Directory(facts=facts, deployment=deployment),
            blank=blank,
            timing=profile.timing,
            tell=tell,
        )
        expectation = prepared.blueprint.expectations[whole.id]
        traced = tracer.trace(check, expectation, rehearse=True)
        remarks += tracer.remarks
    finally:
        tell("clean up")
        holding.end(0)
        if holding.left_behind:
            remarks.append(f"left behind: {holding.left_behind}")
    page = write_trace(directory, traced.trace, traced.captures, title=check.id)
    return TracedNow(check=check.id, trace=traced.trace, page=page, remarks=tuple(remarks))
