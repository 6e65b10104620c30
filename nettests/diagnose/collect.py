"""Read all subjects concurrently, within limits of time and size, and write them to a folder.

Subjects that are not read in time are listed. A hanging process is abandoned: its thread is a
daemon. On the folder's page, cluster texts are literal, and links lead only to its files.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from nettests.bounds import Bounds
from nettests.diagnose.folder import safe_name, write_below
from nettests.diagnose.object_text import cut_note
from nettests.diagnose.steps import Item, Reader, Step
from nettests.diagnose.subjects import Subject, Wanted
from nettests.errors import NettestsError
from nettests.model.cluster_profile import DiagnosticsLimits
from nettests.model.visible import code, inert

POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A written item: ``file`` is below its subject's folder, or empty."""

    file: str
    title: str
    command_line: str = ""
    bytes: int = 0
    cut: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """One subject's folder, below the top folder, and its items."""

    subject: Subject
    checks: tuple[str, ...]
    items: tuple[Written, ...]

    @property
    def missing(self) -> dict[str, tuple[str, ...]]:
        """The titles of what could not be read, by reason."""
        titles: dict[str, tuple[str, ...]] = {}
        for item in self.items:
            if not item.file:
                titles[item.problem] = (*titles.get(item.problem, ()), item.title)
        return titles


@dataclass(slots=True)
class _Reading:
    """The items of a step so far, and whether it has ended."""

    items: list[Written] = field(default_factory=list)
    over: bool = False


_Done = dict[Subject, dict[int, _Reading]]


@dataclass(slots=True, kw_only=True)
class Collector:
    """Collects into ``directory`` until ``ended``."""

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
        """Collect the subjects; return when all is read or time is up."""
        self._left = self.limits.total_bytes
        steps = {request.subject: list(self.reader.steps(request.subject)) for request in wanted}
        done: _Done = {request.subject: {} for request in wanted}
        waiting: queue.SimpleQueue[tuple[Subject, int, Step]] = queue.SimpleQueue()
        # Interleaved, so that each subject has something when time is up.
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
                    for item in self._brought(title, done[request.subject].get(number))
                ),
            )
            for request in wanted
        )

    def _wait(self, done: _Done, total: int) -> None:
        deadline = time.monotonic() + self.limits.seconds
        while time.monotonic() < deadline and not self.ended():
            with self._lock:
                count = sum(reading.over for steps in done.values() for reading in steps.values())
            self.on_progress(count, total)
            if count == total:
                return
            time.sleep(POLL_SECONDS)

    def _brought(self, title: str, reading: _Reading | None) -> list[Written]:
        """Return a step's items, with a note if it has not ended."""
        items = reading.items if reading else []
        if reading and reading.over:
            return items
        why = f"not collected: the {self.limits.seconds:g} s for diagnostics were used up"
        return [*items, Written(file="", title=f"more {title}" if items else title, problem=why)]

    def _work(self, waiting: "queue.SimpleQueue[tuple[Subject, int, Step]]", done: _Done) -> None:
        while not self._closed:
            try:
                subject, number, step = waiting.get_nowait()
            except queue.Empty:
                return
            with self._lock:
                reading = done[subject].setdefault(number, _Reading())
            self._carry_out(subject, step, reading)

    def _carry_out(self, subject: Subject, step: Step, reading: _Reading) -> None:
        """Write a step's items as they come; an item replaces an earlier one with the same file."""
        places: dict[str, int] = {}
        for item in _read(step):
            place = places.get(item.file) if item.file else None
            written = self._write(subject, item, None if place is None else reading.items[place])
            with self._lock:
                if self._closed:
                    return
                if place is None:
                    places[item.file] = len(reading.items)
                    reading.items.append(written)
                else:
                    reading.items[place] = written
        with self._lock:
            reading.over = not self._closed

    def _write(self, subject: Subject, item: Item, before: Written | None) -> Written:
        """Write an item, cut to its limit and the total; replace the file of ``before``, if any."""
        if item.problem or not item.file:
            return Written(
                file="", title=item.title, command_line=item.command_line, problem=item.problem
            )
        data = item.text.encode(errors="replace")
        with self._lock:
            self._left += before.bytes if before else 0
            room = min(self.limits.item_bytes, self._left)
            if self._closed or room <= 0:
                why = f"not collected: the diagnostics have reached {self.limits.total_bytes} bytes"
                return Written(
                    file="", title=item.title, command_line=item.command_line, problem=why
                )
            cut = len(data) > room
            data = _cut(data, room, at_end=not item.log) if cut else data
            self._left -= len(data)
            name = before.file if before and before.file else ""
            name = name or self._free_name(subject, safe_name(item.file))
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
        path, number = PurePath(wanted), 2
        name = wanted
        while (subject, name) in self._names:
            name = f"{path.stem}-{number}{path.suffix}"
            number += 1
        self._names.add((subject, name))
        return name


def _read(step: Step) -> Iterator[Item]:
    try:
        yield from step()
    except NettestsError as error:
        yield Item(file="", title="", problem=error.message)
    except Exception as error:  # noqa: BLE001 - an unexpected object must not prevent other items
        yield Item(file="", title="", problem=f"nettests failed: {type(error).__name__}: {error}")


def _cut(data: bytes, room: int, *, at_end: bool) -> bytes:
    """Return at most ``room`` bytes of ``data``, with a line about what is missing."""
    note = cut_note(f"{len(data)} bytes were read, at most {room} are kept").encode()
    keep = max(0, room - len(note) - 1)
    kept = data[:keep] if at_end else data[len(data) - keep :]
    text = kept.decode(errors="ignore").encode()
    return (text + b"\n" + note if at_end else note + text)[:room]


def index(collected: Sequence[Collected], left_out: Sequence[Subject]) -> str:
    """Return the page; links use names from ``safe_name``."""
    lines = ["# Diagnostics", ""]
    for section in collected:
        lines += [f"## {inert(str(section.subject))}", ""]
        for item in section.items:
            command_line = f" ({code(item.command_line)})" if item.command_line else ""
            if item.file:
                cut = ", cut" if item.cut else ""
                place = f"{section.subject.folder}/{item.file}"
                description = f"{inert(item.title)}{command_line}, {item.bytes} bytes{cut}"
                lines.append(f"- [{inert(place)}](./{place}): {description}")
        for problem, titles in section.missing.items():
            lines.append(f"- not available: {inert(', '.join(titles))}: {inert(problem)}")
        if section.checks:
            lines += ["", "For:", "", *(f"- {code(check)}" for check in section.checks)]
        lines.append("")
    if left_out:
        lines += ["## Left out", "", *(f"- {inert(str(subject))}" for subject in left_out), ""]
    return "\n".join(lines)
