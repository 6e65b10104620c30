"""What Tab completes beside commands and options: flows, checks, nodes, runs and lab profiles.

Checks and nodes are those of the latest run in ``reports``: no cluster is contacted. Whatever cannot be read completes
nothing: an error would stand in the middle of somebody's command line.
"""

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from nettests.errors import NettestsError
from nettests.model.run_folder import LATEST, RESULTS, RUN_ID
from nettests.plan import load
from nettests.resources import manifests_path, suites_path

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def _completing(names: Callable[[Path], Iterable[str]]) -> Complete:
    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        reports = Path(ctx.params.get("report_dir") or "reports")
        # Of a list with commas the last word is completed, of a pattern with ! what follows.
        word = incomplete.removeprefix("!").rpartition(",")[2]
        before = incomplete.removesuffix(word)
        with suppress(OSError, ValueError, LookupError, TypeError, NettestsError):
            return [f"{before}{name}" for name in names(reports) if name.startswith(word)]
        return []

    return complete


def _latest(reports: Path) -> Any:
    return json.loads((reports / LATEST / RESULTS).read_text("utf-8"))


def _runs(reports: Path) -> list[str]:
    ids = sorted(folder.name for folder in reports.iterdir() if RUN_ID.fullmatch(folder.name))
    return [LATEST, f"{LATEST}~1", *(str(reports / run) for run in reversed(ids))]


runs = _completing(_runs)
"""For arguments that name a run."""
_NODES = _completing(lambda reports: [node["name"] for node in _latest(reports)["facts"]["nodes"]])
OF_OPTIONS = {
    "--flow": _completing(lambda _: (flow.name for flow in load([suites_path()]).flows)),
    "--check": _completing(lambda reports: (check["id"] for check in _latest(reports)["checks"])),
    "--nodes": _NODES,
    "--exclude-node": _NODES,
    "--lab": _completing(
        lambda _: sorted(file.stem for file in (manifests_path() / "lab").glob("*.yaml"))
    ),
    "--rerun-failed": runs,
}
