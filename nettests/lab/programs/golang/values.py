"""Go's texts for numbers, durations, quoted strings and JSON. Pure."""

import json
import re

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
    """A value is not what Go accepts; the text is Go's own."""


def parse_duration(text: str) -> float:
    """Return seconds of a Go duration (``time.ParseDuration``); ``SyntaxOfValueError`` otherwise."""
    rest = text.lstrip("+-") if text[:1] in "+-" else text
    if rest == "0":
        return 0.0
    parts = _PART.findall(rest)
    if not parts or "".join(number + unit for number, unit in parts) != rest:
        raise SyntaxOfValueError(f"time: invalid duration {quote(text)}")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    return -seconds if text.startswith("-") else seconds


def format_duration(seconds: float) -> str:
    """Return a Go duration of whole and fractional seconds: ``0s``, ``1.5s``, ``1m0s``."""
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
    """Return an integer as ``strconv.Atoi`` does; ``SyntaxOfValueError`` with its text otherwise."""
    if re.fullmatch(r"[+-]?[0-9]+", text):  # samples: "8081", "-1"
        return int(text)
    raise SyntaxOfValueError(f"strconv.{function}: parsing {quote(text)}: invalid syntax")


def quote(text: str) -> str:
    """Return ``text`` as Go's ``%q`` prints it."""
    return json.dumps(text, ensure_ascii=False)


def to_json(value: object) -> str:
    """Return JSON as ``encoding/json`` writes it: sorted keys, HTML characters escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    for plain, escaped in (
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
        ("\ufffd", "\\ufffd"),
    ):
        text = text.replace(plain, escaped)
    return text
