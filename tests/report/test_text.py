"""Texts from a cluster are shown, not obeyed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.model.visible import literal as escape
from nettests.model.visible import one_line, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain → ×  text\twith tab", "plain → ×  text\twith tab"),
        ("a\r\nb\nc", "a\nb\nc"),
        ("nul\x00", "nul␀"),
        ("\x1b[31mred", "␛[31mred"),
        ("gnp\u202egpj.exe", "gnp⟨U+202E⟩gpj.exe"),
        ("zero\u200bwidth\ufeff", "zero⟨U+200B⟩width⟨U+FEFF⟩"),
        ("half \ud800 pair", "half ⟨U+D800⟩ pair"),
        ("lone\rreturn", "lone␍return"),
        ("עברית العربية", "עברית العربية"),
    ],
)
def test_hidden_characters_are_shown_by_name(text: str, shown: str) -> None:
    """What is invisible or reorders text is named; letters of any language stay."""
    assert visible(text) == shown


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_becomes_writable(text: str) -> None:
    """Whatever a cluster says can be written as UTF-8 and as XML."""
    shown = visible(text)
    shown.encode("utf-8")
    assert not any(ord(character) < 32 and character not in "\t\n" for character in shown)


@given(st.text())
def test_one_line_is_one_line(text: str) -> None:
    """A cell never breaks its row and never exceeds its limit."""
    line = one_line(text, limit=40)
    assert "\n" not in line
    assert len(line) <= 40


@pytest.mark.parametrize("special", ["|", "<", ">", "`", "*", "_", "[", "]", "#", "&", "@", "~"])
def test_markdown_is_escaped(special: str) -> None:
    """No character of a text is read as Markdown or HTML."""
    assert escape(f"a{special}b") == f"a\\{special}b"
