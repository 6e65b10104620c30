"""curl's command line, as far as probes use it. Pure."""

import getopt
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

_SWITCHES = {
    "s": "silent",
    "S": "show-error",
    "i": "include",
    "I": "head",
    "f": "fail",
    "k": "insecure",
    "4": "ipv4",
}
_VALUES = {"m": "max-time", "o": "output", "w": "write-out", "X": "request", "H": "header"}
_LONG_VALUES = ("connect-timeout", "local-port")
_RANGE = re.compile(r"\[(\d+)-(\d+)\]")
_BIT_BUCKETS = ("/dev/null", "nul", "-")


class UsageError(Exception):
    """The command line is invalid; the text is curl's."""


@dataclass(slots=True, kw_only=True)
class Options:
    """The options of one curl command."""

    url: str = ""
    silent: bool = False
    show_error: bool = False
    include: bool = False
    head: bool = False
    fail: bool = False
    insecure: bool = False
    max_time: float | None = None
    connect_timeout: float | None = None
    output: bool = False
    """Whether the body is discarded."""
    write_out: str = ""
    request: str = ""
    local_port: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)


def parse(words: Sequence[str]) -> Options:
    """Parse the arguments of ``curl``; ``UsageError`` if one is not supported."""
    short = "".join(_SWITCHES) + "".join(f"{letter}:" for letter in _VALUES)
    long = [*_SWITCHES.values(), *(f"{name}=" for name in (*_VALUES.values(), *_LONG_VALUES))]
    try:
        pairs, urls_given = getopt.gnu_getopt(list(words), short, long)
    except getopt.GetoptError as error:
        option = f"{'-' if len(error.opt) == 1 else '--'}{error.opt}"
        lacks = "requires argument" in error.msg
        why = "requires parameter" if lacks else "is unknown"
        raise UsageError(f"option {option}: {why}") from error
    if len(urls_given) > 1:
        raise UsageError(f"option {urls_given[1]}: the lab's curl takes one URL")
    if not urls_given:
        raise UsageError("no URL specified!")
    options = Options(url=urls_given[0])
    for written, value in pairs:
        name = written.lstrip("-")
        _set(options, {**_SWITCHES, **_VALUES}.get(name, name), value)
    return options


def _set(options: Options, name: str, value: str) -> None:
    match name:
        case "max-time" | "connect-timeout":
            try:
                setattr(options, name.replace("-", "_"), float(value))
            except ValueError as error:
                raise UsageError(f"option --{name}: expected a number") from error
        case "local-port":
            if not value.isdecimal():
                raise UsageError("option --local-port: expected a proper numerical parameter")
            options.local_port = int(value)
        case "output":
            if value.lower() not in _BIT_BUCKETS:
                raise UsageError(f"option -o: the lab's curl writes no file ({value})")
            options.output = value != "-"
        case "header":
            key, _, text = value.partition(":")
            options.headers.append((key.strip(), text.strip()))
        case "write-out" | "request":
            setattr(options, name.replace("-", "_"), value)
        case _ if name != "ipv4":
            setattr(options, name.replace("-", "_"), True)


def urls(pattern: str) -> tuple[str, ...]:
    """Expand a range in a URL (``[1-15]``, curl's globbing)."""
    match = _RANGE.search(pattern)
    if match is None:
        return (pattern,)
    before, after = pattern[: match.start()], pattern[match.end() :]
    first, last = int(match[1]), int(match[2])
    return tuple(f"{before}{number}{after}" for number in range(first, last + 1))
