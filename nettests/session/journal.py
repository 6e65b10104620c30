"""The journal file of a run: written by one process, followed by tests, read by all later stages.

Secrets are removed from every record before it is written (``redaction``), and only the owner may
read the file. One process writes (``Journal``); any may follow (``Follower``): it reads complete
lines only, and detects a dead writer by its file lock, which the kernel releases. Windows has no
such lock, but there only ``nettests calibrate --local`` runs, and nobody follows its journal.
``model.journal_records`` defines the records; nothing here parses or judges.
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
from nettests.model.codec import data_of, decode, decode_only, encode, from_data
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
"""Fields that are not redacted: names that the harness makes and other records refer to."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
PATIENCE = 3600.0
"""The longest that a test waits, in seconds; a writer that died is noticed at once."""
POLL_SECONDS = 0.02
"""How often a follower looks for growth: no portable call blocks until another process appends."""


class Journal:
    """The writing side: append-only, one flushed line per record, thread-safe.

    The writer holds an exclusive lock (``flock``) on the file until it closes the journal or its
    process ends. Records written after ``close`` are dropped: an answer may arrive when the run has
    ended. If a record cannot be written (disk full), the journal is closed, so that no test waits
    for records that will not come, and ``on_broken`` is called.
    """

    def __init__(self, path: Path, redactor: Redactor = _BY_SHAPE) -> None:
        make_folder(path.parent)
        self.path = path
        self.redactor = redactor
        self.broken = ""
        """Why nothing is written any more, or nothing."""
        self.on_broken: Callable[[], None] = lambda: None
        self._file: BinaryIO | None = open_file(path, "ab")
        self._lock = threading.Lock()
        self._answers: Counter[str] = Counter()
        self.finished: set[str] = set()
        """Checks whose ``done`` record is written."""
        if not self._lock_file(self._file):
            self._file.close()
            raise NettestsError(
                f"another run is writing {path}", hint="wait for it or use another --report-dir"
            )

    @staticmethod
    def _lock_file(file: BinaryIO) -> bool:
        """Take the writer's lock; retry, as a follower that checks it holds it for an instant."""
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
        """Return a request and its answer without secrets, as they would be written."""
        return from_data(self._redacted(Answer(raw=raw)), Answer).raw

    def raw(self, raw: Raw) -> Raw:
        """Append a request and its answer, before they are parsed; return them as written."""
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
        """Append that a check was run, or why it was not."""
        self.finish(Done(check=check, distrust=distrust, skip=skip, late=late))

    def finish(self, done: Done) -> None:
        """Append that all raw answers of a check are written, and how many."""
        self.finished.add(done.check)
        self.write(replace(done, answers=self._answers[done.check]))

    def without_secrets(self, done: Done) -> Done:
        """Return a ``done`` record as it would be written, so that judgements quote no secrets."""
        return from_data(self._redacted(done), Done)

    def event(self, text: str, *, notable: bool = False) -> None:
        """Append a message about the run as a whole, with the time.

        A ``notable`` event is also shown at the top of reports.
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
        """Append the end of the run, with its requests and the duration of its stages."""
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
            with suppress(OSError):  # closing flushes, which may fail again
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
    """Return the records of a journal; ``NettestsError`` if the file is not one.

    A last line that is incomplete, as a killed writer leaves it, is ignored.
    """
    try:
        # Bytes: text of a cluster may contain Unicode line separators.
        lines = read_bytes(path, limits.JOURNAL_BYTES).splitlines(keepends=True)
    except OSError as error:
        raise NettestsError(f"{path} cannot be read as a journal: {error}") from error
    if lines and not lines[-1].endswith(b"\n"):
        lines.pop()
    with understood(path):
        return tuple(decode(line, number) for number, line in enumerate(lines, start=1))


@contextmanager
def understood(journal: Path) -> Iterator[None]:
    """Raise ``BrokenJournalError`` for values of any other shape than a run records."""
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
"""What readers raise for values of an unexpected shape; cattrs raises a group of them."""


@dataclass(slots=True)
class Follower:
    """The waiting side: follows a journal while another thread or process writes it."""

    path: Path
    _begun: bool = field(init=False)
    """Whether the journal was ever seen."""
    _offset: int = 0
    _done: dict[str, Done] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._begun = self.path.exists()

    def wait(self, check: str, *, timeout: float) -> Done:
        """Return the ``done`` record of ``check``, with its verdict, once it is written.

        If the writer dies or closes the journal, if the journal is removed, or after ``timeout``
        seconds, the record has no verdict and says why.
        """
        deadline = time.monotonic() + timeout
        while True:
            alive = self._writer_alive()
            for line in self._new_lines():
                if done := decode_only(line, Done):
                    self._done[done.check] = done
            if check in self._done:
                return self._done[check]
            if not alive:
                gone = "the run ended" if self.path.exists() else "the run's journal was removed"
                return Done(check=check, distrust=f"{gone} before this check was observed")
            if time.monotonic() > deadline:
                return Done(check=check, distrust=f"no observation within {timeout:.0f} s")
            time.sleep(POLL_SECONDS)

    def _new_lines(self) -> Iterator[bytes]:
        with suppress(FileNotFoundError), self.path.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return  # still being written
                self._offset += len(line)
                yield line

    def _writer_alive(self) -> bool:
        """Return whether the writer's lock is held; check before reading, to miss no record."""
        try:
            with self.path.open("rb") as file:
                self._begun = True
                return not take(file, alone=False)
        except FileNotFoundError:
            return not self._begun  # not created yet: the deadline decides


_fcntl: Any = None
with suppress(ImportError):
    _fcntl = import_module("fcntl")


def take(file: BinaryIO, *, alone: bool) -> bool:
    """Take the lock, exclusive (``alone``) or shared; return whether it could be taken."""
    if _fcntl is None:
        return True
    try:
        _fcntl.flock(file, (_fcntl.LOCK_EX if alone else _fcntl.LOCK_SH) | _fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
