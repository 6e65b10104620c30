"""The top-level command group: loads a command when it is called, and prints an error as a sentence and a next step.

``nettests lab status`` does not import what a run needs, and users never see a traceback for an expected error.
"""

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from nettests import terminal
from nettests.errors import DEBUG, NettestsError, unexpected
from nettests.model.exit_code import ExitCode, of_error
from nettests.model.visible import as_paragraph
from nettests.session.signals import ending_signals


class Commands(click.Group):
    """A group whose commands may raise ``NettestsError``; ``homes`` names the module of each."""

    def __init__(
        self, *arguments: Any, homes: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(*arguments, **more)
        self._homes = dict(homes or {})

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click requires it
        """Return the names in the order of ``--help``."""
        return list(self._homes)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click requires it
        cmd_name: str,
    ) -> click.Command | None:
        """Load the command of that name."""
        if cmd_name not in self._homes:
            return None
        command: click.Command = getattr(import_module(self._homes[cmd_name]), cmd_name)
        return command

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        """Run as a program; text that Python itself prints is made harmless to a terminal too."""
        terminal.guard()
        return super().__call__(*arguments, **more)

    def make_context(self, *arguments: Any, **more: Any) -> click.Context:
        """Read the command line; click's errors are made harmless to a terminal."""
        try:
            return super().make_context(*arguments, **more)
        except click.ClickException as error:
            raise _harmless(error)  # noqa: B904 - the same error

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an expected error ends it with its exit code, Ctrl-C with pytest's.

        SIGTERM and SIGHUP do what Ctrl-C does: what a command has created is removed, whoever ends it.
        """
        if ctx.params.get("debug"):
            os.environ[DEBUG] = "1"  # for the processes of pytest too
        try:
            with ending_signals():
                return super().invoke(ctx)
        except click.ClickException as error:
            raise _harmless(error)  # noqa: B904 - the same error
        except NettestsError as error:
            terminal.paragraph(f"Error: {error}", err=True)
            ctx.exit(of_error(error))
        except KeyboardInterrupt:
            terminal.line("Error: interrupted", err=True)
            ctx.exit(ExitCode.INTERRUPTED)
        except (click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if os.environ.get(DEBUG):
                raise
            terminal.paragraph(f"Error: {unexpected(error)}", err=True)
            ctx.exit(ExitCode.INTERNAL_ERROR)


def _harmless(error: click.ClickException) -> click.ClickException:
    """Return the error with a message that is safe to print."""
    vars(error)["message"] = as_paragraph(error.message)  # declared final; click prints it
    return error
