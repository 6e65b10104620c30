"""The command line, called in the process of a test."""

from pathlib import Path

from click.testing import CliRunner, Result

from nettests.cli import main


def nettests(*arguments: str | Path) -> Result:
    """Run a command, and return what it printed and its exit code."""
    return CliRunner().invoke(main, [*map(str, arguments)])
