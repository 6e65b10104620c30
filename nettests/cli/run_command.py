"""``nettests run``: the shipped suites under pytest, with our own terminal output."""

import os
import sys
from importlib.metadata import entry_points
from pathlib import Path

import click
import pytest

from nettests.cli.archive_command import archive_of_run
from nettests.cli.help import Command
from nettests.cli.options import (
    CHECKS,
    CLUSTER,
    IMAGES,
    PULL,
    CommonOptions,
    baseline_option,
    cluster_options,
    metrics_option,
    report_dir_option,
    webhook_option,
)
from nettests.judge.exit_status import FailOn
from nettests.session.captures import require_scapy
from nettests.session.run_archive import newest

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


@click.command(cls=Command, example="nettests run --kubeconfig ~/.kube/config --enable=costly")
@cluster_options(CLUSTER, IMAGES, PULL, CHECKS)
@report_dir_option("Where reports go.")
@click.option("-n", "workers", metavar="N", help="Judge in N processes (pytest-xdist).")
@click.option(
    "--keep", is_flag=True, help="Keep the objects; print how to inspect and remove them."
)
@click.option(
    "--keep-on-failure", is_flag=True, help="Keep the objects if the run ends with 1 or 6."
)
@click.option(
    "--trace",
    "trace_incidents",
    is_flag=True,
    help="If checks fail: trace where packets of the leading incidents are lost, as nettests trace does.",
)
@click.option(
    "--fail-on",
    type=click.Choice([choice.value for choice in FailOn]),
    multiple=True,
    help="known-bugs: exit with 1 instead of 8 if known bugs show. new: exit with 1 only for failures that --baseline does not accept.",
)
@baseline_option
@metrics_option
@webhook_option
@click.option(
    "--archive",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Archive the run's folder in this file; - prints it as text, for nettests job fetch.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print only the result.")
@click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED)
def run(
    *,
    common: CommonOptions,
    report_dir: Path,
    workers: str | None,
    keep: bool,
    keep_on_failure: bool,
    trace_incidents: bool,
    fail_on: tuple[str, ...],
    baseline: Path | None,
    metrics: Path | None,
    webhook: str | None,
    archive: Path | None,
    quiet: bool,
    pytest_args: tuple[str, ...],
) -> None:
    """Test a cluster, judge what it does, write reports.

    Exit code: 0 all as documented; 1 fail, lifted or flaky; 6 only unknown; 7 nothing judged;
    8 known bugs show; 2 to 5 are pytest's. PYTEST_ARGS (after --) go to pytest: -k, -x, another suite's path.
    """
    if trace_incidents:
        require_scapy()
    arguments = [
        *_OWN_PYTEST,
        f"--rootdir={common.suites[0]}",
        f"--nettests-output={'quiet' if quiet else 'own'}",
        f"--report-dir={report_dir}",
        *_passed_on(common),
        *([f"-n{workers}"] if workers else []),
        *(["--keep-on-failure"] if keep_on_failure else []),
        *(["--keep"] if keep else []),
        *(["--trace-incidents"] if trace_incidents else []),
        *(f"--fail-on={word}" for word in fail_on),
        *([f"--baseline={baseline}"] if baseline else []),
        *([f"--metrics={metrics}"] if metrics else []),
        *([] if webhook is None else [f"--webhook={webhook}"]),
        *([] if _installed() else ["-pnettests.plugin"]),
        *(str(path) for path in common.suites),
        *pytest_args,
    ]
    before = newest(report_dir)
    code = pytest.main(arguments)
    if archive is not None:
        archive_of_run(report_dir, before, archive)
    sys.exit(code)


def _passed_on(common: CommonOptions) -> list[str]:
    """Return the shared options as the plugin's."""
    options = common.options
    single = {
        "--lab": common.lab,
        "--kubeconfig": options.kubeconfig,
        "--context": options.context,
        "--cluster-profile": options.cluster_profile,
        "--namespace": options.namespace,
        "--image": options.image,
        "--registry": options.registry,
        "--nodes": options.nodes,
    }
    return [
        *(f"{name}={value}" for name, value in single.items() if value is not None),
        *(["--pre-pull"] if options.pre_pull else []),
        *(f"--limitations={path}" for path in options.manifests),
        *(f"--flow={name}" for name in common.flows),
        *(f"--enable={check_class.value}" for check_class in sorted(options.enabled)),
    ]


def _installed() -> bool:
    """Whether pytest finds the plugin by itself: not in a source tree that was never installed."""
    return any(entry.value == "nettests.plugin" for entry in entry_points(group="pytest11"))
