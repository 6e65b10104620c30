"""How ``cmd.exe`` parses a line: percent signs, quotes, carets, operators, redirections, names. Pure.

After Microsoft's reference (cmd, copy, redirection), and the parser's rules in Stack Overflow 4094699, of which it is
inferred which ones apply to ``cmd /c`` as to batch files. Variables with modifiers (``%NAME:a=b%``), ``for``, ``if`` and
parentheses are not supported. ``/v:on`` follows the reference of ``cmd``.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

LONGEST = 8191
"""The maximum length of a line in characters."""

# %PATH%
_VARIABLE = re.compile(r"%([^%\n]+)%")
# !errorlevel!
_LATE_VARIABLE = re.compile(r"!([^!\n]+)!")
# cmd.exe /s /d /c ping -n 1 127.0.0.1
_SWITCHES = re.compile(r"\s*((?:/[a-bd-jl-z](?::\w+)?\s*)*)(/c)", re.IGNORECASE)
# 2>nul  >>log.txt  2>&1  <nul
_REDIRECTION = re.compile(
    r'(?P<handle>(?<![^\s,;=])[0-9])?(?P<sign>>>|>|<)\s*(?P<target>&[0-9]|"[^"]*"|[^\s,;=&|<>"]+)'
)
_SPECIAL = frozenset("&<>()@^|")
_DELIMITERS = " \t,;="


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a line: the operator before it, its text without redirections, and these.

    Of a redirection the handle is 0, 1 or 2, the target a file, ``nul`` or ``&1``.
    """

    operator: str
    text: str
    redirections: tuple[tuple[int, str], ...] = ()

    @property
    def name(self) -> str:
        """The command's name as written, up to a delimiter or to the slash of an option."""
        return _split(self.text)[0]

    @property
    def rest(self) -> str:
        """The text after the name, with its blanks."""
        return _split(self.text)[1]


def commanded(tail: str, is_file: Callable[[str], bool]) -> str | None:
    """Return the text after ``/c`` in the arguments of ``cmd.exe``; ``None`` without ``/c``.

    Quotes around the whole text are dropped, unless they are the only ones and enclose the name of an executable.
    """
    match = _SWITCHES.match(tail)
    if match is None:
        return None
    text = tail[match.end() :].lstrip()
    if not text.startswith('"'):
        return text
    inner = text[1:].partition('"')[0]
    keeps = (
        text.count('"') == 2
        and "/s" not in match[1].lower()
        and not _SPECIAL & set(text)
        and " " in inner
        and is_file(inner)
    )
    if keeps:
        return text
    last = text.rindex('"')
    return text[1:last] + text[last + 1 :] if last else text[1:]


def expanded(text: str, environment: Mapping[str, str]) -> str:
    """Return a line with its variables replaced, inside quotes too; unknown ones stay."""
    values = {name.lower(): value for name, value in environment.items()}

    def replace(match: re.Match[str]) -> str:
        return values.get(match[1].lower(), match[0])

    return _VARIABLE.sub(replace, text.partition("\n")[0].rstrip("\r"))


def expands_late(tail: str) -> bool:
    """Whether ``/v:on`` precedes ``/c``: then variables between exclamation marks are expanded when a command runs."""
    match = _SWITCHES.match(tail)
    return match is not None and "/v:on" in match[1].lower()


def expanded_late(text: str, environment: Mapping[str, str], code: int) -> str:
    """Expand a command for ``/v:on``; unknown variables are empty, and ``errorlevel`` is the last exit code."""
    values = {"errorlevel": str(code)} | {
        name.lower(): value for name, value in environment.items()
    }
    return _LATE_VARIABLE.sub(lambda match: values.get(match[1].lower(), ""), text)


def commands(text: str) -> list[Command]:
    """Return the commands of a line, separated by ``&``, ``&&``, ``|`` and ``||`` outside of quotes."""
    parsed: list[Command] = []
    operator, part, at, quoted = "", "", 0, False
    while at < len(text):
        letter = text[at]
        if letter == '"':
            quoted = not quoted
        elif not quoted and letter == "^":
            part += f"\0{text[at + 1 : at + 2]}"
            at += 2
            continue
        elif not quoted and (
            letter == "|" or (letter == "&" and not text[:at].rstrip().endswith((">", "<")))
        ):  # the ampersand of 2>&1 is not an operator
            parsed.append(_command(operator, part))
            operator, part = letter * (1 + (text[at + 1 : at + 2] == letter)), ""
            at += len(operator)
            continue
        part += letter
        at += 1
    return [*parsed, _command(operator, part)]


def words(rest: str) -> list[str]:
    """Return the arguments of an internal command, options and names, without quotes."""
    # sample: /y "C:\a b" C:\c
    return [word.replace('"', "") for word in re.findall(r'(?:[^\s,;="]|"[^"]*"?)+', rest)]


def _command(operator: str, part: str) -> Command:
    redirections: list[tuple[int, str]] = []

    def take(match: re.Match[str]) -> str:
        before = part[: match.start("sign")]
        if before.count('"') % 2 or before.endswith("\0"):
            return match[0]
        usual = 0 if match["sign"] == "<" else 1
        redirections.append((int(match["handle"] or usual), match["target"].strip('"').lower()))
        return ""

    text = _REDIRECTION.sub(take, part).replace("\0", "")
    return Command(operator, text.strip(" \t").removeprefix("@"), tuple(redirections))


def _split(text: str) -> tuple[str, str]:
    text = text.lstrip(_DELIMITERS)
    at, quoted = 0, False
    while at < len(text):
        if text[at] == '"':
            quoted = not quoted
        elif not quoted and (text[at] in _DELIMITERS or (at and text[at] == "/")):
            break
        at += 1
    return text[:at], text[at:]
