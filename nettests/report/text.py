"""Texts that came from a cluster, made harmless to read: no invisible or reordering characters.

Used by every renderer before its own escaping. A character that a reader could not see, or that
would reorder what stands around it, is shown by name instead.
"""

import re

# sample: "\x00", "\x1b[31m", "\u202egnp.exe", "\ufeff", "\ud800"
_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls but tab and line feed: XML and terminals refuse them
    "\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"  # invisible, line-breaking, reordering
    "\ud800-\udfff\ufffe\uffff"  # not characters; XML refuses them and UTF-8 cannot write them
    "]"
)


def visible(text: str) -> str:
    """Return ``text`` with hidden characters as ``␀`` (controls) or ``⟨U+202E⟩``; CR LF becomes LF."""
    return _HIDDEN.sub(_name, text.replace("\r\n", "\n"))


def _name(found: re.Match[str]) -> str:
    code = ord(found[0])
    # The Control Pictures block mirrors the C0 controls (The Unicode Standard, chapter 22.7).
    return chr(0x2400 + code) if code < 0x20 else f"⟨U+{code:04X}⟩"


def one_line(text: str, *, limit: int = 300) -> str:
    """Return ``text`` on one line, shortened with ``…``, for cells and attributes."""
    line = " ".join(visible(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def plural(count: int, noun: str) -> str:
    """Return ``1 check``, ``2 checks``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
