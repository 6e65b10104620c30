"""Texts of a cluster, shown so that nothing in them is hidden, and none acts on a terminal or a page."""

import json

import pytest

from nettests.model.visible import as_line, as_paragraph, escaped_json, one_line, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ünï 日本", "plain ünï 日本"),
        ("a\x1b[31mb", "a␛[31mb"),
        ("a\x00b\x07", "a␀b␇"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\x9bb", "a⟨U+009B⟩b"),
        ("a\r\nb\nc", "a\nb\nc"),
        ("a\rb", "a␍b"),
    ],
)
def test_hidden_characters_are_named(text: str, shown: str) -> None:
    """Controls by their picture, others by their number; lines stay lines."""
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "line"), [("a\n b\t c ", "a b c"), ("abcdef", "ab…ef"), ("abcde", "abcde"), ("", "")]
)
def test_a_cell_has_one_line_and_its_width(text: str, line: str) -> None:
    """White space is folded, and what is longer has a mark for its middle, within the width."""
    assert one_line(text, limit=5) == line


def test_a_line_loses_nothing() -> None:
    """Line feeds and tabs are shown."""
    assert as_line("a\r\nb\tc\n") == "a␊b␉c␊"


def test_what_follows_a_first_line_is_indented() -> None:
    """No later line passes for another text's; one that is indented already stays as it is."""
    assert as_paragraph("a\nb\n  c\n d") == "a\n  b\n  c\n   d"


@pytest.mark.parametrize("text", ["\u202e\x9b", "a\U000e0041b", "plain"])
def test_json_is_the_same_data_and_harmless(text: str) -> None:
    """Hidden characters stand as escapes, those beyond the basic plane as two."""
    shown = escaped_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(shown) == text
    assert shown.isascii()
