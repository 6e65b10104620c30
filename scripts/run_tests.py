"""All parts of ``make test``, whatever becomes of one of them, and one summary at the end.

Parts are lint, types and import contracts, the unit tests of a copy without ``nettests/lab`` beside them, and the
tests that need the lab; ``--all`` runs the nightly ones among these too (``make test-all``). Each runs to its end.
If few tests of a part failed, they run once more, without others beside them: one that passes then depends on
what ran around it, is named as unsteady, and does not fail the part. A table says which part failed and where the
time went, and the last line counts the tests of all parts. It installs nothing: ``scripts/bootstrap.py`` does.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.needs_lab import NEEDS_LAB

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
SHOWN_FAILURES = 6
SHOWN_SLOW = 10
SHOWN_LINES = 12
SECOND_TRIES = 4
"""At most so many failed tests of a part are run again; more are no accident."""
TESTS_FAILED = 1
"""pytest's exit code if tests failed, and nothing else: it was neither interrupted nor broken itself."""
MARK = "mark.lab"
GROUP = re.compile(r"@[^\]]*$")
REASON = re.compile(r"E  |[ |]*[\w.]+(Error|Warning)\b")
"""What pytest says of an error, those within groups among it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many tests of a part ended how; errors count as failed."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            passed=self.passed + other.passed,
            failed=self.failed + other.failed,
            skipped=self.skipped + other.skipped,
        )

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A command; one that runs pytest takes the path of a JUnit file to count from."""

    name: str
    argv: tuple[str, ...]
    paths: tuple[str, ...] = ()
    """The folders and files to be tested; all that pytest finds by itself if empty."""
    counted: bool = False
    beside: bool = False
    """Whether it runs while the first part that is not so does; its output comes in one piece."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a part ended; ``counts`` is None where no test was counted."""

    part: Part
    code: int
    seconds: float
    counts: Counts | None
    failures: tuple[str, ...] = ()
    """Of each failed test its name, and the reasons."""
    failed: tuple[str, ...] = ()
    """Their node ids."""
    unsteady: tuple[str, ...] = ()
    """The same as ``failures`` of tests that passed at a second try."""
    times: tuple[tuple[str, float], ...] = ()
    """Of each test file, or class in one, the seconds that its tests took together."""


def parts_of(workers: str, *, everything: bool) -> tuple[Part, ...]:
    """Return the parts in the order in which they run: what answers soonest comes first."""
    python = str(BIN / "python")
    by_day = "" if everything else " and not nightly"
    lab = ["-m", f"lab{by_day}", "--dist", "loadgroup", "--no-loadscope-reorder", "--durations=40"]
    ruff = str(BIN / "ruff")
    return (
        Part(name="ruff check", argv=(ruff, "check", "."), beside=True),
        Part(name="ruff format", argv=(ruff, "format", "--check", "."), beside=True),
        Part(name="import contracts", argv=(str(BIN / "lint-imports"),), beside=True),
        Part(name="types", argv=(str(BIN / "mypy"),), beside=True),
        Part(
            name="tests without the lab",
            argv=(python, "-m", "scripts.without_lab", "-n", workers, "-m", f"not lab{by_day}"),
            counted=True,
        ),
        Part(
            name="tests with the lab",
            argv=(python, "-m", "pytest", "-n", workers, *lab),
            paths=tuple(lab_paths()),
            counted=True,
        ),
    )


def lab_paths() -> list[str]:
    """Return the folders and files that hold the tests marked ``lab``: to collect all others takes a third of a minute."""
    tests = ROOT / "tests"
    folders = [tests / name for name in sorted(NEEDS_LAB)]
    marked = [
        path
        for path in sorted(tests.rglob("test_*.py"))
        if MARK in path.read_text("utf-8") and not any(map(path.is_relative_to, folders))
    ]
    return [str(path.relative_to(ROOT)) for path in (*folders, *marked)]


def run_all(parts: Sequence[Part]) -> list[Ended]:
    """Run all parts, those that may run beside others while the first other one runs; return them in their order."""
    first = [part for part in parts if part.beside]
    with ThreadPoolExecutor(1) as aside:
        linted = aside.submit(lambda: [run(part) for part in first])
        tested = [run(part) for part in parts if not part.beside]
        return [*linted.result(), *tested]


def run(part: Part) -> Ended:
    """Run one part to its end, and what failed once more if it is little."""
    ended = run_once(part)
    if ended.code != TESTS_FAILED or not 0 < len(ended.failed) <= SECOND_TRIES:
        return ended
    alone = (*part.argv, "-n", "0")
    again = run_once(
        replace(part, name=f"{part.name}: a second try", argv=alone, paths=ended.failed)
    )
    if again.code or ended.counts is None:
        return replace(ended, seconds=ended.seconds + again.seconds)
    passed = ended.counts.passed + len(ended.failed)
    return replace(
        ended,
        code=0,
        seconds=ended.seconds + again.seconds,
        counts=replace(ended.counts, passed=passed, failed=0),
        failures=(),
        unsteady=ended.failures,
    )


def run_once(part: Part) -> Ended:
    """Run one part to its end; its output goes where this script's goes, that of a part beside others when it ended."""
    if not part.beside:
        print(f"\n== {part.name}", flush=True)  # noqa: T201 - a script for people
    with tempfile.TemporaryDirectory(prefix="nettests-tests-") as folder:
        junit = Path(folder) / "counted.xml"
        argv = (*part.argv, *part.paths)
        if part.counted:
            argv = (*argv, f"--junit-xml={junit}")
        began = time.monotonic()
        ran = subprocess.run(
            argv,
            cwd=ROOT,
            env=environment(),
            check=False,
            text=True,
            stdout=subprocess.PIPE if part.beside else None,
            stderr=subprocess.STDOUT if part.beside else None,
        )
        seconds = time.monotonic() - began
        if part.beside:
            print(f"\n== {part.name}\n{ran.stdout}", flush=True)  # noqa: T201
        return Ended(
            part=part,
            code=ran.returncode,
            seconds=seconds,
            counts=read_counts(junit),
            failures=read_failures(junit),
            failed=read_failed(junit),
            times=read_times(junit),
        )


def environment() -> dict[str, str]:
    """Return this process's environment, in which Python keeps what it compiled.

    Where none may, each of the many Pythons that tests start compiles all that it imports: collecting the tests
    of the lab took 117 s instead of 67 s.
    """
    return {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def read_counts(junit: Path) -> Counts | None:
    """Return what pytest counted, or None where it wrote nothing (it was killed, or is no pytest)."""
    if not junit.is_file():
        return None
    suites = ET.parse(junit).getroot().iter("testsuite")  # noqa: S314 - pytest's own file
    total = Counts()
    for suite in suites:
        tests, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        total += Counts(passed=tests - failed - skipped, failed=failed, skipped=skipped)
    return total


def read_failures(junit: Path) -> tuple[str, ...]:
    """Return each failed test's name with the reasons it gives; none where pytest wrote nothing."""
    if not junit.is_file():
        return ()
    failures = []
    for case in ET.parse(junit).getroot().iter("testcase"):  # noqa: S314 - pytest's own file
        for failure in (*case.iter("failure"), *case.iter("error")):
            text = failure.text or failure.get("message") or ""
            why = [line for line in text.splitlines() if REASON.match(line)]
            name = f"{case.get('classname')}::{case.get('name')}"
            failures.append("\n    ".join([name, *why[-SHOWN_LINES:]]))
    return tuple(failures)


def read_failed(junit: Path) -> tuple[str, ...]:
    """Return each failed test's node id, without the group that pytest-xdist adds to its name.

    None if one failed at its end: what was left behind is not undone by trying again.
    """
    cases = [*ET.parse(junit).getroot().iter("testcase")] if junit.is_file() else []  # noqa: S314 - pytest's own file
    errors = [error.get("message", "") for case in cases for error in case.iter("error")]
    if any(message.startswith("failed on teardown") for message in errors):
        return ()
    failed = [
        f"{case.get('classname', '').replace('.', '/')}.py::{GROUP.sub('', case.get('name', ''))}"
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]
    return tuple(dict.fromkeys(failed))


def read_times(junit: Path) -> tuple[tuple[str, float], ...]:
    """Return how long the tests of each file, or class in one, took together with their fixtures."""
    times: dict[str, float] = {}
    for case in ET.parse(junit).getroot().iter("testcase") if junit.is_file() else ():  # noqa: S314 - pytest's own file
        name = case.get("classname", "") or case.get("name", "")
        times[name] = times.get(name, 0.0) + float(case.get("time", 0))
    return tuple(times.items())


def slowest(ended: Sequence[Ended]) -> list[str]:
    """Return a line for each of the test files that took longest in any part, the longest first.

    Workers run files side by side, so these times add up to more than a part's own.
    """
    listed = sorted((time for result in ended for time in result.times), key=lambda time: -time[1])
    return [f"{'slow':8}{name:56}{seconds:6.0f} s" for name, seconds in listed[:SHOWN_SLOW]]


def summary(ended: Sequence[Ended]) -> str:
    """Return why tests failed, the slowest test files, a line for each part with its time, and the closing count.

    Who sees the end of a log alone shall see the reason. A part that failed without a failed test (lint, or a
    pytest that was killed) counts as one failure.
    """
    failures = [failure for result in ended for failure in result.failures]
    unsteady = [f"UNSTEADY {failure}" for result in ended for failure in result.unsteady]
    lines = [
        f"{'ok' if not result.code else 'FAILED':8}{result.part.name:24}{result.seconds:6.0f} s  {result.counts or ''}".rstrip()
        for result in ended
    ]
    total = Counts()
    for result in ended:
        total += result.counts or Counts()
        if result.code and not (result.counts and result.counts.failed):
            total += Counts(failed=1)
    return "\n".join([*failures[:SHOWN_FAILURES], *unsteady, *slowest(ended), *lines, str(total)])


def main(arguments: Iterable[str]) -> int:
    """Run all parts; 0 where all of them succeeded."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workers", default="3", help="processes that run tests side by side")
    parser.add_argument("--all", action="store_true", help="the nightly tests too")
    chosen = parser.parse_args(list(arguments))
    ended = run_all(parts_of(chosen.workers, everything=chosen.all))
    print(f"\n{summary(ended)}", flush=True)  # noqa: T201
    return int(any(result.code for result in ended))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
