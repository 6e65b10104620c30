"""A run's options as values, from pytest's options; only imported if a cluster is tested."""

from pathlib import Path

import pytest

from nettests.errors import PlanError
from nettests.plan import Choice
from nettests.plugin.notifications import without_address
from nettests.plugin.pytest_options import suites
from nettests.session.run_options import Keep, RunOptions


def refuse_path_as_profile(config: pytest.Config) -> None:
    """Refuse a path as the value of ``--lab``: argparse takes the next argument for it."""
    profile = config.option.lab
    if profile and (config.invocation_params.dir / profile).exists():
        raise PlanError(
            f"--lab took the path {profile} for the name of a profile",
            hint=f"put --lab last, or name the profile: --lab=PROFILE {profile}",
        )


def refuse_keeping_in_a_lab(config: pytest.Config) -> None:
    """Refuse to keep objects of a lab that ends with the run."""
    if config.option.keep or config.option.keep_on_failure:
        raise PlanError(
            "--lab takes its cluster down, and all objects with it: nothing can be kept",
            hint="nettests lab up, and run on its kubeconfig",
        )


def run_options(config: pytest.Config) -> RunOptions:
    """Return the run's options as values.

    A lab adds kubeconfig and profile later; classes are read where an error can be reported.
    """
    option = config.option
    on_failure = Keep.ON_FAILURE if option.keep_on_failure else Keep.NEVER
    return RunOptions(
        kubeconfig=_path(option.kubeconfig),
        context=option.context,
        cluster_profile=_path(option.cluster_profile),
        report_dir=Path(option.report_dir),
        namespace=option.namespace,
        image=option.image,
        registry=option.registry,
        pull_secret=option.pull_secret,
        pre_pull=option.pre_pull,
        trace=option.trace_incidents,
        nodes=option.nodes,
        excluded_nodes=tuple(option.exclude_node),
        choice=Choice(patterns=tuple(option.check), sample=option.sample),
        manifests=tuple(Path(path) for path in option.limitations),
        keep=Keep.ALWAYS if option.keep else on_failure,
        suites=tuple(str(path) for path in suites(config)),
        argv=without_address([str(argument) for argument in config.invocation_params.args]),
    )


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None
