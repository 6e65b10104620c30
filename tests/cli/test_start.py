"""A command loads what it needs and not more: people wait for it, and so does every worker."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from nettests.cli import COMMANDS, main

HOMES = {name: at for of in COMMANDS.values() for name, at in of.items()}
PROGRAM = """
import sys
from nettests.cli import main
try:
    main({arguments!r}, standalone_mode=False)
finally:
    print(*sorted(sys.modules), file=sys.stderr)
"""


def loaded(*arguments: str) -> set[str]:
    """The modules that a command had loaded when it ended."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(arguments=list(arguments))],
        capture_output=True,
        text=True,
        check=False,
    )
    return set(done.stderr.split())


HEAVY = {
    "kubernetes",
    "pytest",
    "jsonschema",
    "requests",
    "rich",
    "yaml",
    "nettests.plan",
    "nettests.redaction",
}


@pytest.mark.parametrize("option", ["--version", "--help", "rnu"])
def test_what_needs_no_command_loads_none(option: str) -> None:
    """Neither the Kubernetes client nor pytest is loaded to print 30 lines."""
    modules = loaded(option)
    assert "click" in modules
    assert not modules & HEAVY
    assert not {m for m in modules if m.startswith("nettests.cli.") and "_command" in m[13:]} - {
        "nettests.cli.command_group"
    }


def test_no_command_loads_the_generated_api_or_the_library_of_metrics() -> None:
    """The client's generated classes of every API take seconds, and only a run that is to write metrics needs theirs."""
    modules = loaded("run", "--help")
    assert "nettests.cluster.connection" in modules
    assert not {m for m in modules if m.startswith(("kubernetes.client.api.", "prometheus_client"))}


def test_pytest_runs_of_others_load_next_to_nothing(tmp_path: Path) -> None:
    """The plugin is an entry point: what it imports, each pytest run in the environment waits for."""
    (tmp_path / "test_a.py").write_text("import sys\ndef test_a(): print(*sys.modules)\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-s", "-pnettests.plugin", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    modules = set(done.stdout.split())
    assert "nettests.plugin.pytest_options" in modules
    assert not modules & (
        HEAVY - {"pytest"} | {"click", "nettests.judge", "nettests.plugin.notifications"}
    )


@pytest.mark.parametrize("name", HOMES)
def test_the_list_of_commands_says_of_each_what_its_own_help_says(name: str) -> None:
    """What ``--help`` lists can be called, and its line is the first sentence of the command."""
    with click.Context(main) as context:
        command = main.get_command(context, name)
    assert command is not None
    assert command.name == name
    assert command.get_short_help_str(200) == HOMES[name][1]


@pytest.mark.parametrize(
    ("word", "near"),
    [("rnu", "did you mean 'run'?"), ("dif", "'diff'"), ("zzz", "commands: run, ")],
)
def test_a_word_that_is_no_command_is_answered_with_the_nearest(word: str, near: str) -> None:
    """A typing error costs one line, and no look into the help."""
    done = CliRunner().invoke(main, [word, "--lab"])
    assert done.exit_code == 2
    assert near in done.output
