"""Options that several commands share: which cluster, which suites, which manifests. ``session.option_table`` declares them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from nettests.cli.completion import OF_OPTIONS
from nettests.cli.help import SharedOption
from nettests.plan import Choice, Registry, load, read_classes
from nettests.plugin.lab import lab
from nettests.resources import suites_path
from nettests.session.option_table import CHECKS, CLUSTER, IDS, IMAGES, NAMED, OPTIONS, OWN, PULL
from nettests.session.run_options import RunOptions
from nettests.session.signals import ending_signals
from nettests.session.vendor_files import read_vendor_files

__all__ = [
    "CHECKS",
    "CLUSTER",
    "IDS",
    "IMAGES",
    "PULL",
    "CommonOptions",
    "cluster_options",
    "report_dir_option",
    "shared",
]

_HEADING = {PULL: IMAGES, IDS: CHECKS}

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonOptions:
    """What the shared options say. ``lab`` is a profile, empty for the default one."""

    options: RunOptions
    lab: str | None
    suites: tuple[Path, ...]
    flows: tuple[str, ...]

    @contextmanager
    def cluster(self) -> Iterator[RunOptions]:
        """Yield options that name a cluster; with ``--lab``, a lab that runs for the duration of the block."""
        if self.lab is None:
            yield self.options
            return
        with ending_signals(), lab(self.lab) as up:
            yield replace(
                self.options, kubeconfig=up.kubeconfig, cluster_profile=up.cluster_profile
            )

    def registry(self) -> Registry:
        """Read the suites; return the flows that ``--flow`` names. ``PlanError`` if it, or ``--check``, can match nothing."""
        registry = load(self.suites).select(self.flows)
        self.options.choice.require_flows(flow.name for flow in registry.flows)
        return registry


def shared(*flags: str, headed: bool = False) -> Decorator:
    """Return a decorator that adds shared options to a command, in this order, ``headed`` by what they are about."""

    def add(command: Command) -> Command:
        for flag in reversed(flags):
            command = _declared(flag, headed=headed)(command)
        return command

    return add


def _declared(flag: str, *, headed: bool) -> Decorator:
    option = NAMED[flag]
    more: dict[str, Any] = {"help": option.help, "shell_complete": OF_OPTIONS.get(flag)}
    if not option.metavar:
        more |= {"is_flag": True}
    elif option.choices:
        more |= {"type": click.Choice(option.choices), "multiple": option.many}
    else:
        more |= {"metavar": option.metavar, "multiple": option.many}
        if option.metavar in {"FILE", "PATH", "FILE|NAME"}:
            more["type"] = click.Path(path_type=Path)
        if option.bare is not None:
            more |= {"is_flag": False, "flag_value": option.bare}
    if not headed:
        return click.option(flag, **more)
    heading = _HEADING.get(option.group, option.group)
    return click.option(flag, cls=SharedOption, heading=heading, **more)


def report_dir_option(what: str) -> Decorator:
    """Return ``--report-dir``, the folder of runs; ``what`` says what it is for."""
    return click.option(
        "--report-dir",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path("reports"),
        show_default=True,
        metavar="DIR",
        help=what,
    )


_COMMON = tuple(option for option in OPTIONS if option.group != OWN)


def cluster_options(*groups: str) -> Decorator:
    """Add the shared options of these headings to a command, which receives what they say as ``common``."""

    def add(command: Command) -> Command:
        @wraps(command)
        def with_common(**given: Any) -> Any:
            values: dict[str, Any] = {
                option.name: () if option.many else None for option in _COMMON
            }
            values |= {option.name: given.pop(option.name) for option in taken}
            return command(common=_common(**values), **given)

        taken = [option for option in _COMMON if option.group in groups]
        return shared(*(option.flag for option in taken), headed=True)(with_common)

    return add


def _common(
    *,
    lab: str | None,
    suite: tuple[Path, ...],
    limitations: tuple[Path, ...],
    vendor_profile: Path | None,
    flow: tuple[str, ...],
    check: tuple[str, ...],
    exclude_node: tuple[str, ...],
    enable: tuple[str, ...],
    pre_pull: bool | None,
    **given: Any,
) -> CommonOptions:
    if lab is not None and any(
        given[name] for name in ("kubeconfig", "context", "cluster_profile")
    ):
        raise click.UsageError(
            "--lab brings its own cluster: leave --kubeconfig, --context and --cluster-profile out"
        )
    if vendor_profile is not None:
        brought = read_vendor_files(vendor_profile)
        suite = brought.beside_suites(suite)
        limitations = brought.beside_limitations(limitations)
    options = RunOptions(
        manifests=limitations,
        enabled=read_classes(enable),
        choice=Choice(patterns=check),
        excluded_nodes=exclude_node,
        pre_pull=bool(pre_pull),
        **given,
    )
    return CommonOptions(options=options, lab=lab, suites=(suites_path(), *suite), flows=flow)
