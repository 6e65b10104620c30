"""Make cluster text safe to display: no hidden or reordering characters; literal in Markdown.

Every renderer uses it before its own escaping, and ``nettests.terminal`` for all output. A
character that is invisible, reorders others or controls a terminal is replaced by its name. Also
words for numbers.
"""

import re

# samples: "\x00", "\x1b[31m", "\u202egnp.exe", "\ufeff", "\ud800"
_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but tab and line feed: XML and terminals refuse them
    "\xad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"  # invisible, line-
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff"  # breaking, reordering, tags
    "\ud800-\udfff\ufffe\uffff"  # not characters; XML refuses them and UTF-8 cannot write them
    "]"
)


def visible(text: str) -> str:
    """Return ``text`` with hidden characters as ``␀`` (controls) or ``⟨U+202E⟩``; CR LF becomes LF."""
    return _HIDDEN.sub(_name, text.replace("\r\n", "\n"))


def _name(match: re.Match[str]) -> str:
    code = ord(match[0])
    # The Control Pictures block mirrors the C0 controls (The Unicode Standard, chapter 22.7).
    return chr(0x2400 + code) if code < 0x20 else f"⟨U+{code:04X}⟩"


def one_line(text: str, *, limit: int = 300) -> str:
    """Return ``text`` on one line, shortened with ``…``, for cells and attributes."""
    return cut(" ".join(visible(text).split()), limit)


def cut(text: str, limit: int) -> str:
    """Return ``text``, without its middle if too long: the start says what failed, the end why."""
    if len(text) <= limit:
        return text
    end = limit // 2
    return f"{text[: limit - 1 - end]}…{text[-end:]}"


def as_line(text: str) -> str:
    """Return the whole ``text`` as exactly one line, with line feeds as ``␊``."""
    return visible(text).replace("\n", "␊").replace("\t", "␉")


def as_paragraph(text: str) -> str:
    """Indent all lines of ``text`` but the first, so that none looks like another text."""
    first, *others = visible(text).split("\n")
    return "\n".join([first, *(line if line.startswith("  ") else f"  {line}" for line in others)])


def escaped_json(text: str) -> str:
    r"""Escape hidden characters in JSON as ``\u``: the same data, harmless on a terminal."""
    return _HIDDEN.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    # A character beyond the basic plane is a surrogate pair in JSON (RFC 8259, section 7).
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


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
    """Return ``text`` on one line with all Markdown and HTML syntax escaped."""
    return _NUMBER.sub(r"\1\\\2", _BULLET.sub(r"\\\1", _SPECIAL.sub(r"\\\1", one_line(text))))


def inert(text: str) -> str:
    """Return ``text`` escaped, and without anything that a viewer would turn into a link."""
    # Split first: the comments must not be escaped themselves, and are not part of the text.
    return _BREAK.join(_pieces(one_line(text)))


def _pieces(line: str) -> list[str]:
    pieces = _LINKED.split(line)
    first, *others = (_SPECIAL.sub(r"\\\1", piece) for piece in pieces)
    return [_NUMBER.sub(r"\1\\\2", _BULLET.sub(r"\\\1", first)), *others]


def code(text: str) -> str:
    """Return a code span, in which only its end and a table's bar have a meaning."""
    line = one_line(text).replace("`", "'")
    # A backslash escapes a bar; one before it must not escape that backslash (6.9 Tables, cells).
    line = _ATTACK_ON_BAR.sub(r"\1 ", line).replace("|", r"\|")
    return f"`{line}`" if line else "` `"


def plural(count: int, noun: str) -> str:
    """Return ``1 check``, ``2 checks``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
