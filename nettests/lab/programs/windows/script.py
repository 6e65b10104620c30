"""A script of PowerShell: what it prepares, what it does, and which text it prints last.

``ErrorActionPreference``, ``ProgressPreference`` and an encoding inside ``try`` change nothing of what the lab's cmdlets
print; a quoted word alone prints itself, if nothing before it failed. Nothing else is interpreted here.
"""

import re
from dataclasses import dataclass

# Samples: $ErrorActionPreference = 'Stop'
#          try { [Console]::OutputEncoding = [Text.UTF8Encoding]::new($false) } catch { }
_PREPARES = re.compile(
    r"\$(?:ErrorAction|Progress|Warning)Preference\s*=\s*'\w+'|try\s*\{[^{}]*\}\s*catch\s*\{[^{}]*\}",
    re.IGNORECASE,
)
# Sample: 'the end'
_WORD = re.compile(r"'([^']*)'")
_OPENING, _CLOSING = "({[", ")}]"


@dataclass(frozen=True, slots=True)
class Script:
    """The statements that do something, as one text, and what is printed after them."""

    text: str
    last: str | None = None


def read(text: str) -> Script:
    """Return a script without what prepares it and without the word that it prints last."""
    parts = [part for part in _statements(text) if not _PREPARES.fullmatch(part)]
    last = _WORD.fullmatch(parts[-1]) if len(parts) > 1 else None
    return Script("; ".join(parts[:-1] if last else parts), last[1] if last else None)


def _statements(text: str) -> list[str]:
    """Split a text at semicolons outside of quotes and brackets."""
    parts, depth, quoted = [""], 0, False
    for character in text:
        quoted ^= character == "'"
        if not quoted:
            depth += (character in _OPENING) - (character in _CLOSING)
        if character == ";" and not quoted and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
