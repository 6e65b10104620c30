"""The top-level command group: loads a command when it is called, and prints an error as a sentence and a next step.

``nettests lab status`` does not import what a run needs, and users never see a traceback for an expected error.
"""

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from nettests import terminal
from nettests.cli.completion import sketch
from nettests.errors import DEBUG, NettestsError, unexpected
from nettests.model.exit_code import ExitCode, of_error
from nettests.model.nearest import nearest
from nettests.model.visible import as_paragraph
from nettests.session.process import ending_signals

Table = Mapping[str, Mapping[str, tuple[str, str]]]
"""Headings → names of commands → module, and the line in ``--help``."""


class Commands(click.Group):
    """A group whose commands may raise ``NettestsError``; ``commands_of`` says where they are."""

    def __init__(self, *arguments: Any, commands_of: Table | None = None, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._headings = commands_of or {}
        self._all = {name: at for of in self._headings.values() for name, at in of.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click requires it
        """Return the names in the order of ``--help``."""
        return list(self._all)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load the command of that name; for a shell that completes, what it may be followed by."""
        if cmd_name not in self._all:
            return None
        if ctx.resilient_parsing:
            return sketch(cmd_name, lambda: self._load(cmd_name))
        return self._load(cmd_name)

    def _load(self, cmd_name: str) -> click.Command:
        module = import_module(f"nettests.cli.{self._all[cmd_name][0]}")
        # ``list`` and ``open`` are names of Python.
        function = cmd_name if hasattr(module, cmd_name) else f"{cmd_name}_"
        command: click.Command = getattr(module, function)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for a word that is none, name the nearest."""
        word = args[0] if args else "-"
        if word not in self._all and not word.startswith("-") and not ctx.resilient_parsing:
            near = nearest(word, self._all, what="commands")
            ctx.fail(f"there is no command {word!r}: {near}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete commands without loading them, and options."""
        names = [
            CompletionItem(name, help=line)
            for name, (_, line) in self._all.items()
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click requires it
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the commands by heading, without loading them."""
        for heading, commands in self._headings.items():
            with formatter.section(heading):
                formatter.write_dl([(name, line) for name, (_, line) in commands.items()])

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
        except (
            click.exceptions.Exit,
            click.Abort,
            BrokenPipeError,
        ):  # click ends a closed pipe quietly
            raise
        except Exception as error:
            if os.environ.get(DEBUG):
                raise
            terminal.paragraph(f"Error: {unexpected(error)}", err=True)
            ctx.exit(ExitCode.INTERNAL_ERROR)


def _harmless(error: click.ClickException) -> click.ClickException:
    vars(error)["message"] = as_paragraph(error.message)  # declared final; click prints it
    return error
