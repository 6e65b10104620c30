"""The options of a run for plain pytest; ``nettests run`` passes its own options on as these.

Read once, when pytest is configured. Nothing here contacts anything.
"""

from pathlib import Path

import pytest

from nettests.errors import NettestsError, PlanError
from nettests.judge.exit_status import FailOn
from nettests.resources import suites_path
from nettests.session.run_options import Keep, RunOptions
from nettests.session.webhook import VARIABLE, without_address

WORKER_KEY = "nettests"
"""The key under which the controller hands a worker its facts."""

COLLECTOR = "nettests-collector"
"""The name under which the collecting part is registered, and by which others see that it is."""


def add(parser: pytest.Parser) -> None:
    """Add our group to pytest's options."""
    group = parser.getgroup("nettests", "nettests: test a Kubernetes cluster")
    group.addoption(
        "--kubeconfig",
        metavar="FILE",
        help="cluster to test (default: $KUBECONFIG, ~/.kube/config)",
    )
    group.addoption("--context", metavar="NAME", help="context of the kubeconfig")
    group.addoption("--cluster-profile", metavar="FILE", help="what a kubeconfig cannot say (YAML)")
    _add_pods(group)
    group.addoption(
        "--lab",
        metavar="PROFILE",
        nargs="?",
        const="",
        help="bring up an emulated cluster for this run; write --lab=PROFILE for a certain one",
    )
    group.addoption(
        "--report-dir", metavar="DIR", default="reports", help="where reports go (default: reports)"
    )
    group.addoption(
        "--limitations",
        metavar="PATH",
        action="append",
        default=[],
        help="a limitation manifest, or a folder of them, beside the shipped ones (repeatable)",
    )
    group.addoption(
        "--flow",
        metavar="NAME",
        action="append",
        default=[],
        help="run this flow only (repeatable)",
    )
    group.addoption(
        "--enable",
        metavar="CLASS,…",
        action="append",
        default=[],
        help="run checks of these classes too: costly, exposed, disruptive, packets (repeatable)",
    )
    group.addoption(
        "--nodes",
        metavar="WHICH",
        help="test all usable nodes, a sample, or those that a label selector matches (default: all)",
    )
    _add_keeping(group)
    _add_ending(group)


def _add_ending(group: pytest.OptionGroup) -> None:
    """Add what decides how a run ends: its exit code, what it prints, and where it sends a summary."""
    group.addoption(
        "--fail-on",
        metavar="WHAT",
        action="append",
        default=[],
        choices=[condition.value for condition in FailOn],
        help="known-bugs: end with 1 instead of 8 if known bugs show; new: with 1 only for failures that --baseline does not accept",
    )
    group.addoption(
        "--baseline",
        metavar="FILE",
        help="failures that are known; nettests baseline accept writes it",
    )
    group.addoption(
        "--metrics", metavar="FILE", help="write OpenMetrics text of the finished run to this file"
    )
    group.addoption(
        "--webhook",
        metavar="URL",
        help=f"post a summary of the finished run there, as JSON for Slack; better by ${VARIABLE}: it is a secret",
    )
    group.addoption(
        "--nettests-output",
        choices=("pytest", "own", "quiet"),
        default="pytest",
        help="pytest: beside pytest's own output; own: instead of it; quiet: only the result",
    )


def _add_keeping(group: pytest.OptionGroup) -> None:
    group.addoption(
        "--keep",
        action="store_const",
        const=Keep.ALWAYS,
        default=Keep.NEVER,
        help="leave the run's objects standing, and say how to look at and remove them",
    )
    group.addoption(
        "--keep-on-failure",
        dest="keep",
        action="store_const",
        const=Keep.ON_FAILURE,
        help="the same for a run that ends with fail, lifted, flaky or unknown",
    )


def _add_pods(group: pytest.OptionGroup) -> None:
    """Add what decides where a run's pods stand, and what they run."""
    group.addoption(
        "--namespace", metavar="NAME", help="an existing namespace to use instead of one of our own"
    )
    group.addoption("--image", metavar="REFERENCE", help="the agnhost image of all probes")
    group.addoption("--registry", metavar="HOST", help="where images are mirrored")
    group.addoption(
        "--pre-pull",
        action="store_true",
        help="pull each image onto each node before the checks",
    )
    group.addoption(
        "--trace-incidents",
        dest="trace_incidents",
        action="store_true",
        help="capture where packets of the leading incidents are lost, before clean-up",
    )


def probed(config: pytest.Config) -> bool:
    """Whether this pytest run is to test a cluster: one was named, or the shipped suites were."""
    option = config.option
    if config.option.help or getattr(option, "version", 0):
        return False
    named = (option.kubeconfig, option.context, option.cluster_profile, option.lab)
    return any(value is not None for value in named) or any(map(_shipped, suites(config)))


def _shipped(path: Path) -> bool:
    try:
        return path.is_relative_to(suites_path())
    except NettestsError:  # an incomplete installation must not break other people's pytest runs
        return False


def refuse_path_as_profile(config: pytest.Config) -> None:
    """Refuse a suite that ``--lab`` has swallowed: argparse takes the next word for its value."""
    profile = config.option.lab
    if profile and (config.invocation_params.dir / profile).exists():
        raise PlanError(
            f"--lab took the path {profile} for the name of a profile",
            hint=f"put --lab last, or name the profile: --lab=PROFILE {profile}",
        )


def refuse_keeping_in_a_lab(config: pytest.Config) -> None:
    """Refuse to keep objects of a cluster that goes with the run."""
    if config.option.keep is not Keep.NEVER:
        raise PlanError(
            "--lab takes its cluster down, and all objects with it: nothing can be kept",
            hint="nettests lab up, and run on its kubeconfig",
        )


def suites(config: pytest.Config) -> tuple[Path, ...]:
    """Return the files and folders that pytest was told to collect, without ``::`` parts."""
    paths = (argument.partition("::")[0] for argument in config.args)
    return tuple((config.invocation_params.dir / path).resolve() for path in paths)


def run_options(config: pytest.Config) -> RunOptions:
    """Return what the user wants of the run.

    A lab adds its kubeconfig and profile later, and classes are read where an error can be reported.
    """
    option = config.option
    return RunOptions(
        kubeconfig=_path(option.kubeconfig),
        context=option.context,
        cluster_profile=_path(option.cluster_profile),
        report_dir=Path(option.report_dir),
        namespace=option.namespace,
        image=option.image,
        registry=option.registry,
        pre_pull=option.pre_pull,
        trace=option.trace_incidents,
        nodes=option.nodes,
        manifests=tuple(Path(path) for path in option.limitations),
        keep=option.keep,
        suites=tuple(str(path) for path in suites(config)),
        argv=without_address([str(argument) for argument in config.invocation_params.args]),
    )


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None
