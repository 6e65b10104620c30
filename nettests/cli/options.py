"""The options of commands: shared ones, which ``plugin.option_table`` declares, and those of single commands in ``options.txt``."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from nettests.cli.completion import OF_OPTIONS
from nettests.cli.help import SharedOption
from nettests.conformance.vendor_files import read_vendor_files
from nettests.plan import Choice, Registry, load, read_classes
from nettests.plugin.lab import lab
from nettests.plugin.option_table import (
    CHECKS,
    CLUSTER,
    IDS,
    IMAGES,
    NAMED,
    NUMBER,
    OPTIONS,
    OWN,
    PULL,
)
from nettests.resources import suites_path
from nettests.session.process import ending_signals
from nettests.session.run_options import RunOptions

__all__ = [
    "CHECKS",
    "CLUSTER",
    "IDS",
    "IMAGES",
    "STARTS_PODS",
    "CommonOptions",
    "cluster_options",
    "duration",
    "own_options",
    "report_dir_option",
    "shared",
]

STARTS_PODS = (CLUSTER, IMAGES, PULL, CHECKS, IDS)
"""The headings of all shared options, for commands that start Pods as a run does."""
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
        if option.metavar == NUMBER:
            more["type"] = click.IntRange(min=1)
        if option.bare is not None:
            more |= {"is_flag": False, "flag_value": option.bare}
    if not headed:
        return click.option(flag, **more)
    heading = _HEADING.get(option.group, option.group)
    return click.option(flag, cls=SharedOption, heading=heading, **more)


_UNITS = {"s": 1, "m": 60, "h": 3600}
# samples: "90s", "1m", "1.5h"
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)([smh])")


def duration(_ctx: click.Context, _parameter: click.Parameter, text: str) -> float:
    """Parse a number and a unit into seconds; anything else is a usage error."""
    match = _DURATION.fullmatch(text)
    if match is None or not float(match[1]):
        raise click.BadParameter(f"{text!r} is not a duration: write 90s, 1m or 12h")
    return float(match[1]) * _UNITS[match[2]]


def _type(**rule: bool) -> dict[str, Any]:
    return {"type": click.Path(path_type=Path, **rule)}


_KINDS: Mapping[str, Mapping[str, Any]] = {
    "flag": {"is_flag": True},
    "text": {},
    "word": {"default": ""},
    "texts": {"multiple": True},
    "int": {"type": int},
    "number": {"type": click.IntRange(1)},
    "port": {"type": click.IntRange(1, 65535)},
    "day": {"type": click.DateTime(["%Y-%m-%d"])},
    "time": {"type": click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])},
    "path": _type(),
    "folder": _type(file_okay=False),
    "file": _type(dir_okay=False),
    "out": _type(dir_okay=False, allow_dash=True),
    "duration": {"callback": duration},
}


def _own(command: str) -> Iterator[Decorator]:
    """Yield the options of one command, as ``options.txt`` declares them."""
    for line in Path(__file__).with_name("options.txt").read_text("utf-8").splitlines():
        if not line.startswith(f"{command}; "):
            continue
        _, names, kind, metavar, default, says = line.split("; ", 5)
        what, _, rest = kind.partition(" ")
        more: dict[str, Any] = (
            dict(_KINDS[what]) if what in _KINDS else {"type": click.Choice(rest.split(","))}
        )
        if rest == "required":
            more["required"] = True
        if default:
            given = Path(default) if what in {"folder", "file"} else default
            more |= {"default": given, "show_default": True}
        yield click.option(*names.split(), metavar=metavar or None, help=says, **more)


def own_options(command: str) -> Decorator:
    """Return a decorator that adds the options of one command, in the order of their declaration."""

    def add(function: Command) -> Command:
        for option in reversed([*_own(command)]):
            function = option(function)
        return function

    return add


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
    sample: int | None,
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
        choice=Choice(patterns=check, sample=sample),
        excluded_nodes=exclude_node,
        pre_pull=bool(pre_pull),
        **given,
    )
    return CommonOptions(options=options, lab=lab, suites=(suites_path(), *suite), flows=flow)
