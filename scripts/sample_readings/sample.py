"""A row of an ``index.tsv``, what was read of its file, and whether this is what was due.

A function of ``READINGS`` calls the product's own reading of a file and returns what was read, in the words of the
index. It returns a text, which has to be one of the expected ones, or ``Read``, which says itself whether it is right.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from nettests.model.powershell import END, whole_output
from nettests.rules import readings

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A row: the reading of a file by its name, and what it should bring."""

    folder: Path
    file: str
    reading: str
    expected: str

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / self.file

    @property
    def text(self) -> str:
        """The file's text, with its own line ends, and without a final one where the file has none."""
        return self.path.read_bytes().decode("utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What was read; ``right`` is ``None`` where the text has to be one of those expected."""

    text: str
    right: bool | None = None


def kept_of(reading: readings.Reading, text: str) -> str:
    """Return what is kept of a reading that prints a text, and the mark of its end where it has one."""
    words = reading.words if isinstance(reading, readings.ToolOutput) else ("",)
    printed = f"{text}\n{END}\n" if whole_output(words, "") is None else text
    return readings.reduced(reading, printed)


Reading = Callable[[Sample], str | Read]
Readings = Mapping[str, Reading]


class Verdict(StrEnum):
    """Whether what was read is what was due."""

    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"
    NO_READER = "no reader"


def reading_named(name: str, named_readings: Readings) -> Reading | None:
    """Return the reading of a name: its own, or that of the longest beginning."""
    if name in named_readings:
        return named_readings[name]
    beginnings = [
        key
        for key in named_readings
        if key.endswith("*") and name.startswith(key.removesuffix("*"))
    ]
    return named_readings[max(beginnings, key=len)] if beginnings else None


def judged(sample: Sample, reading: Reading | None) -> tuple[str, Verdict]:
    """Read a sample; an error of the reading is a wrong one."""
    if reading is None:
        return "", Verdict.NO_READER
    try:
        got = reading(sample)
    except Exception as error:  # noqa: BLE001 - a reading that fails must not end the table
        return f"{type(error).__name__}: {error}", Verdict.WRONG
    read = Read(text=got) if isinstance(got, str) else got
    return read.text, verdict_of(read, sample.expected)


def verdict_of(read: Read, expected: str) -> Verdict:
    """Return whether a text is due; an unknown one is right where the index allows it."""
    if read.text.lower().startswith(UNKNOWN):
        allowed = re.search(r"\bunknown\b", expected, re.IGNORECASE) is not None
        return Verdict.RIGHT if allowed else Verdict.UNKNOWN
    right = read.text in alternatives(expected) if read.right is None else read.right
    return Verdict.RIGHT if right else Verdict.WRONG


def alternatives(expected: str) -> list[str]:
    """Return the texts that are due.

    sample: ``unreachable or unknown (a routing loop; somebody answered)``; ``toomanyrequests|429``
    """
    without_remarks = re.sub(r"\s*\([^)]*\)$", "", expected)
    return [text.strip() for text in re.split(r"\||,? or ", without_remarks)]
