"""Whether the API server would accept a CronJob's schedule. Pure.

Kubernetes parses it with robfig/cron's ``ParseStandard``: five fields, each a list of numbers, names, ranges and
steps within the field's bounds, or one of a few words. When it fires next is up to the controller.
"""

import re
from dataclasses import dataclass

_WORDS = frozenset(
    {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
)
# samples: "*", "*/5", "1-4", "mon-fri", "10/20"
_PART = re.compile(r"(?:[*?]|(?P<low>\w+)(?:-(?P<high>\w+))?)(?:/(?P<step>[1-9][0-9]{0,3}))?")


@dataclass(frozen=True, slots=True)
class _Field:
    """The bounds of one field, and what its numbers are called, from the lowest on."""

    least: int
    most: int
    names: tuple[str, ...] = ()

    def number(self, word: str) -> int | None:
        if word.lower() in self.names:
            return self.least + self.names.index(word.lower())
        if not (word.isascii() and word.isdigit() and len(word) <= 4):
            return None
        number = int(word)
        return number if self.least <= number <= self.most else None

    def takes(self, text: str) -> bool:
        return all(self._takes_part(part) for part in text.split(","))

    def _takes_part(self, part: str) -> bool:
        match = _PART.fullmatch(part)
        if match is None:
            return False
        if match["low"] is None:
            return True
        low = self.number(match["low"])
        high = low if match["high"] is None else self.number(match["high"])
        return low is not None and high is not None and low <= high


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
# Minute, hour, day, month, weekday; Sunday is 0, and never 7.
_FIELDS = (_Field(0, 59), _Field(0, 23), _Field(1, 31), _Field(1, 12, _MONTHS), _Field(0, 6, _DAYS))


def is_schedule(text: str) -> bool:
    """Whether a CronJob may have it: ``17 2 * * *``, ``*/30 1-5 * * mon,wed``, ``@daily``."""
    if text in _WORDS:
        return True
    fields = text.split(" ")
    return len(fields) == len(_FIELDS) and all(
        field.takes(part) for field, part in zip(_FIELDS, fields, strict=True)
    )
