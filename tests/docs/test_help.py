"""``--help``: an example that works, shared options by heading, and none that a command ignores."""

import re
import shlex
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from nettests.cli import main
from nettests.cli.baseline_commands import baseline
from nettests.lab.cli import lab


def leaves(command: click.Command, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command below one that does something itself, with the words that call it."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        # The harness hands its words to the lab, which is a program of its own.
        yield from leaves(lab if (*path, name) == ("nettests", "lab") else found, *path, name)


COMMANDS = dict(leaves(main, "nettests"))
GROUPS = {("nettests",): main, ("nettests", "lab"): lab, ("nettests", "baseline"): baseline}

TERMINAL = 78
"""What click fills of the 80 columns of a terminal, or of none."""


def shown(path: tuple[str, ...]) -> str:
    """Return the help of a command."""
    told = CliRunner().invoke(COMMANDS[path], ["--help"])
    assert told.exit_code == 0
    return told.output


def options_under(heading: str, text: str) -> set[str]:
    """Return the long options that stand under a heading."""
    (section,) = re.findall(rf"^{heading}:\n((?:  .*\n)+)", text, re.MULTILINE)
    return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", section, re.MULTILINE))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_an_example_that_its_parser_takes(path: tuple[str, ...]) -> None:
    """The example begins with the command's own words, and has options and arguments that exist."""
    text = shown(path)
    (example,) = re.findall(r"^ *Example:\s+(.+)", text, re.MULTILINE | re.DOTALL)
    words = shlex.split(example)
    assert tuple(words[: len(path)]) == path
    command = COMMANDS[path]
    with click.Context(command, info_name=path[-1]) as context:
        command.make_parser(context).parse_args(args=words[len(path) :])


@pytest.mark.parametrize(
    ("command", "ignored"),
    [
        ("discover", {"--image", "--registry", "--pre-pull", "--suite", "--flow", "--enable"}),
        ("plan", {"--image", "--registry", "--pre-pull"}),
        ("explain", {"--image", "--registry", "--pre-pull"}),
        ("images", {"--pre-pull"}),
    ],
)
def test_options_that_change_nothing_are_not_offered(command: str, ignored: set[str]) -> None:
    """What only Pods are made of is no option of a command that makes and names none."""
    assert not ignored & set(re.findall(r"--[a-z-]+", shown(("nettests", command))))
    option = min(ignored)
    refused = CliRunner().invoke(main, [command, f"{option}=x"])
    assert refused.exit_code == 2
    assert f"No such option '{option}'" in refused.output


def test_shared_options_stand_under_headings() -> None:
    """Which cluster, which images, which checks; what is the command's own comes first."""
    text = shown(("nettests", "run"))
    assert text.index("\nOptions:") < text.index("\nCluster:") < text.index("\nImages:")
    assert {"--kubeconfig", "--lab"} <= options_under("Cluster", text)
    assert options_under("Images", text) == {
        "--image",
        "--registry",
        "--pull-secret",
        "--pre-pull",
    }
    assert options_under("Checks", text) == {
        *("--suite", "--limitations", "--vendor-profile", "--flow", "--check", "--enable"),
        *("--nodes", "--exclude-node", "--sample"),
    }
    assert {"--keep", "--report-dir"} <= options_under("Options", text)


@pytest.mark.parametrize("group", GROUPS, ids=" ".join)
def test_what_each_command_does_is_read_in_the_list_of_its_group(group: tuple[str, ...]) -> None:
    """Its line is a whole sentence: none is cut at the width of a terminal."""
    told = CliRunner().invoke(GROUPS[group], ["--help"], terminal_width=TERMINAL)
    lines = re.findall(
        r"^  [a-z-]+  .+(?:\n    .*)*", told.output.partition("exit.\n")[2], re.MULTILINE
    )
    assert lines
    assert [line for line in lines if line.endswith("...") or line[-1] not in ".?"] == []
