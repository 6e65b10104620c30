"""The known questions that calibrate the instruments of a vantage: which there are, and the shell text that asks them. Pure.

A probe costs two processes: one of a program that does not exist, and one shell that asks all other questions, each between
marks in both of its streams, and ends with a code that has to arrive. ``parse.known_answers`` says what has to be read.
"""

import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from nettests.model.calibration import Asked, Instrument, begins, ended
from nettests.model.words import OS
from nettests.parse.known_answers import EXIT_CODE, NO_SUCH_PROGRAM

NOBODY = "192.0.2.1"
"""An address of TEST-NET-1: documents alone use it, and no network should route it (RFC 5737)."""
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One process: its words, and the questions that it asks, in order."""

    words: tuple[str, ...]
    asked: tuple[Asked, ...]


def batches(os: OS, instruments: Collection[Instrument]) -> tuple[Batch, ...]:
    """Return the processes that calibrate these instruments."""
    questions = tuple(
        asked
        for instrument in Instrument
        if instrument in instruments
        for asked in _of(instrument, os)
    )
    missing = Batch(words=(NO_SUCH_PROGRAM,), asked=(Asked(name="exec/missing-program"),))
    shell = Batch(words=_shell(os, questions), asked=(*questions, Asked(name="exec/exit-code")))
    return (missing, shell)


def _of(instrument: Instrument, os: OS) -> Iterator[Asked]:
    match instrument:
        case Instrument.EXEC:
            return
        case Instrument.PING:
            yield Asked(name="ping/itself", words=_ping(os, LOOPBACK))
            yield Asked(name="ping/nobody", words=_ping(os, NOBODY))
        case _:
            assert_never(instrument)


def _ping(os: OS, host: str) -> tuple[str, ...]:
    """Return the argv of one echo; BusyBox knows whole seconds only."""
    match os:
        case OS.WINDOWS:
            return ("ping", "-n", "1", "-w", "500", host)
        case OS.LINUX:
            return ("ping", "-c", "1", "-W", "1", host)
        case _:
            assert_never(os)


def _shell(os: OS, questions: Sequence[Asked]) -> tuple[str, ...]:
    match os:
        case OS.WINDOWS:
            # /d: no AutoRun of the registry; /v:on: !errorlevel! is read when it is printed (cmd /?).
            return (
                "cmd.exe",
                "/d",
                "/v:on",
                "/c",
                "&".join([*_lines(questions, os), f"exit {EXIT_CODE}"]),
            )
        case OS.LINUX:
            return ("sh", "-c", "; ".join([*_lines(questions, os), f"exit {EXIT_CODE}"]))
        case _:
            assert_never(os)


def _lines(questions: Sequence[Asked], os: OS) -> Iterator[str]:
    for number, asked in enumerate(questions):
        match os:
            case OS.WINDOWS:
                yield f"echo {begins(number)}"
                yield f"echo {begins(number)} 1>&2"
                yield " ".join(asked.words)
                yield f"echo {ended(number, '!errorlevel!')}"
            case OS.LINUX:
                yield f"echo '{begins(number)}'"
                yield f"echo '{begins(number)}' >&2"
                yield shlex.join(asked.words)
                yield f'echo "{ended(number, "$?")}"'
