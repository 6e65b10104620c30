"""The command ``nettests lab`` that all others belong to, and what many share: options, the lab that is named.

Errors for people go to standard error, with exit code 1.
"""

from collections.abc import Iterator
from typing import Any

import click

from nettests.lab.errors import LabError, StateError
from nettests.lab.folders import places, state

NAME = click.option("--name", default="lab", show_default=True, help="Name of the lab.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object, nothing else.")
SETTINGS = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a fact of the profile, for example windows.build=20348.3207; repeatable.",
)
_SELFTEST = "selftest"


class _Group(click.Group):
    """Turns errors of the lab into messages: no tracebacks for people. Loads the selftest when it is requested."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), _SELFTEST])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == _SELFTEST:
            from nettests.lab.selftest.command import selftest  # noqa: PLC0415  # slow; others do without

            return selftest
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except LabError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(1)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
def lab() -> None:
    """Emulated mixed clusters: Linux and Windows nodes with real packets, in network namespaces.

    \b
    nettests lab up --profile win2019-l2bridge
    export KUBECONFIG=$(nettests lab kubeconfig)
    kubectl get nodes
    nettests lab down

    A lab is closed: it has no way to the machine's network, and its API listens on 127.0.0.1 only.
    """


def running(name: str) -> state.LabFolder:
    """Return the folder of the lab of that name, which runs."""
    folder = state.folder(name)
    if not folder.runs():
        others = [row["name"] for row in descriptions() if row["running"]]
        hint = f"Running: {', '.join(others)}." if others else "Start one: nettests lab up"
        raise LabError(f'No lab called "{name}" is running.', hint=hint)
    return folder


def description(folder: state.LabFolder) -> dict[str, Any]:
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
