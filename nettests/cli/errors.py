"""The group of commands: each loaded when it is called, its errors a sentence and the next step.

``nettests lab status`` need not import what a run needs; a traceback is nothing that people asked for.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from nettests.errors import NettestsError

INTERRUPTED = 2
"""As pytest ends when it was interrupted."""


class Commands(click.Group):
    """A group whose commands may raise ``NettestsError``; ``homes`` names the module of each."""

    def __init__(
        self, *arguments: Any, homes: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(*arguments, **more)
        self._homes = dict(homes or {})

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click asks so
        """Return the names in the order in which people meet them."""
        return list(self._homes)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click asks so
        cmd_name: str,
    ) -> click.Command | None:
        """Load the command of that name."""
        if cmd_name not in self._homes:
            return None
        found: click.Command = getattr(import_module(self._homes[cmd_name]), cmd_name)
        return found

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error for people ends it with its exit code, Ctrl-C with pytest's."""
        try:
            return super().invoke(ctx)
        except NettestsError as error:
            click.echo(f"Error: {error}", err=True)
            from nettests.plugin.exitcodes import of_error  # noqa: PLC0415 - imports pytest

            ctx.exit(of_error(error))
        except KeyboardInterrupt:
            click.echo("Error: interrupted", err=True)
            ctx.exit(INTERRUPTED)
