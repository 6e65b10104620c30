"""Command line flags as cobra and pflag read them, with their error texts. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from nettests.lab.programs.golang.values import SyntaxOfValueError, atoi, parse_duration, quote


class Kind(StrEnum):
    """The type of a flag's value."""

    BOOL = "bool"
    INT = "int"
    STRING = "string"
    DURATION = "duration"


Value = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag and its default."""

    kind: Kind
    default: Value


@dataclass(frozen=True, slots=True)
class Parsed:
    """Flag values by name, and the arguments that are not flags."""

    values: Mapping[str, Value]
    arguments: tuple[str, ...]
    help: bool = False

    def text(self, name: str) -> str:
        """Return a string flag."""
        return str(self.values[name])

    def number(self, name: str) -> int:
        """Return an integer flag."""
        return int(self.values[name])

    def seconds(self, name: str) -> float:
        """Return a duration flag."""
        return float(self.values[name])

    def switch(self, name: str) -> bool:
        """Return a boolean flag."""
        return bool(self.values[name])


class UsageError(Exception):
    """The command line is not valid; the text is cobra's own, without ``Error: ``."""


_GLOBAL = {
    "log-flush-frequency": Flag(Kind.DURATION, 5.0),
    "v": Flag(Kind.STRING, "0"),
    "vmodule": Flag(Kind.STRING, ""),
}


@dataclass(slots=True)
class _Reader:
    flags: Mapping[str, Flag]
    words: list[str]
    values: dict[str, Value] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)
    help: bool = False

    def read(self) -> None:
        while self.words:
            word = self.words.pop(0)
            if word == "--":
                self.arguments += self.words
                return
            if word in ("-h", "--help"):
                self.help = True
            elif word.startswith("--"):
                self._flag(word[2:])
            elif word.startswith("-v"):
                self._flag("v" + (f"={word[2:].lstrip('=')}" if word[2:] else ""))
            elif word.startswith("-") and len(word) > 1:
                raise UsageError(f"unknown shorthand flag: {quote_char(word[1])} in {word}")
            else:
                self.arguments.append(word)

    def _flag(self, text: str) -> None:
        name, equals, value = text.partition("=")
        flag = self.flags.get(name)
        if flag is None:
            raise UsageError(f"unknown flag: --{name}")
        if not equals:
            if flag.kind is Kind.BOOL:
                value = "true"
            elif self.words:
                value = self.words.pop(0)
            else:
                raise UsageError(f"flag needs an argument: --{name}")
        try:
            self.values[name] = _convert(flag.kind, value)
        except SyntaxOfValueError as error:
            raise UsageError(
                f'invalid argument {quote(value)} for "--{name}" flag: {error}'
            ) from error


def quote_char(character: str) -> str:
    """Return a character as Go's ``%q`` prints it."""
    return f"'{character}'"


def _convert(kind: Kind, text: str) -> Value:
    if kind is Kind.INT:
        return atoi(text, "ParseInt")
    if kind is Kind.DURATION:
        return parse_duration(text)
    if kind is Kind.BOOL:
        if text in ("1", "t", "T", "true", "TRUE", "True"):
            return True
        if text in ("0", "f", "F", "false", "FALSE", "False"):
            return False
        raise SyntaxOfValueError(f"strconv.ParseBool: parsing {quote(text)}: invalid syntax")
    return text


def parse(flags: Mapping[str, Flag], words: Sequence[str]) -> Parsed:
    """Read ``words`` against ``flags`` and cobra's global ones; ``UsageError`` with cobra's text."""
    all_flags = {**_GLOBAL, **flags}
    reader = _Reader(all_flags, list(words))
    reader.read()
    values = {name: flag.default for name, flag in all_flags.items()} | reader.values
    return Parsed(values, tuple(reader.arguments), help=reader.help)
