"""The stages of a run in order: prepare, deploy and observe in the background, clean up.

``prepare`` comes first, and raises before anything is deployed. ``Run`` lives in one process (the xdist controller,
or the only one). Tests, in any process, take their verdicts from the journal with ``Follower``.
"""

import threading
import time
from collections.abc import Callable, Collection, Mapping
from functools import partial

from nettests import probes
from nettests.cluster.access import Access
from nettests.errors import NettestsError
from nettests.model.check import Plan
from nettests.model.exit_code import ExitCode
from nettests.model.journal_records import Discovered, Planned, Pulled, Skipped, others
from nettests.model.run_folder import DIAGNOSTICS, JOURNAL
from nettests.plan.node_pools import unusable
from nettests.plan.selection import select
from nettests.probes.sending import STOPPED
from nettests.session.blueprint import Blueprint, documented, learn
from nettests.session.calibrate_now import Calibrating
from nettests.session.diagnosis import Diagnosis, Failing, diagnose_failures, host_pods
from nettests.session.holding import Holding
from nettests.session.journal import Journal
from nettests.session.node_watch import Dependence, NodeWatch, PodWatch
from nettests.session.prepare import Prepared, blank_of, make_room
from nettests.session.report_dir import link_latest, write_head
from nettests.session.run_options import Progress
from nettests.session.run_traces import trace_run
from nettests.session.standing import Standing
from nettests.session.tracing import Tracer
from nettests.session.watch import Watch

STOP_SECONDS = 15.0
"""How long ``stop`` waits for questions under way; what comes later is dropped."""
INTERRUPTED_SECONDS = 6.0
"""The same where the run is interrupted: a dial's own time-out and a moment. Who ends a Pod kills it 30 s later."""


class Run:
    """A run in the background of this process.

    ``on_progress`` is called from background threads with every ``Progress``.
    """

    def __init__(
        self, prepared: Prepared, on_progress: Callable[[Progress], None] | None = None
    ) -> None:
        self.prepared = prepared
        self.run_id = prepared.run_id
        self.directory = prepared.directory
        self.journal = Journal(prepared.directory / JOURNAL)
        self._on_progress = on_progress
        self._progress = Progress(stage="prepared")
        self._began = time.monotonic()
        self._stopped = threading.Event()
        self.holding = Holding(
            connection=prepared.connection,
            run_id=self.run_id,
            namespace=prepared.blueprint.facts.namespace or f"nettests-{self.run_id}",
            timing=prepared.profile.timing,
            keep=prepared.options.keep,
            shared=bool(prepared.blueprint.facts.namespace),
        )
        self.stages = prepared.stages
        self._calibrating = Calibrating(
            write=self.journal.write, timing=prepared.profile.timing, stopped=self._stopped
        )
        self._broken_off = threading.Event()
        """The run is not only to stop, but to end at once: without diagnostics."""
        self.journal.on_broken = self._break_off
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._nodes: NodeWatch | None = None
        self._standing: Standing | None = None
        blueprint = prepared.blueprint
        self._facts = blueprint.facts  # and what nodes tell of themselves once probes stand
        self.watch = Watch(
            journal=self.journal, plan=blueprint.plan, expectations=blueprint.expectations
        )
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

    @property
    def progress(self) -> Progress:
        """The latest progress."""
        return self._progress

    def start(self, selected: Collection[str]) -> None:
        """Deploy what the selected checks need and observe them; returns at once.

        ``selected`` are ids of checks and skips; only those are recorded as planned or skipped.
        """
        make_room()
        blueprint = self.prepared.blueprint
        plan = select(blueprint.plan, blueprint.facts, selected)
        for check in plan.checks:
            expectation = blueprint.expectations[check.id]
            unlike = others(check, blueprint.expectations)
            self.journal.write(Planned(check=check, expectation=expectation, others=unlike))
        for skip in plan.skips:
            self.journal.write(Skipped(skip=skip))
        for node in blueprint.facts.nodes:
            if why := unusable(node):
                self.journal.event(f"node {node.name} is left out: {why}")
        depends = Dependence(plan=plan, facts=blueprint.facts)
        tell = partial(self.journal.event, notable=True)
        self._nodes = depends.watch(self.prepared.connection, tell, self._began, self._gone)
        self.watch.nodes_of, self.watch.nodes = depends.of, self._nodes
        self._thread = threading.Thread(
            target=self._work, args=(plan,), name="nettests-run", daemon=True
        )
        self._thread.start()

    def stop(self, exit_code: int = ExitCode.INTERRUPTED) -> None:
        """Stop observing and remove what this run created, unless it is kept.

        May be called twice, from anywhere; ``exit_code`` decides what ``--keep-on-failure`` means.
        """
        interrupted = exit_code == ExitCode.INTERRUPTED
        self._broken_off.set()
        self._let_end(INTERRUPTED_SECONDS if interrupted else STOP_SECONDS)
        if self._nodes is not None:
            self._nodes.stop(last=not interrupted)
        with self._lock:
            self._end_holding(exit_code)

    def finish(self, *, exit_code: int, counts: dict[str, int]) -> None:
        """Start no further check, let failures be diagnosed unless the run is interrupted, and close journal and connection.

        Who is too impatient for the clean-up leaves it to ``close``, and the connection open for it.
        """
        try:
            if exit_code != ExitCode.INTERRUPTED:
                self._let_end(STOP_SECONDS + self.prepared.profile.diagnostics.seconds)
            self.stop(exit_code)
        finally:  # also when somebody is too impatient for the clean-up
            self.stages.end()
            sent = self.prepared.connection.sent
            if any(counts.values()):  # else the last event says why nothing was judged
                self.journal.event(str(sent))
            self.journal.end(
                exit_code=exit_code,
                counts=counts,
                requests=sent.counts(),
                stages=self.stages.seconds(),
            )
            self.journal.close()
            self._tell("done")
        self.prepared.connection.close()

    def close(self) -> None:
        """Stop, if ``finish`` did not come to its end, and send nothing any more; may be called twice, from anywhere."""
        try:
            self.stop()
        finally:
            self.prepared.connection.close()

    def _let_end(self, seconds: float) -> None:
        """Start no further check, and wait for what is under way."""
        self._stopped.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(seconds)

    def _work(self, plan: Plan) -> None:
        """Deploy, observe, diagnose and clean up; whatever happens, every check gets its ``done`` record."""
        reason = f"{STOPPED} before this check was run"
        try:
            if plan.checks and not self._stopped.is_set():
                self._observe(plan)
        except NettestsError as error:
            reason = error.message
            self.journal.event(str(error))
        except Exception as error:  # noqa: BLE001 - the tests are waiting for an answer
            reason = f"nettests failed: {type(error).__name__}: {error}"
            self.journal.event(reason)
        finally:
            for check in self._left(plan):
                self.watch.done(check, distrust=reason)
            self._diagnose(plan)
            self._trace(plan)
            with self._lock:  # the last to create anything is the last to remove
                self._end_holding(None)

    def _observe(self, plan: Plan) -> None:
        if self._nodes is not None:
            self._nodes.start()
        self.stages.begin("deploy")
        standing = self._standing = self._deploy(plan)
        self.watch.pods = self._pods(standing)
        self._observe_once(plan, standing, self.watch)

    def _pods(self, standing: Standing) -> PodWatch:
        labels = standing.blank.labels
        return PodWatch(
            deployed=standing.deployment,
            read=lambda: probes.still_standing(standing.access, standing.deployment, labels),
            tell=self._pod_gone,
            began=self._began,
        )

    def _deploy(self, plan: Plan) -> Standing:
        profile, facts = self.prepared.profile, self.prepared.blueprint.facts
        access, marks = self.holding.begin(touches=probes.in_cluster(plan))
        blank = blank_of(marks.labels, profile, facts, self.holding.namespace)
        deployment = probes.deploy(
            access,
            plan,
            facts,
            blank=blank,
            timing=profile.timing,
            on_namespace=lambda: self.holding.guard(marks, self._lost),
            pull=lambda: self._pull(access, plan, blank),
            on_progress=lambda done, total: self._coming_up("deploy", done, total),
        )
        for remark in deployment.remarks:
            self.journal.event(remark)
        return Standing(access=access, blank=blank, deployment=deployment)

    def _observe_once(self, plan: Plan, standing: Standing, watch: Watch) -> None:
        """Open the probes, run every check of the plan to its end, and close them."""
        profile, deployment = self.prepared.profile, standing.deployment
        self.stages.begin("open channels")
        opened, problems = probes.open_probes(
            standing.access, deployment, self._facts, profile.timing, watch
        )
        watch.doubts_about = self._calibrating.doubts_about
        blueprint = self._learn(plan, opened, deployment, watch)
        self.stages.begin("observe")
        facts = self._facts = blueprint.facts
        witnessing = standing.witnessing(facts, profile)
        sender = standing.sender(
            facts, profile, opened, witnessing, watch, began=self._began, stopped=self._stopped
        )
        try:
            probes.Observer(
                sender,
                tuple(plan.each),
                problems,
                self._tell,
                standing.churn(facts, profile),
                documented(blueprint.plan.checks, blueprint.expectations),
                arrivals=standing.arrivals(),
            ).run()
        finally:
            for remark in witnessing.close():
                self.journal.event(remark)
            probes.close_probes(opened)

    def _learn(
        self,
        plan: Plan,
        opened: Mapping[str, probes.Probe],
        deployment: probes.Deployment,
        watch: Watch,
    ) -> Blueprint:
        """Calibrate instruments, complete the facts by what nodes say of themselves, and expect by them from now on."""
        before, timing = self.prepared.blueprint, self.prepared.profile.timing
        lacking = probes.lacking_facts(opened, deployment, before.facts)
        self._calibrating.begin(probes.places(plan.checks, lacking, opened, before.facts), opened)
        readings = probes.read_host_facts(lacking, timing)
        blueprint = learn(before, plan, readings, self.journal, self._calibrating.doubted)
        watch.expectations = blueprint.expectations
        return blueprint

    def _pull(self, access: Access, plan: Plan, blank: probes.Blank) -> None:
        """Pull images onto their nodes, if that is wished, and write down how long it took."""
        if not blank.images.pre_pull or not probes.in_cluster(plan):
            return
        for pull in probes.pull_images(
            access,
            plan,
            self.prepared.blueprint.facts,
            blank=blank,
            timing=self.prepared.profile.timing,
            on_progress=lambda done, total: self._coming_up("pull", done, total),
        ):
            self.journal.write(Pulled(pull=pull))
            if pull.problem:
                self.journal.event(f"{pull.image} did not come to {pull.node}: {pull.problem}")

    def _diagnose(self, plan: Plan, failing: Failing | None = None) -> None:
        """Collect what lies around failing checks as long as the objects stand; it never fails a run."""
        if self._broken_off.is_set():
            return
        self.stages.begin("diagnose")
        failing = self.watch.failing() if failing is None else failing
        prepared = self.prepared
        diagnosis = Diagnosis(
            connection=prepared.connection,
            facts=self._facts,
            plan=plan,
            namespace=self.holding.namespace,
            profile=prepared.profile,
            directory=self.directory / DIAGNOSTICS,
            hosts=host_pods(plan),
            absent="no Pod of this run stands for the node: no check of it ran from there",
            ended=self._broken_off.is_set,
            on_progress=lambda done, total: self._tell("diagnose", done, total),
        )
        try:
            diagnose_failures(diagnosis, self.journal, failing)
        except Exception as error:  # noqa: BLE001 - what was observed stands without it
            self.journal.event(f"no diagnostics: {type(error).__name__}: {error}")

    def _trace(self, plan: Plan) -> None:
        """Trace the leading incidents as long as the objects stand, if that is wished; it never fails a run."""
        standing = self._standing
        wanted = self.prepared.options.trace and not self._broken_off.is_set()
        if standing is None or not wanted or not self.watch.failing():
            return
        self.stages.begin("trace")
        self._tell("trace")
        tracer = Tracer(
            access=standing.access,
            directory=standing.directory(self._facts),
            blank=standing.blank,
            timing=self.prepared.profile.timing,
        )
        trace_run(tracer, plan, self.watch, self.directory, self.journal.event)

    def _coming_up(self, stage: str, done: int, total: int) -> None:
        """Tell how many images or pods are settled, and wait for no more of them once the run is stopped."""
        if self._stopped.is_set():
            raise probes.StoppedError("the run was stopped while its probes came up")
        self._tell(stage, done, total)

    def _left(self, plan: Plan) -> list[str]:
        return [check.id for check in plan.checks if check.id not in self.journal.finished]

    def _lost(self, why: str) -> None:
        """Start no further check: the namespace is another run's now."""
        self.journal.event(f"the run was stopped: {why}")
        self._stopped.set()

    def _gone(self, why: str) -> None:
        """Start no further check and diagnose nothing: each request would wait for an API server that is gone."""
        self.journal.event(f"the run was stopped: {why}", notable=True)
        self._break_off()
        self.prepared.connection.under_way.hasten()

    def _pod_gone(self, event: str) -> None:
        """Note that a Pod no longer stands, unless the run itself removes it while its last checks end."""
        if not self.holding.ending:
            self.journal.event(event, notable=True)

    def _break_off(self) -> None:
        """Start no further check and diagnose nothing: it could not be read, or not be written."""
        self._broken_off.set()
        self._stopped.set()

    def _end_holding(self, exit_code: int | None) -> None:
        """Remove or keep what was created; before the exit code is known only what goes in any case."""
        holding = self.holding
        if holding.touched and not holding.gone and not holding.kept:
            self.stages.begin("clean up")
            self._tell("clean up")
        holding.end(exit_code)
        self.stages.end()
        if holding.left_behind:
            self.journal.event(f"clean-up: {holding.left_behind}")
        elif holding.kept:
            self.journal.event(holding.kept)

    def _tell(self, stage: str, done: int = 0, total: int = 0) -> None:
        self._progress = Progress(stage=stage, done=done, total=total)
        if self._on_progress is not None:
            self._on_progress(self._progress)
