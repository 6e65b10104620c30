"""``--trace``: trace the leading incidents of a run while its objects still exist.

After the last check and its diagnostics, before clean-up. One check represents each incident; a run without a red
check traces nothing. It changes no verdict and never fails a run.

Existing capture files → a trace and its page. For ``nettests trace --pcap``; contacts no cluster.

A trace without a run: deploy what one check needs, trace it, remove everything. For ``nettests trace CHECK``.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path

from nettests.diagnose.folder import is_whole, safe_name
from nettests.diagnose.subjects import NODE, Subject
from nettests.errors import NettestsError, PlanError
from nettests.model import limits
from nettests.model.check import Check, Plan
from nettests.model.facts import Address, ClusterFacts
from nettests.model.nearest import nearest
from nettests.model.run_folder import DIAGNOSTICS
from nettests.model.words import Question, Verdict
from nettests.outside_files import read_text
from nettests.plan import Flow
from nettests.plan.selection import select
from nettests.report.incidents import find_incidents
from nettests.report.results import CheckResult
from nettests.session.blueprint import Blueprint
from nettests.session.captures import write_trace
from nettests.session.for_a_while import deployed, held_for_a_while
from nettests.session.prepare import Prepared, prepare
from nettests.session.report_dir import require_writable
from nettests.session.run_options import RunOptions
from nettests.session.trace_scene import refusal
from nettests.session.tracing import Traced, Tracer
from nettests.session.watch import Watch
from nettests.tracing.confirming import Read, confirmations
from nettests.tracing.finding import Trace
from nettests.tracing.mark import Mark
from nettests.tracing.packet import Capture
from nettests.tracing.path import StatedFlow, protocol_of, scene_of_captures, spanning, trace

TRACES = "traces"
"""The folder of traces in that of a run."""
TRACING_SECONDS = 15.0
"""For all traces of one run; another one is begun while half of it is left."""
_TRACED = frozenset({Verdict.FAIL, Verdict.FLAKY, Verdict.LIFTED})


def trace_run(
    tracer: Tracer, plan: Plan, watch: Watch, directory: Path, tell: Callable[[str], None]
) -> None:
    """Trace what stands for the incidents of a run; whatever happens is told, and nothing is raised."""
    checks = list(plan.each)
    try:
        trace_incidents(
            representatives(checks, watch, tracer.directory.facts),
            lambda check: _confirmed(
                tracer.trace(check, watch.expectations[check.id], rehearse=False),
                directory / DIAGNOSTICS,
            ),
            directory,
            tell,
        )
    except Exception as error:  # noqa: BLE001 - what was observed stands without it
        tell(f"no trace: {type(error).__name__}: {error}")
    for remark in tracer.remarks:
        tell(remark)


def _confirmed(traced: Traced, diagnostics: Path) -> Traced:
    confirmed = confirmations(traced.trace, collected(diagnostics))
    return replace(traced, trace=replace(traced.trace, confirmed=confirmed))


def collected(diagnostics: Path) -> Read:
    """Return what reads the files of nodes; one that was cut is none, because what it lacks may have been there."""

    def read(node: str, file: str) -> str | None:
        path = diagnostics / Subject(NODE, node).folder / file
        try:
            text = read_text(path, limits.EXEC_BYTES)
        except (OSError, UnicodeError):
            return None
        return text if is_whole(text) else None

    return read


def representatives(checks: Sequence[Check], watch: Watch, facts: ClusterFacts) -> Iterator[Check]:
    """Yield the checks that stand for the incidents of a run, that of the leading one first."""
    verdicts = watch.verdicts()
    results = [
        CheckResult(
            id=check.id,
            flow=check.flow,
            verdict=verdicts[check.id],
            message="",
            ran=True,
            check=check,
            expectation=watch.expectations.get(check.id),
            observation=watch.observations.get(check.id),
        )
        for check in checks
        if check.id in verdicts
    ]
    by_id = {check.id: check for check in checks}
    for incident in find_incidents(results, facts):
        for name in incident.checks:
            check = by_id.get(name)
            if check is not None and verdicts[name] in _TRACED and _quick(check):
                yield check
                break


def _quick(check: Check) -> bool:
    """Whether a check can be traced in the time of a run: what is silent for minutes is not."""
    return not refusal(check) and check.action.question is not Question.IDLE


def trace_incidents(
    chosen: Iterator[Check],
    trace: Callable[[Check], Traced],
    directory: Path,
    tell: Callable[[str], None],
) -> None:
    """Trace these checks while there is time, write each trace below ``directory``, and tell what was found."""
    began = time.monotonic()
    for number, check in enumerate(chosen):
        if number and time.monotonic() - began > TRACING_SECONDS / 2:
            return
        try:
            traced = trace(check)
            folder = safe_name(check.id)
            write_trace(directory / TRACES / folder, traced.trace, traced.captures, title=check.id)
        except NettestsError as error:
            tell(f"no trace of {check.id}: {error.message}")
            return
        result = traced.trace
        where = f" on {result.node}" if result.node else ""
        detail = f": {result.detail}" if result.detail else ""
        detail += f"; {'; '.join(result.confirmed)}" if result.confirmed else ""
        tell(
            f"trace of {check.id}: {result.finding.words}{where}{detail}; {TRACES}/{folder}/trace.html"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Captures by file, each with its node's name if one was given, and what describes the flow."""

    captures: tuple[str, ...]
    port: int | None = None
    token: str | None = None
    service: str | None = None
    backends: tuple[str, ...] = ()
    vni: int | None = None


def trace_captures(given: Given, directory: Path) -> tuple[Trace, Path]:
    """Read the captures, write the trace, and return both; ``NettestsError`` for what cannot be read."""
    if (given.port is None) == (not given.token):
        raise PlanError(
            "which flow is it? Name one of --port and --token",
            hint="--port 51234, the client's port of a TCP connection; --token hello, how its datagrams begin",
        )
    require_writable(directory)
    flow = StatedFlow(
        mark=Mark(
            protocol=protocol_of(token=given.token),
            port=given.port,
            token=(given.token or "").encode(),
        ),
        service=_address("--service", given.service) if given.service else None,
        backends=tuple(_address("--backend", backend) for backend in given.backends),
        vni=given.vni,
    )
    captures = spanning(_read(given.captures), flow.mark)
    result = trace(scene_of_captures(captures, flow), flow.mark, captures)
    page = write_trace(directory, result, (), title=", ".join(given.captures))
    return result, page


def _read(files: tuple[str, ...]) -> list[Capture]:
    from nettests import wire  # noqa: PLC0415 - scapy is an extra

    captures: dict[str, Capture] = {}
    for text in files:
        name, equals, rest = text.partition("=")
        path = Path(rest if equals else text)
        node = name if equals else path.stem
        if node in captures:
            raise PlanError(
                f"two captures are of {node}", hint="name their nodes: --pcap win-1=a.pcap"
            )
        captures[node] = wire.read_file(node, path)
    return list(captures.values())


def _address(option: str, text: str) -> Address:
    try:
        return ip_address(text)
    except ValueError as error:
        raise PlanError(f"{option} {text} is no IP address") from error


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
    facts = prepared.blueprint.facts
    whole = next(
        candidate
        for candidate in prepared.blueprint.plan.checks
        if check.id in {candidate.id, *(member.id for member in candidate.each)}
    )
    plan = select(prepared.blueprint.plan, facts, {whole.id})
    remarks: list[str] = []
    with held_for_a_while(prepared, remarks) as holding:
        tell("deploy")
        standing = deployed(prepared, plan, holding, remarks)
        tracer = Tracer(
            access=standing.access,
            directory=standing.directory(facts),
            blank=standing.blank,
            timing=prepared.profile.timing,
            tell=tell,
        )
        expectation = prepared.blueprint.expectations[whole.id]
        traced = tracer.trace(check, expectation, rehearse=True)
        remarks += tracer.remarks
        tell("clean up")
    page = write_trace(directory, traced.trace, traced.captures, title=check.id)
    return TracedNow(check=check.id, trace=traced.trace, page=page, remarks=tuple(remarks))
