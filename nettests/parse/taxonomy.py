"""Clients' error texts and their outcomes, per operating system: ``taxonomy.txt``.

Used by every tool module whose tool prints error texts of the system or of Go; Windows and Linux
word the same event differently. A text that is not in the table yields ``None``; nothing is
guessed. Four decisions: a connection that the peer resets, or closes without an answer, is
``refused``: rejected, not lost. Go prints ``server misbehaving`` for SERVFAIL and REFUSED alike:
``servfail``. A name without addresses (NODATA) is ``nxdomain``, as in Go's resolver. A datagram
that the node's own netfilter rejects (EPERM) is ``refused``, because the node itself answered; a
blackhole or prohibit route is ``unreachable``, like a missing one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from nettests.model.words import OS, Outcome
from nettests.resources import lines_of


class Stage(StrEnum):
    """What failed: resolving the target's name, or reaching its address."""

    NAME = "name"
    ADDRESS = "address"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One error text: ``fragment`` is searched for, ``sample`` is a line that contains it."""

    stage: Stage
    fragment: str
    outcome: Outcome
    sample: str
    os: OS | None = None
    """The client's system; ``None`` for Go's own texts, which are the same everywhere."""


def _rows() -> Iterator[Row]:
    for line in lines_of("nettests.parse", "taxonomy.txt"):
        stage, system, outcome, fragment, sample = line.split(" | ")
        yield Row(
            stage=Stage(stage),
            fragment=fragment,
            outcome=Outcome(outcome),
            sample=sample,
            os=None if system == "any" else OS(system),
        )


TABLE = tuple(_rows())

_WINDOWS_ERRORS = dict(
    line.split(" ", 1) for line in lines_of("nettests.parse", "windows_errors.txt")
)
"""Texts by error number (Winsock, winerror.h). If FormatMessage has no text in English or the system's
language, Go prints only the number (``syscall.Errno.Error``)."""
# sample: "dial tcp 10.244.2.5:9999: connectex: winapi error #10061"
_NUMBER = re.compile(r"winapi error #(\d+)")


def stage_of(text: str) -> Stage:
    """Return whether an error text is about a name or about an address."""
    # sample: "lookup nosuch.demo on 10.96.0.10:53: no such host"
    return Stage.NAME if re.search(r"\blookup \S+", text) else Stage.ADDRESS


def classify(text: str, client_os: str, stage: Stage | None = None) -> Outcome | None:
    """Return the outcome of an error text on the client's system; ``None`` if it is unknown.

    Case is ignored: curl and ``strerror`` begin with a capital, Go does not. ``stage`` is derived
    from the text unless the caller passes it.
    """
    stage = stage or stage_of(text)
    if client_os == OS.WINDOWS:
        text = _NUMBER.sub(lambda match: _WINDOWS_ERRORS.get(match[1], match[0]), text)
    lowered = text.lower()
    for row in TABLE:
        if row.stage is stage and row.os in {None, client_os} and row.fragment.lower() in lowered:
            return row.outcome
    return None
