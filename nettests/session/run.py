"""A run: deploy, observe, diagnose, trace and clean up, in this order and in the background.

``prepare`` comes first, and raises before anything is deployed. ``Run`` lives in one process (the
xdist controller, or the only one). Tests, in any process, get their verdicts from the journal
through ``Follower``. With ``--trace`` the leading incidents are traced while the run's objects still
exist, one check for each; that changes no verdict and never fails a run.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from nettests.capture.scene import refusal
from nettests.capture.trace_files import write_trace
from nettests.capture.tracer import Traced, Tracer
from nettests.cluster.readiness import read_readiness
from nettests.diagnose.folder import safe_name
from nettests.diagnose.object_text import is_whole
from nettests.diagnose.subjects import NODE, Subject
from nettests.errors import NettestsError
from nettests.model import limits
from nettests.model.check import Check, Plan
from nettests.model.exit_code import ExitCode
from nettests.model.facts import ClusterFacts
from nettests.model.journal_records import Discovered
from nettests.model.run_folder import DIAGNOSTICS, JOURNAL
from nettests.model.words import Question, Verdict
from nettests.outside_files import read_text
from nettests.plan.selection import nodes_by_pod, nodes_of, select
from nettests.probes.sending import STOPPED
from nettests.report.incidents import find_incidents
from nettests.report.results import CheckResult
from nettests.session.blueprint import record_plan
from nettests.session.deploying import Standing, deploy_and_pull
from nettests.session.diagnosis import Failing, diagnose_run
from nettests.session.journal import Journal
from nettests.session.judging import Judging
from nettests.session.node_monitor import NodeMonitor
from nettests.session.observing import Observation, Observing, Once
from nettests.session.prepare import Prepared
from nettests.session.process import make_room
from nettests.session.report_dir import link_latest, write_head
from nettests.session.run_objects import RunObjects
from nettests.session.run_options import Progress
from nettests.session.run_state import RunState
from nettests.tracing.confirming import Read, confirmations

TRACES = "traces"
"""The folder of traces in a run's folder."""
TRACING_SECONDS = 15.0
"""For all traces of one run; no further trace begins once half of it is spent."""
_TRACED = frozenset({Verdict.FAIL, Verdict.FLAKY, Verdict.LIFTED})


def trace_run(
    tracer: Tracer, plan: Plan, judging: Judging, directory: Path, tell: Callable[[str], None]
) -> None:
    """Trace the incidents of a run and report the results through ``tell``; never raise."""
    checks = list(plan.each)
    try:
        trace_incidents(
            representatives(checks, judging, tracer.directory.facts),
            lambda check: _confirmed(
                tracer.trace(check, judging.expectations[check.id], rehearse=False),
                directory / DIAGNOSTICS,
            ),
            directory,
            tell,
        )
    except Exception as error:  # noqa: BLE001 - the run is valid without traces
        tell(f"no trace: {type(error).__name__}: {error}")
    for remark in tracer.remarks:
        tell(remark)


def _confirmed(traced: Traced, diagnostics: Path) -> Traced:
    confirmed = confirmations(traced.trace, collected(diagnostics))
    return replace(traced, trace=replace(traced.trace, confirmed=confirmed))


def collected(diagnostics: Path) -> Read:
    """Return a reader of nodes' diagnostics; it skips truncated files, as the rest may matter."""

    def read(node: str, file: str) -> str | None:
        path = diagnostics / Subject(NODE, node).folder / file
        try:
            text = read_text(path, limits.EXEC_BYTES)
        except (OSError, UnicodeError):
            return None
        return text if is_whole(text) else None

    return read


def representatives(
    checks: Sequence[Check], judging: Judging, facts: ClusterFacts
) -> Iterator[Check]:
    """Yield one traceable check for each incident of a run, the leading incident first."""
    verdicts = judging.verdicts()
    results = [
        CheckResult(
            id=check.id,
            flow=check.flow,
            verdict=verdicts[check.id],
            message="",
            ran=True,
            check=check,
            expectation=judging.expectations.get(check.id),
            observation=judging.observations.get(check.id),
        )
        for check in checks
        if check.id in verdicts
    ]
    by_id = {check.id: check for check in checks}
    for incident in find_incidents(results, facts):
        for name in incident.checks:
            check = by_id.get(name)
            if (
                check is not None
                and verdicts[name] in _TRACED
                and (not refusal(check) and check.action.question is not Question.IDLE)
            ):
                yield check
                break


def trace_incidents(
    chosen: Iterator[Check],
    trace: Callable[[Check], Traced],
    directory: Path,
    tell: Callable[[str], None],
) -> None:
    """Trace checks while time is left, write each trace below ``directory``, and report it."""
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


STOP_SECONDS = 15.0
"""How long ``stop`` waits for checks under way; answers that come later are dropped."""
INTERRUPTED_SECONDS = 6.0
"""The same for an interrupted run: a dial's time-out, well within the grace period of a Pod."""


class Run:
    """A run in the background of this process; ``observation`` decides how often checks are run."""

    def __init__(
        self,
        prepared: Prepared,
        on_progress: Callable[[Progress], None] = lambda _progress: None,
        observation: Observation | None = None,
    ) -> None:
        self.prepared = prepared
        self.run_id = prepared.run_id
        self.directory = prepared.directory
        self.journal = Journal(prepared.directory / JOURNAL)
        self.state = RunState(
            stages=prepared.stages, event=self.journal.event, on_progress=on_progress
        )
        self.journal.on_broken = self.state.break_off
        self.run_objects = RunObjects.of(prepared, prepared.options.keep)
        self.judging = Judging(
            journal=self.journal,
            plan=prepared.blueprint.plan,
            expectations=prepared.blueprint.expectations,
        )
        self.observing = Observing(
            prepared=prepared,
            state=self.state,
            journal=self.journal,
            run_objects=self.run_objects,
            judging=self.judging,
        )
        self._observation = observation or Once()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._nodes: NodeMonitor | None = None
        self._standing: Standing | None = None
        link_latest(self.directory)
        write_head(
            self.journal,
            prepared.options,
            self.run_id,
            context=prepared.connection.context,
            server=prepared.connection.server,
            digests=prepared.blueprint.digests,
        )
        self.journal.write(Discovered(facts=prepared.blueprint.facts))
        if prepared.blueprint.remark:
            self.journal.event(prepared.blueprint.remark, notable=True)

    def start(self, selected: Collection[str]) -> None:
        """Deploy what the selected checks need and run them; return at once.

        ``selected`` are ids of checks and skips; only those are recorded as planned or skipped.
        """
        make_room()
        blueprint = self.prepared.blueprint
        plan = select(blueprint.plan, blueprint.facts, selected)
        record_plan(blueprint, plan, self.journal)
        connection, facts = self.prepared.connection, blueprint.facts
        depends_on = partial(nodes_of, pods=nodes_by_pod(plan.pods), facts=facts)
        names = sorted(frozenset().union(*map(depends_on, plan.each)))
        self._nodes = NodeMonitor(
            names=names,
            read=lambda: read_readiness(connection, names, nodes=len(facts.nodes)),
            tell=partial(self.journal.event, notable=True),
            began=self.state.began,
            silence=connection.under_way.silence,
            gone=self._server_gone,
        )
        self.judging.nodes_of, self.judging.nodes = depends_on, self._nodes
        self._thread = threading.Thread(
            target=self._work, args=(plan,), name="nettests-run", daemon=True
        )
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Wait at most ``seconds`` for the run to end, clean-up included; return whether it did."""
        assert self._thread is not None, "it was started"
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def let_end(self, seconds: float = STOP_SECONDS) -> None:
        """Start no further check, and wait for those under way."""
        self.state.stopped.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(seconds)

    def stop(self, exit_code: int = ExitCode.INTERRUPTED) -> None:
        """Stop observing and remove what this run created, unless it is kept.

        May be called twice, from anywhere; ``exit_code`` decides what ``--keep-on-failure`` means.
        """
        interrupted = exit_code == ExitCode.INTERRUPTED
        self.state.broken_off.set()
        self.let_end(INTERRUPTED_SECONDS if interrupted else STOP_SECONDS)
        if self._nodes is not None:
            self._nodes.stop(last=not interrupted)
        with self._lock:
            self._end_objects(exit_code)

    def finish(self, *, exit_code: int, counts: dict[str, int]) -> None:
        """End the run: start no further check, diagnose, clean up, close journal and connection.

        An interrupted run is not diagnosed. An interrupted clean-up is left to ``close``, with the
        connection open.
        """
        try:
            if exit_code != ExitCode.INTERRUPTED:
                self.let_end(STOP_SECONDS + self.prepared.profile.diagnostics.seconds)
            self.stop(exit_code)
        finally:  # also when the clean-up is interrupted
            self.state.stages.end()
            sent = self.prepared.connection.sent
            if any(counts.values()):  # otherwise the last event says why nothing was judged
                self.journal.event(str(sent))
            self.journal.end(
                exit_code=exit_code,
                counts=counts,
                requests=sent.counts(),
                stages=self.state.stages.seconds(),
            )
            self.journal.close()
            self.state.tell("done")
        self.prepared.connection.close()

    def close(self) -> None:
        """Stop, if ``finish`` did not, and close the connection; may be called twice, anywhere."""
        try:
            self.stop()
        finally:
            self.prepared.connection.close()

    def _work(self, plan: Plan) -> None:
        """Run all stages; whatever happens, every check gets its ``done`` record."""
        reason = f"{STOPPED} before this check was run"
        try:
            if plan.checks and not self.state.stopped.is_set():
                self._observe(plan)
        except NettestsError as error:
            reason = error.message
            self.journal.event(str(error))
        except Exception as error:  # noqa: BLE001 - the tests are waiting for an answer
            reason = f"nettests failed: {type(error).__name__}: {error}"
            self.journal.event(reason)
        finally:
            for check in plan.checks:
                if check.id not in self.journal.finished:
                    self.judging.done(check.id, distrust=reason)
            self._diagnose(plan, self.judging.failing())
            self._trace(plan)
            with self._lock:  # after everything that creates objects
                self._end_objects(None)

    def _observe(self, plan: Plan) -> None:
        if self._nodes is not None:
            self._nodes.start()
        self.state.stages.begin("deploy")
        standing = self._standing = deploy_and_pull(
            self.prepared, plan, self.run_objects, self.state, self.journal
        )
        self._observation.observe(plan, standing, self.observing, self._diagnose)

    def _diagnose(self, plan: Plan, failing: Failing) -> None:
        if self.state.broken_off.is_set():
            return
        diagnose_run(
            self.prepared,
            plan,
            failing,
            facts=self.observing.blueprint.facts,
            namespace=self.run_objects.namespace,
            state=self.state,
            journal=self.journal,
        )

    def _trace(self, plan: Plan) -> None:
        """Trace the leading incidents while the run's objects exist, if the options say so."""
        wanted = self.prepared.options.trace and not self.state.broken_off.is_set()
        if self._standing is None or not wanted or not self.judging.failing():
            return
        self.state.stages.begin("trace")
        self.state.tell("trace")
        tracer = self._standing.tracer(self.observing.blueprint.facts, self.prepared.profile.timing)
        trace_run(tracer, plan, self.judging, self.directory, self.journal.event)

    def _server_gone(self, why: str) -> None:
        """Start no further check and diagnose nothing: each request would wait for a time-out."""
        if self._observation.outlasts_outages:
            return
        self.journal.event(f"the run was stopped: {why}", notable=True)
        self.state.break_off()
        self.prepared.connection.under_way.hasten()

    def _end_objects(self, exit_code: int | None) -> None:
        """Remove or keep the objects; without an exit code, only if it does not depend on one."""
        run_objects = self.run_objects
        if run_objects.touched and not run_objects.gone and not run_objects.kept:
            self.state.stages.begin("clean up")
            self.state.tell("clean up")
        run_objects.end(exit_code)
        self.state.stages.end()
        if run_objects.left_behind:
            self.journal.event(f"clean-up: {run_objects.left_behind}")
        elif run_objects.kept:
            self.journal.event(run_objects.kept)
