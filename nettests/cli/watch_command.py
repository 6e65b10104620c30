"""``nettests watch``: repeat checks in rounds while the probes stay deployed.

Arguments and output only: ``session.rounds`` runs the rounds; the documents are those of a run.
"""

import sys
from collections import Counter
from collections.abc import Collection
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import click

from nettests import terminal
from nettests.cli.help import Command
from nettests.cli.options import (
    STARTS_PODS,
    CommonOptions,
    cluster_options,
    own_options,
    report_dir_option,
    shared,
)
from nettests.errors import NettestsError
from nettests.judge.exit_status import of_watch
from nettests.model.check import Check
from nettests.model.journal_records import Limitations, Round
from nettests.model.visible import plural
from nettests.model.words import CheckClass, VantageKind, Verdict
from nettests.plugin.documents import end_documents
from nettests.plugin.notifications import Notifications, notifications_of, without_address
from nettests.plugin.reporter import Reporter, show
from nettests.private import require_writable
from nettests.session.blueprint import unused
from nettests.session.prepare import Prepared, prepare
from nettests.session.process import require_posix
from nettests.session.rounds import Rounds, Schedule
from nettests.session.run import Run
from nettests.session.run_options import RunOptions

SLICE_SECONDS = 0.5
"""Between two checks for an interrupt."""


@click.command(
    cls=Command, example="nettests watch --kubeconfig ~/.kube/config --every 1m --for 12h"
)
@cluster_options(*STARTS_PODS)
@own_options("watch")
@report_dir_option("Where reports go.")
@shared("--metrics", "--webhook")
def watch(
    *,
    common: CommonOptions,
    every: float,
    seconds: float,
    report_dir: Path,
    metrics: Path | None,
    webhook: str | None,
    quiet: bool,
) -> None:
    """Test a cluster again and again, in rounds.

    Without --flow each round is what Pods can test without a process. The report says in how many rounds each check, node and pair of nodes
    was red, with the evidence of the first red round. Rounds in which the API server does not answer are lost, and
    counted. Ctrl-C ends the watch with a report.

    Exit code: that of `nettests run`, over all rounds; also 6 if more rounds were lost than judged, or if a check was
    unknown in more rounds than it was judged.
    """
    require_posix()
    with common.cluster() as options:
        require_writable(report_dir)
        notifications = notifications_of(metrics, webhook)
        argv = without_address(sys.argv[1:])
        wanted = replace(options, report_dir=report_dir, argv=argv)
        schedule = Schedule(every=every, seconds=seconds)
        code = _watched(wanted, schedule, common, notifications, quiet=quiet)
    sys.exit(code)


def _watched(
    options: RunOptions,
    schedule: Schedule,
    common: CommonOptions,
    notifications: Notifications,
    *,
    quiet: bool,
) -> int:
    """Prepare, and run rounds until the schedule ends."""
    flows = common.registry().flows
    with Reporter("quiet" if quiet else "own") as reporter:
        prepared = prepare(options, flows)
        chosen = _chosen(prepared, named=bool(common.flows or common.options.choice.patterns))
        rounds = Rounds(schedule, lambda finished: _tell(reporter, finished))
        with closing(Run(prepared, reporter.progress, rounds)) as run:
            return _carry_out(run, rounds, chosen, reporter, notifications)


def _chosen(prepared: Prepared, *, named: bool) -> frozenset[str]:
    """Return the ids of the checks that each round runs: those that Pods send over open channels, unless flows are named.

    Checks that start processes or Pods, or that are costly or disruptive, are not repeated unless they are named.
    """
    plan = prepared.blueprint.plan
    checks = [check.id for check in plan.checks if named or _is_light(check)]
    if not checks:
        raise NettestsError(
            "there is nothing to watch: no check of these flows applies to this cluster",
            hint="see `nettests plan`, and name flows with --flow",
        )
    return frozenset([*checks, *(skip.id for skip in plan.skips if named)])


def _is_light(check: Check) -> bool:
    action = check.action
    from_pod = action.source.kind is VantageKind.POD and action.question.has_path
    return from_pod and check.check_class is CheckClass.DEFAULT and not action.is_process


def _tell(reporter: Reporter, finished: Round) -> None:
    """Print a line for a round that was red or lost, and for the first."""
    if finished.lost:
        reporter.paragraph(f"round {finished.number}: lost: {finished.lost}", style="magenta")
    elif finished.red:
        worst = next(name for name in finished.red)
        more = f", and {plural(len(finished.red) - 1, 'more')}" if len(finished.red) > 1 else ""
        reporter.paragraph(
            f"round {finished.number}: {finished.red[worst].value} {worst}{more}", style="bold red"
        )
    elif finished.unknown:
        more = plural(len(finished.unknown), "check")
        reporter.paragraph(f"round {finished.number}: {more} unknown", style="magenta")
    elif finished.number == 1:
        reporter.paragraph(
            f"round 1: {plural(finished.ran, 'check')} as documented, {finished.seconds:.1f} s"
        )


def _carry_out(
    run: Run,
    rounds: Rounds,
    chosen: Collection[str],
    reporter: Reporter,
    notifications: Notifications,
) -> int:
    """Run to the end or until interrupted; write the documents in any case."""
    blueprint = run.prepared.blueprint
    run.journal.write(Limitations(unused=unused(blueprint.manifests, blueprint.expectations)))
    try:
        run.start(chosen)
        while not run.wait(SLICE_SECONDS):
            pass
    except KeyboardInterrupt:
        run.let_end()
    verdicts = rounds.verdicts()
    code = of_watch(
        verdicts,
        completed=rounds.completed,
        mostly_lost=rounds.mostly_lost,
        members=rounds.of_members,
    )
    counted = Counter(verdict.value for verdict in verdicts.values())
    try:
        run.finish(
            exit_code=code, counts={verdict.value: counted[verdict.value] for verdict in Verdict}
        )
    finally:
        ended = end_documents(run.journal)
        reporter.still()
        if ended.results is not None:
            show(reporter, ended.results, run.directory)
        if ended.problem:
            reporter.paragraph(ended.problem, style="bold red")
        if run.run_objects.left_behind:
            terminal.paragraph(f"left behind: {run.run_objects.left_behind}", err=True)
        if ended.results is not None:
            notifications.send(ended.results, run.directory, reporter.paragraph)
    return ended.exit_code(code)
