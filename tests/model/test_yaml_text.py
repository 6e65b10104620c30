"""YAML read as JSON knows it, every part with its line."""

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from nettests.errors import ManifestError
from nettests.model.yaml_text import read_yaml


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a: yes", {"a": "yes"}),
        ("a: on", {"a": "on"}),
        ("a: 2026-11-22", {"a": "2026-11-22"}),
        ("a: 1:30", {"a": "1:30"}),
        ("a: 017", {"a": "017"}),
        ("a: 1_000", {"a": "1_000"}),
        ("a: true", {"a": True}),
        ("a: -3", {"a": -3}),
        ("a: 1.30", {"a": 1.3}),
        ("a: '1.30'", {"a": "1.30"}),
        ("a:", {"a": None}),
        ("a: ~", {"a": None}),
        ("<<: {a: 1}", {"<<": {"a": 1}}),
        ("", None),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text: str, data: Any) -> None:
    """What YAML 1.1 would guess stays text."""
    assert read_yaml(text, "f.yaml")[0] == data


def test_every_part_knows_its_line() -> None:
    """Keys and items are found by their path, flow style and aliases included."""
    text = "a:\n  - x: &one\n      y: 1\n  - {x: *one,\n     z: 2}\n"
    data, lines = read_yaml(text, "f.yaml")
    assert data == {"a": [{"x": {"y": 1}}, {"x": {"y": 1}, "z": 2}]}
    assert lines["a",] == 1
    assert lines["a", 0] == 2
    assert lines["a", 0, "x", "y"] == 3
    assert lines["a", 1, "z"] == 5


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "found duplicate key 'a', first in line 1"),
        ("a:\n  b: 1\n  b: 2\n", 3, "found duplicate key 'b', first in line 2"),
        ("a: [1", 2, "did not find expected"),
        ("a: *nowhere\n", 1, "undefined alias"),
        ("a: !!python/object:os.system {}\n", 1, "could not determine a constructor"),
        ("a: 1\n---\nb: 2\n", 2, "another document"),
    ],
)
def test_what_is_no_document_is_refused_with_its_line(text: str, line: int, problem: str) -> None:
    """The error names file and line, and nothing of the text is executed."""
    with pytest.raises(ManifestError) as raised:
        read_yaml(text, "f.yaml")
    assert raised.value.message.startswith(f"f.yaml:{line}: not valid YAML: ")
    assert problem in raised.value.message


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text("abc :#-'\"\n[{0", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(PLAIN)
def test_what_another_library_writes_is_read_as_it_was(data: Any) -> None:
    """A document in block style that ruamel.yaml wrote by YAML 1.2 comes back the same."""
    written = io.StringIO()
    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style = False
    writer.dump(data, written)
    assert read_yaml(written.getvalue(), "f.yaml")[0] == data
