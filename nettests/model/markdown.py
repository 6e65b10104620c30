"""Escape texts of a cluster for Markdown: literal, without links, mentions or references.

For GitHub's dialect, in which job summaries are read, and its subsets. A backslash makes punctuation literal, but
addresses, ``@names`` and ``#numbers`` are still recognised; an empty comment inside them, which no reader sees or
copies, prevents that (GitHub Flavored Markdown, 6.9 Autolinks).
"""

import re

from nettests.model.visible import one_line

# samples: "a|b", "<script>", "[x](javascript:…)", "`code`", "&lt;", "~~no~~", "# head", "- item", "1. one"
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&@$!])")
_BULLET = re.compile(r"^([-+=])")
_NUMBER = re.compile(r"^(\d+)([.)])(?=\s|$)")
# samples: http://x, www.x, mailto:x, xmpp:x, a@b.c, @team, #123, GH-123, owner/repo#1, !5
_LINKED = re.compile(
    r"(?i)(?<=:)(?=//)|(?<=www)(?=\.)|(?<=mailto)(?=:)|(?<=xmpp)(?=:)|(?<=@)(?=\w)|(?<=[#!])(?=\w)"
    r"|(?<=GH)(?=-\d)"
)
_BREAK = "<!-- -->"
_ATTACK_ON_BAR = re.compile(r"(\\+)(?=\|)")


def literal(text: str) -> str:
    """Return ``text`` on one line with all Markdown and HTML syntax made literal."""
    return _NUMBER.sub(r"\1\\\2", _BULLET.sub(r"\\\1", _SPECIAL.sub(r"\\\1", one_line(text))))


def inert(text: str) -> str:
    """Return ``text`` literal, and without anything that a viewer would turn into a link."""
    # Split first: the comments have to be outside the backslashes, and are not part of the text.
    return _BREAK.join(_pieces(one_line(text)))


def _pieces(line: str) -> list[str]:
    pieces = _LINKED.split(line)
    first, *others = (_SPECIAL.sub(r"\\\1", piece) for piece in pieces)
    return [_NUMBER.sub(r"\1\\\2", _BULLET.sub(r"\\\1", first)), *others]


def code(text: str) -> str:
    """Return a code span, in which only its end and a table's bar have a meaning."""
    line = one_line(text).replace("`", "'")
    # A backslash escapes a bar, and a backslash before it must not escape that (6.9 Tables, cells).
    line = _ATTACK_ON_BAR.sub(r"\1 ", line).replace("|", r"\|")
    return f"`{line}`" if line else "` `"
