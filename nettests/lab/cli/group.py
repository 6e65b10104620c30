"""The command ``nettests lab`` that all others belong to, and the options that many share.

Errors for people go to standard error, with exit code 1.
"""

from typing import Any

import click

from nettests.lab.errors import LabError

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
