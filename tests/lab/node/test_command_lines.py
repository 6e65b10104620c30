"""What a container runs: references in commands, and what replaces the image's own."""

from pathlib import Path
from typing import Any

import pytest

from nettests.lab.node.environment import command_line, expand
from nettests.lab.node.images import (
    Image,
    Kind,
)
from nettests.lab.topology import profiles

Json = dict[str, Any]

PROFILE = profiles.load("win2019-l2bridge")
LINUX, WINDOWS = PROFILE.node("linux-1"), PROFILE.node("win-1")
TRANSCRIPT = Path(__file__).parents[2] / "fixtures" / "transcripts" / "api.jsonl"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("$(A)-$(B)", "1-$(B)"), ("$$(A)", "$(A)"), ("$A", "$A"), ("5$", "5$")],
)
def test_references_in_commands(text: str, expected: str) -> None:
    """Known names are replaced, ``$$`` escapes, unknown ones stay."""
    assert expand(text, {"A": "1"}) == expected


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        ({}, ["/agnhost", "pause"]),
        ({"args": ["netexec"]}, ["/agnhost", "netexec"]),
        ({"command": ["x"]}, ["x"]),
        ({"command": ["x"], "args": ["y"]}, ["x", "y"]),
    ],
)
def test_command_and_args_replace_the_images_own(container: Json, expected: list[str]) -> None:
    """``command`` replaces both, ``args`` only the image's default command."""
    image = Image(reference="r", kind=Kind.AGNHOST, entrypoint=("/agnhost",), command=("pause",))
    assert command_line(container, image, {}) == expected
