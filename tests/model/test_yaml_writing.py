"""YAML written for people and for ``kubectl apply``: whoever reads it gets back what was written."""

from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from nettests.model.yaml_text import read_yaml, write_compact_yaml, write_yaml

GUESSED = ["1e3", "12e45678", "0o17", "0x1f", "yes", "on", "null", "~", "", "1:30", "2026-11-22"]
"""Texts that a reader of YAML 1.1 or of 1.2 takes for something else where they are not quoted."""
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(GUESSED)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("text", GUESSED)
def test_a_text_stays_a_text_for_readers_of_both_versions(text: str) -> None:
    """PyYAML, ruamel.yaml and the harness read a label's value as the text that it is."""
    for written in (write_yaml({"k": text}), write_compact_yaml([{"k": text}])):
        read = [yaml.safe_load(written), YAML(typ="safe", pure=True).load(written)]
        assert [*read, read_yaml(written, "f.yaml")[0]] == [{"k": text}] * 3


@given(VALUES, st.booleans())
@example("\x85", False)
@example("a\n\x85", False)
def test_what_is_written_is_read_as_it_was(data: Any, ascii_only: bool) -> None:
    """Any value that JSON knows comes back the same."""
    written = write_yaml({"all": data}, ascii_only=ascii_only)
    assert read_yaml(written, "f.yaml")[0] == {"all": data}
    assert read_yaml(write_compact_yaml([{"all": data}]), "f.yaml")[0] == {"all": data}


def test_order_stays_and_nothing_is_abbreviated() -> None:
    """Keys come as the API orders them, and what stands twice is written twice."""
    shared = {"z": 1, "a": 2}
    assert write_yaml({"second": shared, "first": shared}) == (
        "second:\n  z: 1\n  a: 2\nfirst:\n  z: 1\n  a: 2\n"
    )


def test_ascii_hides_nothing_from_a_terminal() -> None:
    """Escape sequences, and letters that are none of ASCII, are spelled out."""
    assert write_yaml({"k": "\x1b[0m é"}, ascii_only=True) == 'k: "\\e[0m \\xE9"\n'


def test_half_a_surrogate_pair_is_written_all_the_same() -> None:
    """A name that is no text is spelled out instead of ending the diagnostics."""
    assert write_yaml({"k": "a\ud800"}) == 'k: "a\\uD800"\n'


def test_compact_documents_have_their_innermost_parts_on_one_line() -> None:
    """Rules of a node pool are as short as people write them."""
    rules = [{"apiGroups": [""], "verbs": ["get", "list"]}]
    assert write_compact_yaml([{"kind": "Role", "rules": rules}]) == (
        "kind: Role\nrules:\n  - apiGroups: ['']\n    verbs: [get, list]\n"
    )
