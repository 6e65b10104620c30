"""Texts of Go programs: numbers, durations, quoted strings, JSON, flags, and klog lines. Pure, except for ``log``.

Flags are parsed like by cobra and pflag, with their error texts. A log line is ``I1121 01:06:58.380590   18863 log.go:244] GET /hostname``:
agnhost redirects the standard ``log`` package to klog, so that every line has ``log.go:244``.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from nettests.lab.interfaces import Process

_UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
}

# Samples: "5s", "1m30s", "1.5h", "-2ms"
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")


class SyntaxOfValueError(ValueError):
    """Go does not accept a value; the text is Go's."""


def parse_duration(text: str) -> float:
    """Parse a Go duration into seconds (``time.ParseDuration``); ``SyntaxOfValueError`` if it is invalid."""
    rest = text.lstrip("+-") if text[:1] in "+-" else text
    if rest == "0":
        return 0.0
    parts = _PART.findall(rest)
    if not parts or "".join(number + unit for number, unit in parts) != rest:
        raise SyntaxOfValueError(f"time: invalid duration {quote(text)}")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    return -seconds if text.startswith("-") else seconds


def format_duration(seconds: float) -> str:
    """Format seconds as a Go duration: ``0s``, ``1.5s``, ``1m0s``."""
    if seconds == 0:
        return "0s"
    if seconds < 1:
        return f"{seconds * 1000:.6f}".rstrip("0").rstrip(".") + "ms"
    minutes, rest = divmod(seconds, 60)
    tail = f"{rest:.9f}".rstrip("0").rstrip(".") + "s"
    hours, minutes = divmod(int(minutes), 60)
    if hours:
        return f"{hours}h{minutes}m{tail}"
    return f"{minutes}m{tail}" if minutes else tail


def atoi(text: str, function: str = "Atoi") -> int:
    """Parse an integer like ``strconv.Atoi``; ``SyntaxOfValueError`` with its text if it is invalid."""
    if re.fullmatch(r"[+-]?[0-9]+", text):  # samples: "8081", "-1"
        return int(text)
    raise SyntaxOfValueError(f"strconv.{function}: parsing {quote(text)}: invalid syntax")


def quote(text: str) -> str:
    """Return ``text`` as Go's ``%q`` prints it."""
    return json.dumps(text, ensure_ascii=False)


def to_json(value: object) -> str:
    """Return JSON as ``encoding/json`` writes it: sorted keys, HTML characters escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return re.sub("[<>&\u2028\u2029\ufffd]", lambda match: f"\\u{ord(match[0]):04x}", text)


Value = bool | int | float | str
Flags = Mapping[str, Value]
"""Flags with their defaults, which imply their types; a float is a duration in seconds."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """Flag values by name, and the arguments that are not flags."""

    values: Mapping[str, Any]
    arguments: tuple[str, ...]
    help: bool = False

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


class UsageError(Exception):
    """The command line is invalid; the text is cobra's, without ``Error: ``."""


_GLOBAL: Flags = {"log-flush-frequency": 5.0, "v": "0", "vmodule": ""}


def parse(flags: Flags, words: Sequence[str]) -> Parsed:
    """Parse ``words`` with ``flags`` and cobra's global ones; ``UsageError`` with cobra's text."""
    values: dict[str, Value] = {**_GLOBAL, **flags}
    rest, arguments, wants_help = list(words), list[str](), False
    while rest:
        word = rest.pop(0)
        if word == "--":
            arguments += rest
            break
        if word in ("-h", "--help"):
            wants_help = True
        elif word.startswith("--"):
            _set(values, word[2:], rest)
        elif word.startswith("-v"):
            _set(values, "v" + (f"={word[2:].lstrip('=')}" if word[2:] else ""), rest)
        elif word.startswith("-") and len(word) > 1:
            raise UsageError(f"unknown shorthand flag: '{word[1]}' in {word}")
        else:
            arguments.append(word)
    return Parsed(values, tuple(arguments), help=wants_help)


def _set(values: dict[str, Value], text: str, rest: list[str]) -> None:
    """Set a flag; its value may be the next word."""
    name, equals, value = text.partition("=")
    if name not in values:
        raise UsageError(f"unknown flag: --{name}")
    if not equals and isinstance(values[name], bool):
        value = "true"
    elif not equals and not rest:
        raise UsageError(f"flag needs an argument: --{name}")
    elif not equals:
        value = rest.pop(0)
    try:
        values[name] = _converted(value, values[name])
    except SyntaxOfValueError as error:
        raise UsageError(f'invalid argument {quote(value)} for "--{name}" flag: {error}') from error


def _converted(text: str, before: Value) -> Value:
    match before:
        case bool():
            words = dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True)
            words |= dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False)
            if text not in words:
                message = f"strconv.ParseBool: parsing {quote(text)}: invalid syntax"
                raise SyntaxOfValueError(message)
            return words[text]
        case int():
            return atoi(text, "ParseInt")
        case float():
            return parse_duration(text)
    return text


_PROCESS_ID = 1
_SOURCE = "log.go:244"


def klog(source: str, text: str) -> bytes:
    """Return a klog line; a final newline in ``text`` is not doubled."""
    moment = datetime.now(UTC).isoformat(" ", "microseconds")
    stamp = f"{moment[5:7]}{moment[8:26]}"  # 1121 01:06:58.380590
    message = text.removesuffix("\n")
    return f"I{stamp} {_PROCESS_ID:>7} {source}] {message}\n".encode()


async def log(process: Process, text: str) -> None:
    """Write one line of a process's log to its standard error."""
    await process.stderr(klog(_SOURCE, text))
