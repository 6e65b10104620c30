"""What ``--help`` shows: a command's own options first, shared ones where they change something, one example."""

import re
import shlex
from importlib import import_module

import click
import pytest
from click.testing import CliRunner

from nettests.cli import main
from nettests.cli.help import Command

CONTEXT = click.Context(main)
NAMES = main.list_commands(CONTEXT)
COMMANDS = {name: main.get_command(CONTEXT, name) for name in NAMES}
OURS = {name: command for name, command in COMMANDS.items() if isinstance(command, Command)}


def shown(name: str) -> str:
    """Return a command's help."""
    done = CliRunner().invoke(main, [name, "--help"])
    assert done.exit_code == 0, done.output
    return done.output


def headings(text: str) -> list[str]:
    """Return the headings of a help text, in their order."""
    return re.findall(r"^(\w[\w ]*):$", text, re.MULTILINE)


def options(text: str, heading: str) -> list[str]:
    """Return the options below one heading."""
    below = text.partition(f"\n{heading}:\n")[2]
    return re.findall(r"^  (?:-\w, )?(--[\w-]+)", re.split(r"\n\w", below)[0], re.MULTILINE)


@pytest.mark.parametrize("name", OURS)
def test_each_command_ends_with_one_example_that_it_understands(name: str) -> None:
    """Whoever copies the example is not told of an unknown option; --help alone would be no example."""
    text = shown(name)
    assert headings(text)[-1] == "Example"
    words = shlex.split(text.rstrip().splitlines()[-1])
    assert words[:2] == ["nettests", name]
    command = COMMANDS[name]
    assert command is not None
    given = {word.partition("=")[0] for word in words if word.startswith("--")}
    known = {option for one in command.params for option in one.opts}
    assert given <= known


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("run", ["Options", "Cluster", "Images", "Checks", "Example"]),
        ("discover", ["Options", "Cluster", "Example"]),
        ("plan", ["Options", "Cluster", "Checks", "Example"]),
        ("explain", ["Options", "Cluster", "Checks", "Example"]),
        ("render", ["Options", "Cluster", "Images", "Checks", "Example"]),
        ("rejudge", ["Options", "Example"]),
        ("diff", ["Options", "Example"]),
        ("history", ["Options", "Example"]),
        ("lint", ["Options", "Example"]),
        ("catalogue", ["Options", "Example"]),
    ],
)
def test_options_stand_under_what_they_are_about(name: str, expected: list[str]) -> None:
    """A command that looks at no cluster has none of its options."""
    assert headings(shown(name)) == expected


def test_options_that_a_command_ignores_are_not_in_its_help() -> None:
    """Who only reads pulls no image, and who plans nothing selects no flow."""
    assert "--pre-pull" in options(shown("run"), "Images")
    assert "--pre-pull" not in shown("discover")
    assert "--image" not in shown("explain")
    assert "--flow" not in shown("discover")
    assert options(shown("plan"), "Checks") == [
        *("--suite", "--limitations", "--vendor-profile", "--flow", "--check", "--nodes"),
        *("--exclude-node", "--enable", "--sample"),
    ]
    assert options(shown("discover"), "Options") == ["--json", "--output", "--help"]
    assert options(shown("discover"), "Cluster") == [
        "--lab",
        "--kubeconfig",
        "--context",
        "--cluster-profile",
        "--namespace",
    ]


@pytest.mark.parametrize("name", OURS)
def test_an_option_is_explained_once(name: str) -> None:
    """The same words under two headings would be two options."""
    found = [one for heading in headings(shown(name)) for one in options(shown(name), heading)]
    assert len(found) == len(set(found))


def test_commands_are_listed_as_people_meet_them() -> None:
    """Each with its first sentence; every name leads to a command."""
    text = CliRunner().invoke(main, ["--help"]).output
    listed = re.findall(
        r"^  ([a-z]+) +\S", text.partition("this message and exit.\n")[2], re.MULTILINE
    )
    assert listed == NAMES
    assert all(COMMANDS.values())
    assert main.get_command(CONTEXT, "nosuch") is None


@pytest.mark.parametrize("name", sorted(OURS))
def test_an_option_that_there_is_not_is_refused_with_the_nearest(name: str) -> None:
    """Wrong words end with 2, before anything is read."""
    done = CliRunner().invoke(main, [name, "--no-such-option"])
    assert done.exit_code == 2
    assert "No such option" in done.output
    assert "Traceback" not in done.output


def test_a_command_is_loaded_from_its_own_module() -> None:
    """The lab's commands need nothing that a run needs, and are no command of this kind."""
    assert not isinstance(COMMANDS["lab"], Command)
    assert import_module("nettests.cli.explain_command").explain is COMMANDS["explain"]
