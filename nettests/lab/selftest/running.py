"""Starts labs, injects and clears faults, and runs the harness: all side effects of the selftest.

The harness is another process, used through its command line and ``results.json``.
"""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from nettests.lab.errors import LabError
from nettests.lab.folders import control, state
from nettests.lab.folders.state import LabFolder
from nettests.lab.lifecycle import launch
from nettests.lab.selftest.named_faults import Injection
from nettests.lab.selftest.runs import Run, read
from nettests.lab.topology import mechanisms

_HARNESS = (sys.executable, "-m", "nettests")
_ENDING = 60
"""Seconds for an interrupted run to clean up."""


@contextmanager
def lab(profile: str, switched: Sequence[str] = ()) -> Iterator[LabFolder]:
    """Run a new lab for the time of the block."""
    name = f"selftest-{os.getpid()}-{secrets.token_hex(2)}"
    options = launch.Options(mechanisms=mechanisms.read(switched), while_pid=os.getpid())
    try:
        yield launch.up(name, profile, options, lambda _phase: None)
    finally:
        launch.end(state.folder(name))


@contextmanager
def broken(folder: LabFolder, injections: Sequence[Injection]) -> Iterator[None]:
    """Inject faults during the block, except those that are injected in the middle of a run."""
    try:
        for injection in injections:
            if not injection.after:
                _inject(folder, injection)
        yield
    finally:
        control.request(folder.path, {"do": "fault-clear", "fault": None})


def _inject(folder: LabFolder, injection: Injection) -> None:
    request = {"do": "fault-inject", "fault": injection.kind, "options": dict(injection.options)}
    control.request(folder.path, request)


def run(
    folder: LabFolder,
    reports: Path,
    *,
    limit: float,
    flows: Sequence[str] = (),
    enable: Sequence[str] = (),
    later: Sequence[Injection] = (),
) -> Run:
    """Run the harness once; the ``later`` faults with ``after`` are injected while it runs.

    A run that has not ended after ``limit`` seconds is interrupted; it then reports its results so far.
    """
    reports.mkdir(parents=True, exist_ok=True)
    before = set(reports.iterdir())
    began = time.monotonic()
    with (reports / "output.txt").open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            [
                *(*_HARNESS, "run", "--quiet"),
                f"--kubeconfig={folder.kubeconfig}",
                f"--cluster-profile={folder.cluster_profile}",
                f"--report-dir={reports}",
                *(f"--flow={flow}" for flow in flows),
                *(f"--enable={check_class}" for check_class in enable),
            ],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        interrupted = _wait_for_run(process, began, limit, folder, later)
    seconds = round(time.monotonic() - began, 1)
    new_folders = [path for path in reports.iterdir() if path not in before and path.is_dir()]
    finished = _results(new_folders, seconds, process.returncode)
    if not interrupted:
        return finished
    problem = f"interrupted after {limit:g} s"
    return Run(
        exit_code=process.returncode,
        seconds=seconds,
        problem=f"{problem}; {finished.problem}" if finished.problem else problem,
    )


def judged_again(reports: Path, stored: Run) -> Run:
    """Return the run after the current harness judged its journal again; unchanged if there is no journal."""
    journal = reports / "latest"
    if stored.problem or not (journal / "journal.jsonl").exists():
        return stored
    again = reports / "rejudged"
    done = subprocess.run(
        [*_HARNESS, "rejudge", str(journal), f"--report-dir={again}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    rejudged = _results([again], stored.seconds, done.returncode)
    if rejudged.problem and not rejudged.checks:
        raise LabError(
            f"{journal} was not judged again: {done.stderr.strip() or rejudged.problem}",
            hint="Remove it: that fault is then tried again.",
        )
    return replace(rejudged, selected=stored.selected, rejudged=True)


def _wait_for_run(
    process: "subprocess.Popen[bytes]",
    began: float,
    limit: float,
    folder: LabFolder,
    later: Sequence[Injection],
) -> bool:
    """Wait for a run and inject later faults in time; return whether it was interrupted."""
    try:
        for injection in sorted(later, key=lambda each: each.after):
            if not injection.after:
                continue
            if _ends(process, began + injection.after - time.monotonic()):
                return False
            _inject(folder, injection)
        return not _ends(process, began + limit - time.monotonic())
    finally:
        _end(process)


def _ends(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=max(seconds, 0))
    return process.returncode is not None


def _end(process: "subprocess.Popen[bytes]") -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(number)
            _ends(process, _ENDING)


def _results(folders: Sequence[Path], seconds: float, exit_code: int | None) -> Run:
    for folder in folders:
        with suppress(FileNotFoundError, ValueError):
            results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
            return read(results, seconds=seconds, exit_code=exit_code)
    return Run(
        exit_code=exit_code, seconds=seconds, problem=f"no results; it ended with {exit_code}"
    )
