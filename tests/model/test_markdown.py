"""Texts of a cluster in Markdown: nothing is a link, a mention, a reference, or markup."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from nettests.model.visible import code, inert, one_line

ATTACKS = [
    "http://evil.test/x",
    "https://evil.test",
    "ftp://evil.test",
    "www.evil.test",
    "WwW.evil.test",
    "see (www.evil.test)",
    "mailto:a@evil.test",
    "xmpp:a@evil.test",
    "somebody@evil.test",
    "@team/everyone look",
    "#123",
    "owner/repo#123",
    "GH-123",
    "!5",
    "<http://evil.test>",
    "[x](http://evil.test)",
    "![x](http://evil.test/pixel.png)",
    "[x]: http://evil.test",
    "<script>alert(1)</script>",
    "<!-- ",
    "--> <b>x</b>",
    "&lt;b&gt;&#64;team",
    "# head",
    "- item",
    "1. item",
    "---",
    "===",
    "`code` **bold** _it_ ~~no~~",
    "a | b \\| c \\\\| d",
    "$x$ and \\",
    "javascript:alert(1)",
    "\u202ehttp://evil.test",
]
# What GitHub turns into links in texts that hold no markup (GFM 6.9, and its references and mentions).
_AUTOLINKS = re.compile(
    r"(?i)(?:https?|ftp)://\w|www\.\w|mailto:|xmpp:|[\w.+-]+@[\w-]+\.\w|(?<!\w)@\w|#\d|GH-\d"
)


class Seen(HTMLParser):
    """The tags and the runs of text between them, of a rendered page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.texts.append("")

    def handle_comment(self, data: str) -> None:
        assert data == " "
        self.texts.append("")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def rendered(text: str) -> Seen:
    """Render as GitHub does, but for its autolinks."""
    return Seen(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text))


@given(st.text() | st.sampled_from(ATTACKS) | st.lists(st.sampled_from(ATTACKS)).map(" ".join))
def test_a_text_is_read_as_it_is(text: str) -> None:
    """A reader sees the very text, and no program finds a link, a mention or markup in it."""
    shown = rendered(inert(text))
    assert set(shown.tags) <= {"p"}
    assert "".join(shown.texts).split() == one_line(text).split()
    assert not [one for one in shown.texts if _AUTOLINKS.search(one)]


@given(st.text() | st.sampled_from(ATTACKS))
def test_a_cell_stays_a_cell(text: str) -> None:
    """In a table neither a text nor a code span ends its cell."""
    page = rendered(f"| a | b | c |\n| --- | --- | --- |\n| {inert(text)} | {code(text)} | end |\n")
    assert page.tags.count("td") == 3
    assert "".join(page.texts).split()[-1] == "end"
    assert set(page.tags) <= {"table", "thead", "tbody", "tr", "th", "td", "code"}


@pytest.mark.parametrize(
    "text", ["windows-1 did not answer", "10.0.0.1:80 timed out", "14:04:12 UTC"]
)
def test_usual_texts_stay(text: str) -> None:
    """What is harmless is not cluttered."""
    assert inert(text) == text
