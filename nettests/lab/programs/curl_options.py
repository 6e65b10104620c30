"""curl's command line, as far as probes use it, and its ``--write-out`` text. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

_SWITCHES = {
    "-s": "silent",
    "--silent": "silent",
    "-S": "show_error",
    "--show-error": "show_error",
    "-i": "include",
    "--include": "include",
    "-I": "head",
    "--head": "head",
    "-f": "fail",
    "--fail": "fail",
    "-k": "insecure",
    "--insecure": "insecure",
    "-4": "",
    "--ipv4": "",
}
_VALUES = {
    "-m": "max_time",
    "--max-time": "max_time",
    "--connect-timeout": "connect_timeout",
    "-o": "output",
    "--output": "output",
    "-w": "write_out",
    "--write-out": "write_out",
    "-X": "method",
    "--request": "method",
    "-H": "header",
    "--header": "header",
    "--local-port": "local_port",
}
_RANGE = re.compile(r"\[(\d+)-(\d+)\]")
_BIT_BUCKETS = ("/dev/null", "nul", "-")


class UsageError(Exception):
    """The command line is not usable; the text is curl's."""


@dataclass(slots=True, kw_only=True)
class Options:
    """What one curl command requests."""

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
    """The body is thrown away."""
    write_out: str = ""
    method: str = ""
    local_port: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)


class Figures(Protocol):
    """What ``--write-out`` can print."""

    status: int
    local: tuple[str, int]
    remote: tuple[str, int]


def parse(words: Sequence[str]) -> Options:
    """Read the words after ``curl``; ``UsageError`` for what is not supported."""
    options = Options()
    rest = _split_short(words)
    while rest:
        word = rest.pop(0)
        if word in _SWITCHES:
            if _SWITCHES[word]:
                setattr(options, _SWITCHES[word], True)
        elif word in _VALUES:
            if not rest:
                raise UsageError(f"option {word}: requires parameter")
            _set_value(options, _VALUES[word], rest.pop(0))
        elif word.startswith("-"):
            raise UsageError(f"option {word}: is unknown")
        elif options.url:
            raise UsageError(f"option {word}: the lab's curl takes one URL")
        else:
            options.url = word
    if not options.url:
        raise UsageError("no URL specified!")
    return options


def urls(pattern: str) -> tuple[str, ...]:
    """Return the URLs that one with a range stands for (``[1-15]``, curl's globbing); of others the one."""
    match = _RANGE.search(pattern)
    if match is None:
        return (pattern,)
    before, after = pattern[: match.start()], pattern[match.end() :]
    first, last = int(match[1]), int(match[2])
    return tuple(f"{before}{number}{after}" for number in range(first, last + 1))


def _split_short(words: Sequence[str]) -> list[str]:
    """Turn ``-sSm5`` into ``-s -S -m 5``."""
    split: list[str] = []
    for word in words:
        if not re.fullmatch(r"-[A-Za-z0-9].+", word):
            split.append(word)
            continue
        letters = word[1:]
        while letters:
            flag, letters = f"-{letters[0]}", letters[1:]
            split.append(flag)
            if flag in _VALUES and letters:
                split.append(letters)
                break
    return split


def _set_value(options: Options, name: str, value: str) -> None:
    if name in ("max_time", "connect_timeout"):
        try:
            setattr(options, name, float(value))
        except ValueError as error:
            raise UsageError(f"option --{name.replace('_', '-')}: expected a number") from error
    elif name == "local_port":
        if not value.isdecimal():
            raise UsageError("option --local-port: expected a proper numerical parameter")
        options.local_port = int(value)
    elif name == "output":
        if value.lower() not in _BIT_BUCKETS:
            raise UsageError(f"option -o: the lab's curl writes no file ({value})")
        options.output = value != "-"
    elif name == "header":
        key, _, text = value.partition(":")
        options.headers.append((key.strip(), text.strip()))
    else:
        setattr(options, name, value)


def write_out(template: str, figures: Figures, seconds: float) -> str:
    """Return the ``--write-out`` text."""
    values = {
        "http_code": f"{figures.status:03d}",
        "response_code": f"{figures.status:03d}",
        "local_ip": figures.local[0],
        "local_port": str(figures.local[1]),
        "remote_ip": figures.remote[0],
        "remote_port": str(figures.remote[1]),
        "time_total": f"{seconds:.6f}",
    }
    text = template.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r")
    return re.sub(r"%\{(\w+)\}", lambda match: values.get(match[1], ""), text)
