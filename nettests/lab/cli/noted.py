"""Messages about the known labs of this user, and the lookup of the one that a command names."""

from collections.abc import Iterator
from typing import Any

import click

from nettests.lab.errors import LabError, StateError
from nettests.lab.folders import places, state
from nettests.lab.folders.state import LabFolder


def running(name: str) -> LabFolder:
    """Return the folder of the lab of that name, which runs."""
    folder = state.folder(name)
    if not folder.runs():
        others = [row["name"] for row in descriptions() if row["running"]]
        hint = f"Running: {', '.join(others)}." if others else "Start one: nettests lab up"
        raise LabError(f'No lab called "{name}" is running.', hint=hint)
    return folder


def description(folder: LabFolder) -> dict[str, Any]:
    """Return what ``--json`` tells of one lab."""
    record = folder.record()
    return {
        "name": folder.name,
        "profile": record.profile if record else "unknown",
        "pid": record.pid if record else None,
        "kubeconfig": str(folder.kubeconfig),
        "cluster_profile": str(folder.cluster_profile),
        "running": folder.runs(),
    }


def descriptions() -> Iterator[dict[str, Any]]:
    """Describe every lab; a folder that is not private is named on standard error and left alone."""
    for folder in state.folders():
        try:
            yield description(folder)
        except StateError as error:
            click.echo(f"Error: {error}", err=True)


def warn_of_another_folder() -> None:
    """Warn on standard error when labs are recorded in another folder than usual, with the reason."""
    warning = places.passed_over()
    if warning:
        click.echo(warning, err=True)
