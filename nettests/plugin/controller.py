"""The main process of a run: prepare once, observe once, keep the journal, end the run.

Under xdist it passes the facts to the workers and runs no test itself. However the run ends,
documents are written and the cluster is cleaned up.
"""

import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
from _pytest.outcomes import (
    Exit,
)  # ``pytest.exit.Exception``, which cannot be subclassed in typed code

from nettests.baseline.entries import Baseline
from nettests.baseline.matching import BaselineComparison
from nettests.capture.captures import require_scapy
from nettests.errors import DEBUG, NettestsError, PathError, unexpected
from nettests.judge.exit_status import of_run
from nettests.model.check import Check, Plan, Skip
from nettests.model.exit_code import ExitCode, of_error
from nettests.model.journal_records import Judged, Limitations
from nettests.model.run_folder import JOURNAL
from nettests.model.verdict import Judgement, verdicts_of
from nettests.model.visible import as_paragraph
from nettests.model.words import CheckClass, FailOn, Verdict
from nettests.plan import Registry, load, read_classes
from nettests.plugin import outcome, pytest_options, run_settings, worker
from nettests.plugin.collect import check_in
from nettests.plugin.documents import end_documents, write_documents
from nettests.plugin.lab import lab
from nettests.plugin.notifications import Notifications, notifications_of
from nettests.plugin.reporter import Reporter, show
from nettests.private import require_writable
from nettests.redaction import Redactor
from nettests.session.baseline_comparison import accepted_record, baseline_of, comparison_of, ending
from nettests.session.blueprint import unused
from nettests.session.prepare import Prepared, prepare
from nettests.session.process import ending_signals
from nettests.session.recorded_runs import with_failed
from nettests.session.report_dir import record_failed_start
from nettests.session.run import Run
from nettests.session.run_options import RunOptions

NAME = "nettests-controller"


def register(config: pytest.Config) -> None:
    """Register the controller in this pytest run."""
    config.pluginmanager.register(Controller(config), NAME)


class Error(Exit):
    """Ends pytest with a message, after the name of this class."""


class Controller:
    """The life of one run, by hooks in the order in which pytest calls them."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.options: RunOptions = run_settings.run_options(config)
        self.reporter = Reporter(config.option.nettests_output)
        self.run: Run | None = None
        self._verdicts: dict[str, Verdict] = {}
        self._of_members: set[Verdict] = set()
        self._selected: frozenset[str] = frozenset()
        self._others_failed = False
        self._fail_on = [FailOn(word) for word in config.option.fail_on]
        self._baseline: Baseline | None = None
        self._notifications = Notifications()
        self._closing = ExitStack()
        self._documented = False
        self._alone = config.option.nettests_output != "pytest" and not config.option.collectonly
        """Whether our reporter replaces pytest's."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Start a lab if requested, prepare, and begin the journal."""
        self._closing.enter_context(self.reporter)
        if self._alone:
            self._silence_pytest()
        self._closing.enter_context(ending_signals())
        try:
            prepared = self._prepare()
        except NettestsError as error:
            self._fail_to_start(error, of_error(error))
        except KeyboardInterrupt:
            stopped = NettestsError("the run was interrupted before it began")
            self._fail_to_start(stopped, ExitCode.INTERRUPTED)
        except Exception as error:
            if os.environ.get(DEBUG):
                self._record_failure(unexpected(error), ExitCode.INTERNAL_ERROR)
                raise
            self._fail_to_start(unexpected(error), ExitCode.INTERNAL_ERROR)
        self.run = None
        if self.config.option.collectonly:
            journal = prepared.directory / JOURNAL
        else:
            self.run = Run(prepared, self.reporter.progress)
            journal = self.run.journal.path
        self._prepared = prepared
        declared = self._registry.declared
        worker.collecting(self.config, prepared.blueprint, journal, declared)

    def _silence_pytest(self) -> None:
        manager = self.config.pluginmanager
        for name in ("terminaldistreporter", "terminalreporter"):
            manager.unregister(name=name)
        if manager.has_plugin("dsession"):
            # xdist keeps the first reporter, and checks whether there is one.
            manager.getplugin("dsession").terminal = None

    def _prepare(self) -> Prepared:
        if not self.config.option.collectonly:
            require_writable(self.options.report_dir)
            self._notifications = self._destinations()
        file = self.config.option.baseline
        self._baseline = baseline_of(Path(file) if file else None, self._fail_on)
        option = self.config.option
        enabled = read_classes(option.enable)
        choice = with_failed(self.options.choice, option.rerun_failed, self.options.report_dir)
        self.options = replace(self.options, enabled=enabled, choice=choice)
        if self.config.option.lab is not None:
            run_settings.refuse_path_as_profile(self.config)
            run_settings.refuse_keeping_in_a_lab(self.config)
        if CheckClass.PACKETS in enabled or self.options.trace:
            require_scapy()
        registry = load(pytest_options.suites(self.config)).select(self.config.option.flow)
        self.options.choice.require_flows(flow.name for flow in registry.flows)
        self._registry: Registry = registry
        if self.config.option.lab is not None:
            self.reporter.stage("lab up")
            up = self._closing.enter_context(lab(self.config.option.lab))
            self.options = replace(
                self.options, kubeconfig=up.kubeconfig, cluster_profile=up.cluster_profile
            )
        self.reporter.stage("discover")
        return prepare(self.options, registry.flows)

    def _destinations(self) -> Notifications:
        option = self.config.option
        file = Path(option.metrics) if option.metrics else None
        return notifications_of(file, option.webhook)

    def _fail_to_start(self, error: NettestsError, code: int) -> NoReturn:
        """Report a run that could not start, and end pytest."""
        self.reporter.still()
        directory = self._record_failure(error, code)
        message = Redactor().text(str(error))
        if directory:
            message += f"\n  report: {directory}"
        raise Error(as_paragraph(message), code)

    def _record_failure(self, error: NettestsError, code: int) -> Path | None:
        """Write the documents of a run that could not start, if possible."""
        if self.config.option.collectonly or isinstance(error, PathError):
            return None
        directory = record_failed_start(self.options, error, exit_code=code)
        results = write_documents(directory)
        self._notifications.send(results, directory, self.reporter.paragraph)
        return directory

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: object) -> None:
        """Pass the facts to an xdist worker."""
        assert hasattr(node, "workerinput")
        node.workerinput[pytest_options.WORKER_KEY] = worker.handover(
            self._prepared.blueprint,
            self._prepared.directory / JOURNAL,
            suites=self.options.suites,
            flows=[flow.name for flow in self._registry.flows],
            manifests=self.options.manifests,
            enabled=self.options.enabled,
            choice=self.options.choice,
        )

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Start to observe what was collected and not deselected, unless collecting failed."""
        # pytest calls this even while a collection error propagates.
        if not session.testsfailed and sys.exc_info()[0] is None:
            self._start([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Start to observe when the first worker has collected; all collect the same."""
        self._start(ids)

    def _start(self, nodeids: list[str]) -> None:
        if self.run is None or self._selected:
            return
        blueprint = self.run.prepared.blueprint
        planned = {check.id for check in blueprint.plan.checks}
        planned |= {skip.id for skip in blueprint.plan.skips}
        self._selected = frozenset(planned & set(map(check_in, nodeids)))
        if not self._selected:
            self.run.journal.event("no check was selected")
            return
        decide_nothing = unused(blueprint.manifests, blueprint.expectations)
        self.run.journal.write(Limitations(unused=decide_nothing))
        self.run.start(self._selected)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write the verdict of a finished test."""
        check = check_in(report.nodeid)
        if check is None or check not in self._selected:
            self._others_failed |= report.failed
            self._tell_failure(report)
            return
        judgement = outcome.judged(report, check)
        if judgement is not None:
            self._judge(judgement)
        elif report.when == "teardown" and report.failed:
            self._others_failed = True

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Report why a suite could not be collected."""
        self._tell_failure(report)

    def _tell_failure(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if self._alone and report.failed:
            self.reporter.paragraph(f"{report.nodeid}:\n{report.longreprtext}")

    def _judge(self, judgement: Judgement) -> None:
        if judgement.check in self._verdicts:
            return
        self._verdicts[judgement.check] = judgement.verdict
        self._of_members |= judgement.shown
        self.reporter.verdict(judgement.verdict)
        if self.run is not None and judgement.check in self.run.prepared.blueprint.expectations:
            self.run.journal.write(Judged(judgement=judgement))

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> object:
        """End the run, decide the exit code and write the documents."""
        try:
            return (yield)
        finally:
            if self.run is not None:
                try:
                    session.exitstatus = self._finish(self.run, exitstatus)
                except KeyboardInterrupt:  # what is missing follows in pytest_unconfigure
                    self.reporter.paragraph("Error: interrupted while the run ended")
                    session.exitstatus = ExitCode.INTERRUPTED

    def _finish(self, run: Run, status: int) -> int:
        plan = run.prepared.blueprint.plan
        required = self._required(plan)
        skipped = self._selected & {skip.id for skip in plan.skips} | run.judging.skipped
        verdicts = verdicts_of(self._selected, skipped, self._verdicts)
        comparison = self._compare_with_baseline(run)
        counting, members = ending(comparison, self._fail_on, verdicts, self._of_members)
        code = of_run(
            status,
            counting,
            required,
            others_failed=self._others_failed,
            members=members,
            fail_on=self._fail_on,
        )
        counts = {verdict.value: 0 for verdict in Verdict}
        for verdict in verdicts.values():
            counts[verdict.value] += 1
        try:
            run.finish(exit_code=code, counts=counts)
        finally:
            ended = end_documents(run.journal, run.judging.observations, compared=True)
            self._documented = True
            self.reporter.still()
            if ended.results is not None:
                show(self.reporter, ended.results, run.directory)
            for line in comparison.lines() if comparison else ():
                self.reporter.paragraph(line)
            if ended.problem:
                self.reporter.paragraph(ended.problem, style="bold red")
            if run.run_objects.left_behind:
                self.reporter.paragraph(
                    f"left behind: {run.run_objects.left_behind}", style="bold red"
                )
            if run.run_objects.kept:
                self.reporter.paragraph(f"kept: {run.run_objects.kept}")
            if ended.results is not None:
                self._notifications.send(ended.results, run.directory, self.reporter.paragraph)
        return ended.exit_code(code)

    def _compare_with_baseline(self, run: Run) -> BaselineComparison | None:
        """Record what is new by the baseline; ``None`` without one, or if comparing fails."""
        if self._baseline is None:
            return None
        try:
            comparison = comparison_of(run.directory, self._baseline, run.judging.observations)
        except NettestsError as error:
            # Clean-up and documents must follow; without a comparison every deviation counts.
            run.journal.event(f"the baseline was not compared: {error.message}")
            return None
        for line in comparison.lines():
            run.journal.event(line)
        run.journal.write(accepted_record(comparison, self._fail_on))
        return comparison

    def _required(self, plan: Plan) -> dict[str, set[str]]:
        planned: list[Check | Skip] = [*plan.checks, *plan.skips]
        required: dict[str, set[str]] = {}
        for check_or_skip in planned:
            if check_or_skip.required and check_or_skip.id in self._selected:
                required.setdefault(check_or_skip.flow, set()).add(check_or_skip.id)
        return required

    def pytest_unconfigure(self) -> None:
        """Remove what is left: a run that did not reach its end, the lab."""
        with self._closing:
            if self.run is not None:
                before = self.run.run_objects.left_behind
                self.run.close()
                if (left := self.run.run_objects.left_behind) != before:
                    self.reporter.paragraph(f"left behind: {left}", style="bold red")
                if not self._documented:  # Ctrl-C while the run ended, before they were begun
                    end_documents(self.run.journal, self.run.judging.observations)
