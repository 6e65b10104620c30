"""What Tab completes, within 150 ms: commands, options, and their values (flows, checks, nodes, runs, lab profiles).

Importing every command takes seconds. What they declare is therefore kept in a file of the user's cache, as are flows and
what the latest run in ``reports`` tested; it is written anew when a file of ours or that run's has changed. No cluster is
contacted. Whatever cannot be read completes nothing: an error would stand in the middle of somebody's command line.
"""

import json
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

import nettests
from nettests.errors import NettestsError
from nettests.model.run_folder import LATEST, RESULTS, RUN_ID
from nettests.resources import manifests_path, suites_path

Complete = Callable[[click.Context, click.Parameter, str], list[str]]
_UNREADABLE = (OSError, ValueError, LookupError, TypeError, NettestsError)
_PACKAGE = Path(nettests.__file__).parent


def _completing(names: Callable[[Path], Iterable[str]]) -> Complete:
    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        reports = Path(ctx.params.get("report_dir") or "reports")
        # Of a list with commas the last word is completed, of a pattern with ! what follows.
        word = incomplete.removeprefix("!").rpartition(",")[2]
        before = incomplete.removesuffix(word)
        with suppress(*_UNREADABLE):
            return [f"{before}{name}" for name in names(reports) if name.startswith(word)]
        return []

    return complete


def _flows(_: Path) -> list[str]:
    def declared() -> list[str]:
        from nettests.plan import load  # noqa: PLC0415 - slow, and only where nothing is cached

        return [flow.name for flow in load([suites_path()]).flows]

    names: list[str] = _cached("flows", suites_path().rglob("*.py"), declared)
    return names


def _tested(reports: Path) -> dict[str, list[str]]:
    file = (reports / LATEST / RESULTS).resolve()

    def read() -> dict[str, list[str]]:
        run = json.loads(file.read_text("utf-8"))
        return {
            "nodes": [node["name"] for node in run["facts"]["nodes"]],
            "checks": [check["id"] for check in run["checks"]],
        }

    tested: dict[str, list[str]] = _cached("tested", [file], read)
    return tested


def _runs(reports: Path) -> list[str]:
    ids = sorted(folder.name for folder in reports.iterdir() if RUN_ID.fullmatch(folder.name))
    return [LATEST, f"{LATEST}~1", *(str(reports / run) for run in reversed(ids))]


runs = _completing(_runs)
"""For arguments that name a run."""
_NODES = _completing(lambda reports: _tested(reports)["nodes"])
OF_OPTIONS = {
    "--flow": _completing(_flows),
    "--check": _completing(lambda reports: _tested(reports)["checks"]),
    "--nodes": _NODES,
    "--exclude-node": _NODES,
    "--lab": _completing(
        lambda _: sorted(file.stem for file in (manifests_path() / "lab").glob("*.yaml"))
    ),
    "--rerun-failed": runs,
}


def sketch(name: str, load: Callable[[], click.Command]) -> click.Command:
    """Return a command that completes as the one that ``load`` imports does, and can do nothing else."""
    files = [file for part in ("cli", "session") for file in (_PACKAGE / part).glob("*.[pt]*")]
    return _drawn(name, _cached(f"command-{name}", files, lambda: _described(load())))


def _described(command: click.Command) -> dict[str, Any]:
    subcommands = command.commands if isinstance(command, click.Group) else {}
    return {
        "help": command.get_short_help_str(200),
        "parameters": [_parameter(each) for each in command.params],
        "commands": {name: _described(each) for name, each in subcommands.items()},
    }


def _parameter(parameter: click.Parameter) -> dict[str, Any]:
    kind, more = parameter.type, {}
    if isinstance(parameter, click.Option):
        more = {"is_flag": parameter.is_flag, "multiple": parameter.multiple, "help": parameter.help}  # fmt: skip
    complete = parameter._custom_shell_complete  # noqa: SLF001 - click has no other way to it
    return {
        "option": isinstance(parameter, click.Option),
        "names": [parameter.name, *map("/".join, _pairs(parameter))],
        "choices": list(kind.choices) if isinstance(kind, click.Choice) else None,
        "path": [kind.file_okay, kind.dir_okay] if isinstance(kind, click.Path) else None,
        "source": next((flag for flag, of in OF_OPTIONS.items() if of is complete), None),
        "more": {"nargs": parameter.nargs, **more},
    }


def _pairs(parameter: click.Parameter) -> Iterable[tuple[str, ...]]:
    """Yield an option's flags, each beside the one that switches it off."""
    if parameter.secondary_opts:
        return zip(parameter.opts, parameter.secondary_opts, strict=True)
    return ((flag,) for flag in parameter.opts if flag.startswith("-"))


def _drawn(name: str, described: dict[str, Any]) -> click.Command:
    parameters: list[click.Parameter] = []
    for each in described["parameters"]:
        more = {**each["more"], "shell_complete": OF_OPTIONS.get(each["source"])}
        if each["choices"]:
            more["type"] = click.Choice(each["choices"])
        elif each["path"]:
            more["type"] = click.Path(file_okay=each["path"][0], dir_okay=each["path"][1])
        declared = click.Option if each["option"] else click.Argument
        parameters.append(declared(each["names"], **more))
    subcommands = [_drawn(*item) for item in described["commands"].items()]
    if subcommands:
        return click.Group(name, subcommands, params=parameters, help=described["help"])
    return click.Command(name, params=parameters, help=described["help"])


def _cached(topic: str, files: Iterable[Path], make: Callable[[], Any]) -> Any:
    """Return what was made of these files before, unless one of them has changed since."""
    # The version would tell less, and reading it takes longer than all the rest.
    stats = {str(file): file.stat() for file in files}
    newest = max(stats, key=lambda file: stats[file].st_mtime_ns)
    sizes = sum(stat.st_size for stat in stats.values())
    stamp = [len(stats), sizes, newest, stats[newest].st_mtime_ns]
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nettests"
    with suppress(*_UNREADABLE):
        kept = json.loads((home / f"{topic}.json").read_text("utf-8"))
        if kept["stamp"] == stamp:
            return kept["value"]
    value = make()
    with suppress(OSError):
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        (home / f"{topic}.json").write_text(json.dumps({"stamp": stamp, "value": value}), "utf-8")
    return value
