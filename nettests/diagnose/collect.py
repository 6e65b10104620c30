"""Read all subjects concurrently, within limits of time and size, and write the results into a folder.

Subjects that are not read in time are listed. A hanging process is abandoned: its thread is a daemon, and later
output is dropped.
"""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from nettests.bounds import Bounds
from nettests.diagnose.folder import write_below
from nettests.diagnose.names import safe_name
from nettests.diagnose.steps import Item, Reader, Step
from nettests.diagnose.subjects import Subject, Wanted
from nettests.errors import NettestsError
from nettests.model.cluster_profile import DiagnosticsLimits

POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One item as it was written: ``file`` below its subject's folder, empty where there is none."""

    file: str
    title: str
    command_line: str = ""
    bytes: int = 0
    cut: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """One subject's folder, below the folder of all, and what is in it."""

    subject: Subject
    checks: tuple[str, ...]
    items: tuple[Written, ...]

    @property
    def missing(self) -> dict[str, tuple[str, ...]]:
        """The titles of what could not be read, by the reason."""
        titles: dict[str, tuple[str, ...]] = {}
        for item in self.items:
            if not item.file:
                titles[item.problem] = (*titles.get(item.problem, ()), item.title)
        return titles


@dataclass(slots=True, kw_only=True)
class Collector:
    """Collects into ``directory``; ``ended`` breaks it off early."""

    reader: Reader
    directory: Path
    limits: DiagnosticsLimits
    bounds: Bounds = field(default_factory=Bounds)
    ended: Callable[[], bool] = lambda: False
    on_progress: Callable[[int, int], None] = lambda *_: None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _left: int = 0
    _closed: bool = False
    _names: set[tuple[Subject, str]] = field(default_factory=set)

    def run(self, wanted: Sequence[Wanted]) -> tuple[Collected, ...]:
        """Collect the subjects; returns when everything is read or the time is over."""
        self._left = self.limits.total_bytes
        steps = {request.subject: list(self.reader.steps(request.subject)) for request in wanted}
        done: dict[Subject, dict[int, list[Written]]] = {request.subject: {} for request in wanted}
        waiting: queue.SimpleQueue[tuple[Subject, int, Step]] = queue.SimpleQueue()
        # In turns, so that no subject has nothing when the time is over.
        for number in range(max(map(len, steps.values()), default=0)):
            for subject, listed in steps.items():
                if number < len(listed):
                    waiting.put((subject, number, listed[number][1]))
        total = sum(map(len, steps.values()))
        for _ in range(min(self.bounds.diagnostic_readings, total)):
            threading.Thread(target=self._work, args=(waiting, done), daemon=True).start()
        self._wait(done, total)
        with self._lock:
            self._closed = True
        return tuple(
            Collected(
                subject=request.subject,
                checks=request.checks,
                items=tuple(
                    item
                    for number, (title, _) in enumerate(steps[request.subject])
                    for item in done[request.subject].get(number) or [self._not_in_time(title)]
                ),
            )
            for request in wanted
        )

    def _wait(self, done: dict[Subject, dict[int, list[Written]]], total: int) -> None:
        deadline = time.monotonic() + self.limits.seconds
        while time.monotonic() < deadline and not self.ended():
            with self._lock:
                count = sum(map(len, done.values()))
            self.on_progress(count, total)
            if count == total:
                return
            time.sleep(POLL_SECONDS)

    def _not_in_time(self, title: str) -> Written:
        why = f"not collected: the {self.limits.seconds:g} s for diagnostics were over"
        return Written(file="", title=title, problem=why)

    def _work(
        self,
        waiting: "queue.SimpleQueue[tuple[Subject, int, Step]]",
        done: dict[Subject, dict[int, list[Written]]],
    ) -> None:
        while not self._closed:
            try:
                subject, number, step = waiting.get_nowait()
            except queue.Empty:
                return
            written = [self._write(subject, item) for item in _read(step)]
            with self._lock:
                if not self._closed:
                    done[subject][number] = written

    def _write(self, subject: Subject, item: Item) -> Written:
        """Write an item, cut to its own bound and to what is left of the whole."""
        if item.problem or not item.file:
            return Written(
                file="", title=item.title, command_line=item.command_line, problem=item.problem
            )
        data = item.text.encode(errors="replace")
        with self._lock:
            room = min(self.limits.item_bytes, self._left)
            if self._closed or room <= 0:
                why = f"not collected: the diagnostics have reached {self.limits.total_bytes} bytes"
                return Written(
                    file="", title=item.title, command_line=item.command_line, problem=why
                )
            cut = len(data) > room
            data = _cut(data, room, at_end=not item.log) if cut else data
            self._left -= len(data)
            name = self._free_name(subject, safe_name(item.file))
            try:
                write_below(self.directory, [*subject.folder.split("/"), name], data)
            except OSError as error:
                why = f"it cannot be written: {error.strerror}"
                return Written(
                    file="", title=item.title, command_line=item.command_line, problem=why
                )
        return Written(
            file=name, title=item.title, command_line=item.command_line, bytes=len(data), cut=cut
        )

    def _free_name(self, subject: Subject, wanted: str) -> str:
        """Return a name that no other item of the subject has."""
        path, number = PurePath(wanted), 2
        name = wanted
        while (subject, name) in self._names:
            name = f"{path.stem}-{number}{path.suffix}"
            number += 1
        self._names.add((subject, name))
        return name


def _read(step: Step) -> list[Item]:
    try:
        return list(step())
    except NettestsError as error:
        return [Item(file="", title="", problem=error.message)]
    except Exception as error:  # noqa: BLE001 - an unexpected object must not cost the other items
        return [
            Item(file="", title="", problem=f"nettests failed: {type(error).__name__}: {error}")
        ]


_NOTE = "[cut: "


def is_whole(text: str) -> bool:
    """Whether a file of the diagnostics holds all that was read: what is missing in one that was cut proves nothing."""
    last = text.rstrip("\n").rpartition("\n")[2]
    return not (text.startswith(_NOTE) or last.startswith(_NOTE))


def _cut(data: bytes, room: int, *, at_end: bool) -> bytes:
    """Return at most ``room`` bytes of ``data`` with a line that says what is missing."""
    note = f"{_NOTE}{len(data)} bytes were read, at most {room} are kept]\n".encode()
    keep = max(0, room - len(note) - 1)
    kept = data[:keep] if at_end else data[len(data) - keep :]
    text = kept.decode(errors="ignore").encode()
    return (text + b"\n" + note if at_end else note + text)[:room]
