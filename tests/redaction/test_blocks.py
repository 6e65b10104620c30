"""Secrets of several lines: keys that are whole or cut off, and values of YAML below their field."""

import pytest

from nettests.redaction.spans import KEY_LINES, keys, yaml_blocks

BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
BODY = "".join(f"line{number:02}\n" for number in range(KEY_LINES + 10))


def hidden(text: str) -> list[str]:
    """Return what would be hidden of keys."""
    return [text[start:end] for start, end in keys(text)]


def test_a_whole_key_is_hidden_with_its_marks_and_nothing_around_it() -> None:
    """Each of several, and what stands between them stays."""
    one = f"{BEGIN}\nMIIE\n{END}"
    assert hidden(f"before\n{one}\nbetween\n{one}\nafter\n") == [one, one]


def test_a_key_without_its_end_is_hidden_for_so_many_lines() -> None:
    """A log that is cut in the middle: what is further away is no part of it."""
    (span,) = hidden(f"before\n{BEGIN}\n{BODY}")
    assert span.startswith(BEGIN)
    assert span.count("\n") == KEY_LINES
    assert hidden(f"{BEGIN}\nMIIE\n") == [f"{BEGIN}\nMIIE\n"]


def test_a_key_without_its_beginning_is_hidden_as_far_back() -> None:
    """Back to the beginning of the text where it is nearer, and never into another key."""
    (span,) = hidden(f"{BODY}{END}\nafter\n")
    assert (span.count("\n"), span.endswith(END)) == (KEY_LINES, True)
    assert hidden(f"MIIE\n{END}\n") == [f"MIIE\n{END}"]
    first, second = hidden(f"{BEGIN}\nMIIE\n{END}\nrest\n{END}\n")
    assert first == f"{BEGIN}\nMIIE\n{END}"
    assert second == f"\nrest\n{END}"


def test_a_key_that_begins_within_another_ends_that_one() -> None:
    """Two beginnings in a row are two keys, of which the first is cut off."""
    cut = f"{BEGIN}\nMIIA\n"
    whole = f"{BEGIN}\nMIIB\n{END}"
    assert hidden(cut + whole) == [cut, whole]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("password: |\n  one\n  two\nname: x\n", ["one", "two"]),
        ("a:\n  tls.key: >-\n    one\n\n    two\n  other: x\n", ["one", "two"]),
        ("- token: |2 # comment\n    one\n- b: c\n", ["one"]),
        ("password:\n  one two\nname: x\n", ["one two"]),
        ("secret:\n  name: x\n  other: y\n", []),
        ("password: |\nname: x\n", []),
        ("passwordPolicy: |\n  one\n", []),
        ("name: |\n  one\n", []),
    ],
    ids=[
        "literal",
        "folded, with an empty line",
        "in a list, with a comment",
        "on the next line",
        "what is nested is no value",
        "nothing below it",
        "another word",
        "no secret",
    ],
)
def test_the_value_below_a_field_is_hidden(text: str, values: list[str]) -> None:
    """Line by line, as deep as it stands; the indentation stays, and so does what comes after."""
    assert [text[start:end] for start, end in yaml_blocks(text)] == values
