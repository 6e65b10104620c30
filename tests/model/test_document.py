"""Documents that people write: each mistake is named with file, line, key and the nearest valid word."""

from typing import Any

import pytest

from nettests.errors import ManifestError
from nettests.model.document import SHOWN, read_document

VERSIONS = {"type": "object", "properties": {"from": {"type": "string"}}, "required": ["from"]}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "mode": {"enum": ["overlay", "l2bridge"]},
        "version": {"type": "string"},
        "nodes": {"type": "array", "items": {"type": "object", "required": ["os"]}},
        "builds": {"anyOf": [{"type": "string"}, VERSIONS]},
        **{f"n{number}": {"type": "integer"} for number in range(SHOWN + 2)},
    },
}


def error_of(text: str) -> ManifestError:
    """Return what is said of a document with mistakes."""
    with pytest.raises(ManifestError) as caught:
        read_document(text, "profile.yaml", SCHEMA)
    return caught.value


def test_a_valid_document_is_plain_data_with_lines() -> None:
    """The place of a part is known, and a part without one has its parent's."""
    document = read_document("name: a\nnodes:\n  - os: windows\n", "profile.yaml", SCHEMA)
    assert document.data == {"name": "a", "nodes": [{"os": "windows"}]}
    assert document.line(("nodes", 0, "os")) == 3
    assert document.line(("nodes", 0, "os", "deeper")) == 3
    assert document.line(("nowhere",)) == 1
    assert document.line() == 1


def test_an_error_about_a_part_names_its_place_and_path() -> None:
    """A reader that finds a mistake later says it in the same form."""
    document = read_document("name: a\nnodes:\n  - os: windows\n", "profile.yaml", SCHEMA)
    error = document.error(("nodes", 0, "os"), "is no system", hint="linux")
    assert str(error).startswith("profile.yaml:3: nodes.0.os: is no system")
    assert error.hint == "linux"
    assert str(document.error((), "is empty")).startswith("profile.yaml:1: is empty")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: a\nmoed: overlay\n", "profile.yaml:2: moed: unknown key 'moed'"),
        ("mode: overlay\n", "profile.yaml:1: name is missing"),
        ("name: a\nnodes:\n  - {}\n", "profile.yaml:3: nodes.0: os is missing"),
        (
            "name: a\nmode: overlays\n",
            "profile.yaml:2: mode: 'overlays' is not one of the valid values",
        ),
        (
            "name: a\nversion: 1.30\n",
            "profile.yaml:2: version: 1.3 is a number; write a version in quotes",
        ),
        ("name: a\nversion: [x]\n", "profile.yaml:2: version: ['x'] is not of type 'string'"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_key(text: str, said: str) -> None:
    """What is wrong stands behind the file and the line of the very part."""
    assert str(error_of(text)).splitlines()[0] == said


@pytest.mark.parametrize(
    ("text", "near"), [("moed: overlay", "mode"), ("mode: overlays", "overlay")]
)
def test_the_nearest_valid_word_is_the_hint(text: str, near: str) -> None:
    """A misspelt key or value comes with the word that was meant."""
    assert near in error_of(f"name: a\n{text}\n").hint


def test_several_mistakes_are_told_at_once_in_the_order_of_lines() -> None:
    """One reading is enough to repair them; the hint of each is said once."""
    error = error_of("name: a\nmode: overlays\nmoed: overlay\nnodes:\n  - {}\n")
    lines = str(error).splitlines()
    assert [line.split(":")[1] for line in lines[:3]] == ["2", "3", "5"]
    assert error.hint.count("; ") == 1


def test_more_mistakes_than_are_shown_are_counted() -> None:
    """A document that is wrong throughout does not fill the terminal."""
    text = "".join(f"n{number}: x\n" for number in range(SHOWN + 2))
    lines = [line for line in str(error_of("name: a\n" + text)).splitlines() if "profile" in line]
    assert len(lines) == SHOWN + 1
    assert lines[-1] == "profile.yaml: 2 more mistakes"
    assert [line.split(":")[1] for line in lines[:-1]] == ["2", "3", "4", "5", "6"]


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("x" * 5000, "is not of type 'object'"),
        (f"name: a\nmode: {'x' * 5000}", "is not one of the valid values"),
        (f"name: [{'x, ' * 2000}]", "is not of type 'string'"),
    ],
    ids=["no-document", "no-word", "no-text"],
)
def test_a_long_value_is_repeated_in_part(text: str, end: str) -> None:
    """Of a file that is no document, such as a log, the message is a line, and its end says what is wrong."""
    said = str(error_of(text)).splitlines()[0]
    assert said.endswith(end)
    assert "…" in said
    assert len(said) < 160


def test_of_several_forms_the_one_that_matched_deepest_is_explained() -> None:
    """Who wrote ``from`` with a wrong value meant the form that has it, not a plain text."""
    said = str(error_of("name: a\nbuilds:\n  from: 1\n"))
    assert said.startswith("profile.yaml:3: builds.from: 1 is not of type 'string'")
