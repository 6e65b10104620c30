"""The run's journal: JSON lines, written before anything is parsed, followed by waiting tests.

Secrets are taken out of every record before it is written (``redaction``), and the file is its owner's alone.

One process writes (``Journal``); any process may follow (``Follower``): it reads the lines that were
written completely, and notices a writer that died by the file lock that the kernel took from it.
Nothing here judges or parses answers.
"""

import fcntl
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from nettests.errors import NettestsError
from nettests.model import limits
from nettests.model.check import Skip
from nettests.model.codec import from_data, to_data
from nettests.model.expectation import Expectation
from nettests.model.json_text import read_json
from nettests.model.limits import BrokenJournalError
from nettests.model.observation import Raw
from nettests.model.pull import Pull
from nettests.model.verdict import Judgement
from nettests.private import make_folder, open_file
from nettests.redaction import Redactor

_BY_SHAPE = Redactor()
NAMES = frozenset(
    {
        *(
            "record",
            "run_id",
            "check",
            "checks",
            "id",
            "flow",
            "purpose",
            "tool",
            "client_os",
            "probe",
        )
    }
)
"""Fields whose values other records and parsers refer to: names that the harness has made."""
POLL_SECONDS = 0.02
"""How often a follower looks for growth: no portable call blocks until another process appends."""


class Journal:
    """The writing side: append-only, one flushed line a record, safe for threads.

    The writer holds an exclusive lock (``flock``) on the file as long as it lives; the kernel drops
    it when the process ends in whatever way.
    """

    def __init__(self, path: Path, redactor: Redactor = _BY_SHAPE) -> None:
        make_folder(path.parent)
        self.path = path
        self.redactor = redactor
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
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(POLL_SECONDS)
            else:
                return True
        return False

    def write(self, record: str, **fields: object) -> None:
        """Append one record; values of the vocabulary are written in their JSON form, without secrets.

        A record that comes after ``close`` is dropped: an answer may arrive when the run has ended.
        """
        data = {"record": record, **{key: to_data(value) for key, value in fields.items()}}
        self._append(self.redactor.value(data, leave=NAMES))

    def _append(self, record: dict[str, Any]) -> None:
        line = json.dumps(record, ensure_ascii=False)
        with self._lock:
            if self._file is not None:
                # Half a surrogate pair, as JSON may carry it, has no UTF-8 form but an escaped one.
                self._file.write(line.encode(errors="backslashreplace") + b"\n")
                self._file.flush()

    def raw(self, raw: Raw) -> Raw:
        """Append one question and its answer, before anybody parses it; return it as it was written."""
        told = _redacted(raw, self.redactor)
        with self._lock:
            self._answers[raw.check] += 1
        self._append({"record": "raw", "raw": to_data(told)})
        return told

    def skip(self, skip: Skip) -> None:
        """Append a check or flow that is due but does not apply."""
        self.write("skip", skip=skip)

    def done(
        self,
        check: str,
        *,
        distrust: str | None = None,
        skip: str | None = None,
        late: str | None = None,
        resent: str | None = None,
    ) -> None:
        """Append that all raws of ``check`` are written, and how many, or why there is nothing to trust.

        ``late`` names a Service that did not converge before it was asked, ``resent`` an answer that took as
        long as a lost packet is waited for.
        """
        self.finished.add(check)
        extra = {"distrust": distrust, "skip": skip, "late": late, "resent": resent}
        told = {key: text for key, text in extra.items() if text}
        self.write("done", check=check, answers=self._answers[check], **told)

    def event(self, text: str, *, notable: bool = False) -> None:
        """Append something that happened to the run as a whole, in words, with the time.

        What is ``notable`` is told where people look first, too.
        """
        marked = {"notable": True} if notable else {}
        self.write("event", at=datetime.now(UTC).isoformat(), text=text, **marked)

    def convergence(self, *, service: str, probe: str, seconds: float, converged: bool) -> None:
        """Append how long a Service took until it answered ``probe`` for the first time."""
        self.write(
            "convergence",
            service=service,
            probe=probe,
            seconds=round(seconds, 3),
            converged=converged,
        )

    def pull(self, pull: Pull) -> None:
        """Append how an image came onto a node before anything was asked, or why it did not."""
        self.write("pull", pull=pull)

    def judged(self, judgement: Judgement) -> None:
        """Append the verdict of one check."""
        self.write("judged", judgement=judgement)

    def end(self, *, exit_code: int, counts: dict[str, int]) -> None:
        """Append the end of the run."""
        self.write(
            "end", finished=datetime.now(UTC).isoformat(), exit_code=exit_code, counts=counts
        )

    def close(self) -> None:
        """Close the file and release its lock; may be called twice."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _redacted(raw: Raw, redactor: Redactor) -> Raw:
    """Return a question and its answer without secrets: all of it that a cluster or a profile has worded."""
    return replace(
        raw,
        command=tuple(redactor.value(raw.command)),
        stdout=redactor.text(raw.stdout),
        stderr=redactor.text(raw.stderr),
        error=None if raw.error is None else redactor.text(raw.error),
        context=redactor.value(raw.context, leave=NAMES),
    )


def as_record(line: bytes, number: int | None = None) -> dict[str, Any]:
    """Return the record of a line; ``BrokenJournalError`` for one that no run has written."""
    where = f"line {number} of the journal" if number else "a line of the journal"
    try:
        record = read_json(line, most=limits.JOURNAL_LINE_BYTES)
    except ValueError as error:
        raise BrokenJournalError(f"{where} cannot be read: {error}") from error
    if not isinstance(record, dict) or not isinstance(record.get("record"), str):
        raise BrokenJournalError(f"{where} is no record of a run")
    return record


@contextmanager
def understood(journal: Path) -> Iterator[None]:
    """Raise ``BrokenJournalError`` for values of another shape than those that a run records."""
    try:
        yield
    except (*_OTHER_SHAPES, ExceptionGroup) as error:
        first = error.exceptions[0] if isinstance(error, ExceptionGroup) else error
        told = " ".join(f"{type(first).__name__}: {first}".split())[:200]
        raise BrokenJournalError(
            f"{journal} was not written by a run: {told}",
            hint="name the folder of a run, such as reports/latest",
        ) from error


_OTHER_SHAPES = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
"""What readers of values of another shape raise; a cattrs structure raises a group of them."""


def lacking(done: Mapping[str, Any], held: int) -> str | None:
    """Say which answers a ``done`` record counts that are not there: those left agree all too easily."""
    answers = done.get("answers", held)
    return None if answers == held else f"the journal holds {held} of its {answers} answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What the journal says of one check that was asked.

    ``distrust`` says why nothing of it can be trusted, ``skip`` why it could not be asked here; ``late`` and
    ``resent`` are those of ``Observation``. ``expectation`` is set where a run learned what changes the planned
    one (``learning``).
    """

    check: str
    raws: tuple[Raw, ...] = ()
    distrust: str | None = None
    skip: str | None = None
    late: str | None = None
    resent: str | None = None
    expectation: Expectation | None = None


def finished(done: Mapping[str, Any], raws: Sequence[Raw]) -> Finished:
    """Return what a ``done`` record says beside the answers that are there."""
    return Finished(
        check=done["check"],
        raws=tuple(raws),
        distrust=lacking(done, len(raws)) or done.get("distrust"),
        skip=done.get("skip"),
        late=done.get("late"),
        resent=done.get("resent"),
    )


@dataclass(slots=True)
class Follower:
    """The reading side: follows a journal while another thread or process writes it."""

    path: Path
    _offset: int = 0
    _raws: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    _done: dict[str, dict[str, Any]] = field(default_factory=dict)
    _expected: dict[str, dict[str, Any]] = field(default_factory=dict)

    def wait(self, check: str, *, timeout: float) -> Finished:
        """Return what the journal says of ``check`` once it is done.

        When the writer dies, closes the journal or stays silent about the check for ``timeout``
        seconds, the answer is a ``Finished`` that says so and is not to be trusted.
        """
        deadline = time.monotonic() + timeout
        while True:
            alive = self._writer_alive()
            self._read_on()
            if check in self._done:
                record = self._done[check]
                raws = self._raws.get(check, ())
                told = finished(record, [from_data(one, Raw) for one in raws])
                return replace(told, expectation=self._expectation(check))
            if not alive:
                reason = "the run ended before this check was observed"
            elif time.monotonic() > deadline:
                reason = f"no observation within {timeout:.0f} s"
            else:
                time.sleep(POLL_SECONDS)
                continue
            raws = self._raws.get(check, ())
            return Finished(
                check=check, raws=tuple(from_data(one, Raw) for one in raws), distrust=reason
            )

    def _expectation(self, check: str) -> Expectation | None:
        data = self._expected.get(check)
        return None if data is None else from_data(data, Expectation)

    def _read_on(self) -> None:
        for record in self._new_records():
            match record.get("record"):
                case "raw":
                    self._raws.setdefault(record["raw"]["check"], []).append(record["raw"])
                case "done":
                    self._done[record["check"]] = record
                case "expected":
                    self._expected[record["check"]] = record["expectation"]

    def _new_records(self) -> Iterator[dict[str, Any]]:
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return  # being written; the rest of the line comes later
                self._offset += len(line)
                yield as_record(line)

    def _writer_alive(self) -> bool:
        """Whether somebody holds the writer's lock: asked before reading, so nothing is missed."""
        if not self.path.exists():
            return True  # not begun yet: the deadline decides
        with self.path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False
