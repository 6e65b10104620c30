"""A command loads what it needs and not more: people wait for it, and so does every worker."""

import subprocess
import sys

import click
import pytest

from nettests.cli import HOMES, main

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


def test_the_version_loads_no_cluster_client() -> None:
    """Neither the Kubernetes client nor pytest is loaded to tell a version."""
    modules = loaded("--version")
    assert "click" in modules
    assert not modules & {"kubernetes", "pytest", "jsonschema", "nettests.session.run"}


def test_no_command_loads_the_generated_api() -> None:
    """The client's generated classes of every API take seconds, and none is used."""
    modules = loaded("--help")
    assert set(HOMES.values()) <= modules
    assert not {module for module in modules if module.startswith("kubernetes.client.api.")}


def test_no_command_loads_the_library_of_metrics() -> None:
    """Only a run that is to write some, at its end, pays for it."""
    modules = loaded("--help")
    assert "nettests.plugin.notifications" in modules
    assert not {module for module in modules if module.startswith("prometheus_client")}


@pytest.mark.parametrize("name", HOMES)
def test_each_name_is_a_command_with_a_short_help(name: str) -> None:
    """What ``--help`` lists can be called, and its line is not cut."""
    with click.Context(main) as context:
        command = main.get_command(context, name)
    assert command is not None
    assert command.name == name
    assert not command.get_short_help_str(65).endswith("...")
