"""``nettests run``: the shipped suites under pytest, and how much a run would take (``--dry-run``)."""

import gc
import os
import sys
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click
import pytest

from nettests import terminal
from nettests.cli.discover_commands import planned_on
from nettests.cli.folder_commands import archive_of_run
from nettests.cli.help import Command
from nettests.cli.options import (
    STARTS_PODS,
    CommonOptions,
    cluster_options,
    own_options,
    report_dir_option,
    shared,
)
from nettests.plugin.option_table import OPTIONS, OWN, words_of
from nettests.session.estimate import estimate
from nettests.session.process import require_posix
from nettests.session.recorded_runs import with_failed
from nettests.session.report_dir import newest

_OWN_PYTEST = (
    # The run must not depend on a stray configuration file, nor leave a cache.
    f"--config-file={os.devnull}",
    "--import-mode=importlib",
    "-pno:cacheprovider",
    # Our reporter prints instead of those of pytest and xdist.
    "-qq",
    # Shuffling the tests of a run would only change the order in which they wait.
    "-pno:randomly",
)
_COLLECTED = (10_000, 50, 200)
"""Thresholds of the garbage collector, less frequent than the default: a run keeps a plan, a journal and
their results until it ends, and each full collection visits all of it and stops every thread."""


@click.command(cls=Command, example="nettests run --kubeconfig ~/.kube/config --enable=costly")
@cluster_options(*STARTS_PODS)
@report_dir_option("Where reports go.")
@click.option("-n", "workers", metavar="N", help="Judge in N processes (pytest-xdist).")
@shared(*(option.flag for option in OPTIONS if option.group == OWN))
@own_options("run")
@click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED)
def run(
    *,
    common: CommonOptions,
    report_dir: Path,
    workers: str | None,
    archive: Path | None,
    dry_run: bool,
    quiet: bool,
    pytest_args: tuple[str, ...],
    **passed_on: Any,
) -> None:
    """Test a cluster, judge what it does, write reports.

    Exit code: 0 all as documented; 1 fail, lifted or flaky; 6 only unknown; 7 nothing judged;
    8 known bugs show; 2 to 5 are pytest's. PYTEST_ARGS (after --) go to pytest: -k, -x, another suite's path.
    """
    if dry_run:
        _tell_size(common, passed_on["rerun_failed"], report_dir)
        return
    require_posix()
    given = {
        **click.get_current_context().params,
        "limitations": common.options.manifests,  # those of a vendor profile too
        "enable": sorted(common.options.enabled),
    }
    arguments = [
        *_OWN_PYTEST,
        f"--rootdir={common.suites[0]}",
        f"--nettests-output={'quiet' if quiet else 'own'}",
        f"--report-dir={report_dir}",
        *words_of(given),
        *([f"-n{workers}"] if workers else []),
        *([] if _installed() else ["-pnettests.plugin"]),
        *(str(path) for path in common.suites),
        *pytest_args,
    ]
    before = newest(report_dir)
    gc.set_threshold(*_COLLECTED)
    code = pytest.main(arguments)
    if archive is not None:
        archive_of_run(report_dir, before, archive)
    sys.exit(code)


def _tell_size(common: CommonOptions, rerun: str | None, report_dir: Path) -> None:
    """Plan as the run would, and print what that takes."""
    choice = with_failed(common.options.choice, rerun, report_dir)
    common = replace(common, options=replace(common.options, choice=choice))
    profile, blueprint = planned_on(common)
    terminal.lines(estimate(blueprint.plan, blueprint.facts, profile).lines)
    if blueprint.remark:
        terminal.line(blueprint.remark)
    terminal.line("nettests plan lists the checks, nettests render every object")


def _installed() -> bool:
    """Whether pytest finds the plugin by itself: not in a source tree that was never installed."""
    return any(entry.value == "nettests.plugin" for entry in entry_points(group="pytest11"))
