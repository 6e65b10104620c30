"""The options of a run for plain pytest; ``nettests run`` passes its own options on as these.

Read once, when pytest is configured. Every pytest run in the environment loads this module, so
imports must be fast. ``run_settings`` turns the options into values.
"""

from pathlib import Path

import pytest

from nettests.errors import NettestsError
from nettests.plugin.option_table import NUMBER, OPTIONS, RunOption
from nettests.resources import suites_path

WORKER_KEY = "nettests"
"""The key of the facts that the controller passes to a worker."""

COLLECTOR = "nettests-collector"
"""The plugin name of the collector, by which others see that it is registered."""


def add(parser: pytest.Parser) -> None:
    """Add our group to pytest's options."""
    group = parser.getgroup("nettests", "nettests: test a Kubernetes cluster")
    for option in OPTIONS:
        if not option.cli_only:
            _add(group, option)
    group.addoption(
        "--report-dir",
        metavar="DIR",
        default="reports",
        help="Where reports go (default: reports).",
    )
    group.addoption(
        "--nettests-output",
        choices=("pytest", "own", "quiet"),
        default="pytest",
        help="pytest: beside pytest's own output; own: instead of it; quiet: only the result",
    )


def _add(group: pytest.OptionGroup, option: RunOption) -> None:
    more: dict[str, object] = {"help": option.help}
    if not option.metavar:
        more |= {"action": "store_true"}
    elif option.many:
        more |= {"action": "append", "default": [], "metavar": option.metavar}
    else:
        more |= {"metavar": option.metavar}
    if option.metavar == NUMBER:
        more |= {"type": int}
    if option.choices:
        more |= {"choices": option.choices}
    if option.bare is not None:
        more |= {"nargs": "?", "const": option.bare}
    group.addoption(option.pytest_flag, **more)


def probed(config: pytest.Config) -> bool:
    """Whether this pytest run is to test a cluster: a cluster or the shipped suites are named."""
    option = config.option
    if config.option.help or getattr(option, "version", 0):
        return False
    named = (option.kubeconfig, option.context, option.cluster_profile, option.lab)
    return any(value is not None for value in named) or any(map(_shipped, suites(config)))


def _shipped(path: Path) -> bool:
    try:
        return path.is_relative_to(suites_path())
    except NettestsError:  # an incomplete installation must not break other pytest runs
        return False


def suites(config: pytest.Config) -> tuple[Path, ...]:
    """Return the files and folders that pytest collects, without ``::`` parts."""
    paths = (argument.partition("::")[0] for argument in config.args)
    return tuple((config.invocation_params.dir / path).resolve() for path in paths)
