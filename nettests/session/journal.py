"""The journal file of a run: written by one process, followed by waiting tests, read by everything later.

Secrets are removed from every record before it is written (``redaction``), and only the owner may read the file. One
process writes (``Journal``); any process may follow (``Follower``): it reads complete lines only, and detects a dead
writer by its file lock, which the kernel drops with the process. Windows has no such lock: only ``nettests calibrate
--local`` runs there, whose journal nobody follows while it is written. ``model.journal_records`` defines the records;
nothing here parses answers or judges.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, BinaryIO, Self

from nettests.errors import NettestsError, PathError
from nettests.model import limits
from nettests.model.codec import from_data
from nettests.model.journal_lines import data_of, decode, decode_only, encode
from nettests.model.journal_records import Answer, Convergence, Done, End, Event, Record
from nettests.model.limits import BrokenJournalError
from nettests.model.observation import Raw
from nettests.outside_files import read_bytes
from nettests.private import make_folder, open_file
from nettests.redaction import Redactor

_BY_SHAPE = Redactor()
NAMES = frozenset(
    {
        *(
            *("record", "run_id", "check", "checks", "id", "flow", "purpose", "tool"),
            *("client_os", "probe", "verdict", "labels"),
        )
    }
)
"""Fields whose values other records and parsers refer to: names that the harness has made."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
PATIENCE = 3600.0
"""Seconds that a test waits at most; a writer that died is noticed at once."""
POLL_SECONDS = 0.02
"""How often a follower looks for growth: no portable call blocks until another process appends."""


class Journal:
    """The writing side: append-only, one flushed line a record, safe for threads.

    The writer holds an exclusive lock (``flock``) on the file as long as it lives; the kernel drops
    it when the process ends in whatever way. What is written after ``close`` is dropped: an answer may
    arrive when the run has ended. So is all after a record that could not be written, because the disk is full
    perhaps: the journal is closed then, so that no test waits for what will not come, and ``on_broken`` is called.
    """

    def __init__(self, path: Path, redactor: Redactor = _BY_SHAPE) -> None:
        make_folder(path.parent)
        self.path = path
        self.redactor = redactor
        self.broken = ""
        """Why nothing is written any more, if that is so."""
        self.on_broken: Callable[[], None] = lambda: None
        self._file: BinaryIO | None = open_file(path, "ab")
        self._lock = threading.Lock()
        self._answers: Counter[str] = Counter()
        self.finished: set[str] = set()
        """Checks whose ``done`` record is written: nothing is said of them twice."""
        if not self._lock_file(self._file):
            self._file.close()
            raise NettestsError(
                f"another run is writing {path}", hint="wait for it or use another --report-dir"
            )

    @staticmethod
    def _lock_file(file: BinaryIO) -> bool:
        """Take the writer's lock; a follower that just looks holds it for an instant."""
        for _ in range(50):
            if take(file, alone=True):
                return True
            time.sleep(POLL_SECONDS)
        return False

    def write(self, record: Record) -> None:
        """Append one record, without secrets."""
        self._append(self._redacted(record))

    def _redacted(self, record: Record) -> dict[str, Any]:
        redacted: dict[str, Any] = self.redactor.value(data_of(record), leave=NAMES)
        return redacted

    def _append(self, data: dict[str, Any]) -> None:
        line = encode(data)
        with self._lock:
            if self._file is None:
                return
            try:
                self._file.write(line)
                self._file.flush()
            except OSError as error:
                self.broken = f"{self.path} cannot be written: {error.strerror}"
                self._let_go()
        if self.broken:
            self.on_broken()

    def as_written(self, raw: Raw) -> Raw:
        """Return one question and its answer without secrets, as they would be written."""
        return from_data(self._redacted(Answer(raw=raw)), Answer).raw

    def raw(self, raw: Raw) -> Raw:
        """Append one question and its answer, before anybody parses it; return it as it was written."""
        redacted = self._redacted(Answer(raw=raw))
        with self._lock:
            self._answers[raw.check] += 1
        self._append(redacted)
        return from_data(redacted, Answer).raw

    def done(
        self,
        check: str,
        *,
        distrust: str | None = None,
        skip: str | None = None,
        late: str | None = None,
    ) -> None:
        """Append that a check was run to its end, or why it was not."""
        self.finish(Done(check=check, distrust=distrust, skip=skip, late=late))

    def finish(self, done: Done) -> None:
        """Append that all raws of a check are written, and how many."""
        self.finished.add(done.check)
        self.write(replace(done, answers=self._answers[done.check]))

    def without_secrets(self, done: Done) -> Done:
        """Return what would be written of a check that is done: who judges by it repeats its words."""
        return from_data(self._redacted(done), Done)

    def event(self, text: str, *, notable: bool = False) -> None:
        """Append something that happened to the run as a whole, in words, with the time.

        A ``notable`` event is also shown where people look first.
        """
        self.write(Event(at=datetime.now(UTC).isoformat(), text=text, notable=notable))

    def convergence(self, *, service: str, probe: str, seconds: float, converged: bool) -> None:
        """Append how long a Service took until it answered ``probe`` for the first time."""
        took = round(seconds, 3)
        self.write(Convergence(service=service, probe=probe, seconds=took, converged=converged))

    def end(
        self,
        *,
        exit_code: int,
        counts: dict[str, int],
        requests: Mapping[str, int] = NOTHING,
        stages: Mapping[str, float] = NOTHING,
    ) -> None:
        """Append the end of the run, with what it cost."""
        self.write(
            End(
                finished=datetime.now(UTC).isoformat(),
                exit_code=exit_code,
                counts=counts,
                requests=dict(requests),
                stages=dict(stages),
            )
        )

    def close(self) -> None:
        """Close the file and release its lock; may be called twice."""
        with self._lock:
            self._let_go()

    def _let_go(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # what could not be written before, perhaps
                file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if self.broken and error is None:
            raise PathError(self.broken, hint="make room there, or name another folder")


def read_journal(path: Path) -> tuple[Record, ...]:
    """Return the records of a journal; ``NettestsError`` for what is none.

    A last line that was cut short, as a killed writer leaves it, is left out.
    """
    try:
        # Bytes: text of a cluster may hold what Unicode calls an end of a line.
        lines = read_bytes(path, limits.JOURNAL_BYTES).splitlines(keepends=True)
    except OSError as error:
        raise NettestsError(f"{path} cannot be read as a journal: {error}") from error
    if lines and not lines[-1].endswith(b"\n"):
        lines.pop()
    with understood(path):
        return tuple(decode(line, number) for number, line in enumerate(lines, start=1))


@contextmanager
def understood(journal: Path) -> Iterator[None]:
    """Raise ``BrokenJournalError`` for values of another shape than those that a run records."""
    try:
        yield
    except (*_OTHER_SHAPES, ExceptionGroup) as error:
        first: BaseException = error
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        reason = " ".join(f"{type(first).__name__}: {first}".split())[:200]
        raise BrokenJournalError(
            f"{journal} was not written by a run: {reason}",
            hint="name the folder of a run, such as reports/latest",
        ) from error


_OTHER_SHAPES = (
    *(LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError),
)
"""What readers of values of another shape raise; a cattrs structure raises a group of them."""


@dataclass(slots=True)
class Follower:
    """The waiting side: follows a journal while another thread or process writes it."""

    path: Path
    _begun: bool = field(init=False)
    """Whether the journal was seen."""
    _offset: int = 0
    _done: dict[str, Done] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._begun = self.path.exists()

    def wait(self, check: str, *, timeout: float) -> Done:
        """Return what the journal says of ``check`` once it is done, with the verdict of who observed it.

        When the writer dies, closes the journal or stays silent about the check for ``timeout`` seconds, or somebody
        removes the journal, the answer has no verdict and says why there is nothing to trust.
        """
        deadline = time.monotonic() + timeout
        while True:
            alive = self._writer_alive()
            self._read_on()
            if check in self._done:
                return self._done[check]
            if not alive:
                return Done(check=check, distrust=f"{self._why()} before this check was observed")
            if time.monotonic() > deadline:
                return Done(check=check, distrust=f"no observation within {timeout:.0f} s")
            time.sleep(POLL_SECONDS)

    def _why(self) -> str:
        return "the run ended" if self.path.exists() else "the run's journal was removed"

    def _read_on(self) -> None:
        for line in self._new_lines():
            if done := decode_only(line, Done):
                self._done[done.check] = done

    def _new_lines(self) -> Iterator[bytes]:
        with suppress(FileNotFoundError), self.path.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return  # being written; the rest of the line comes later
                self._offset += len(line)
                yield line

    def _writer_alive(self) -> bool:
        """Whether somebody holds the writer's lock: looked at before reading, so nothing is missed."""
        try:
            with self.path.open("rb") as file:
                self._begun = True
                return not take(file, alone=False)
        except FileNotFoundError:
            return (
                not self._begun
            )  # the deadline decides; one that was removed is written for nobody


_fcntl: Any = None
with suppress(ImportError):
    _fcntl = import_module("fcntl")


def take(file: BinaryIO, *, alone: bool) -> bool:
    """Take the lock, ``alone`` or together with others who look; return whether nobody holds it alone."""
    if _fcntl is None:
        return True
    try:
        _fcntl.flock(file, (_fcntl.LOCK_EX if alone else _fcntl.LOCK_SH) | _fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
