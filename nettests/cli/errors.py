"""Errors of the command line: a sentence and the next step, never a traceback."""

from typing import Any

import click
import pytest

from nettests.errors import NettestsError
from nettests.plugin.exitcodes import of_error


class Commands(click.Group):
    """A group whose commands may raise ``NettestsError``."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error for people ends it with its exit code, Ctrl-C with pytest's."""
        try:
            return super().invoke(ctx)
        except NettestsError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(of_error(error))
        except KeyboardInterrupt:
            click.echo("Error: interrupted", err=True)
            ctx.exit(int(pytest.ExitCode.INTERRUPTED))
