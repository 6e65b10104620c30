"""Which process is a lab's: no other is ever signalled."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nettests.lab.errors import StateError
from nettests.lab.folders import processes, state
from nettests.lab.folders.processes import DAEMON, held, identify
from nettests.lab.folders.state import LabFolder
from nettests.lab.lifecycle.launch import down
from tests.lab.folders.posing import posing, record_of, waiting


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LabFolder:
    """The folder of a lab that was started, below a place of the test's own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    made = state.folder("a")
    with made.starting():
        pass
    return made


@pytest.fixture
def innocent() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that is no lab."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def test_the_noted_lab_is_stopped(folder: LabFolder) -> None:
    """Id, start, user and command line are those of the lab: it is ended."""
    with posing(folder) as process:
        assert folder.runs()
        assert down(folder)
        assert process.wait(10) == -15
    assert not folder.path.exists()


def test_a_record_that_names_another_process_stops_nothing(
    folder: LabFolder, innocent: "subprocess.Popen[bytes]"
) -> None:
    """A forged lab.json with the right id and start time does not make ``down`` kill what it names."""
    folder.note(record_of("a", pid=innocent.pid, identity=identify(innocent.pid)))
    assert not folder.runs()
    assert not down(folder)
    assert innocent.poll() is None


def test_the_lab_of_another_folder_is_left_alone(folder: LabFolder, tmp_path: Path) -> None:
    """The command line must name this very folder."""
    with waiting("-m", DAEMON, str(tmp_path)) as process:
        folder.note(record_of("a", pid=process.pid, identity=identify(process.pid)))
        assert not down(folder)
        assert process.poll() is None


def test_a_folder_that_was_named_differently_is_the_same(folder: LabFolder) -> None:
    """A lab started by a path through a link is found by another."""
    link = folder.path.parent.parent / "link"
    link.symlink_to(folder.path.parent)
    with waiting("-m", DAEMON, str(link / "a")) as process:
        folder.note(record_of("a", pid=process.pid, identity=identify(process.pid)))
        assert folder.runs()


@pytest.mark.parametrize("field", ["started", "boot"])
def test_a_recycled_process_id_is_not_the_lab(folder: LabFolder, field: str) -> None:
    """Same id and command line, another start or boot: the process is left alone."""
    with posing(folder) as process:
        now = identify(process.pid)
        other = (
            replace(now, started=now.started - 1) if field == "started" else replace(now, boot="b")
        )
        folder.note(record_of("a", pid=process.pid, identity=other))
        assert not down(folder)
        assert process.poll() is None


def test_a_process_of_another_user_is_left_alone(
    folder: LabFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fits in all else must also run as this user."""
    with posing(folder) as process:
        monkeypatch.setattr(processes, "_user", lambda _pid: os.geteuid() + 1)
        assert not down(folder)
        assert process.poll() is None


def test_a_zombie_does_not_run() -> None:
    """A process that ended but was not reaped is none."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    identity = identify(child.pid)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    with held(identity) as found:
        assert found is None
    child.wait()


@pytest.mark.parametrize("pid", [-1, 0, 2**22, 2**40])
def test_an_id_that_nobody_has_is_no_process(pid: int) -> None:
    """Forged ids neither fail nor reach a process."""
    with held(processes.Identity(pid=pid, started=1, boot="b")) as found:
        assert found is None


def test_names_with_spaces_and_parentheses_are_read(tmp_path: Path) -> None:
    """The start time stands after the last parenthesis of /proc/PID/stat."""
    program = tmp_path / "a) 1 (2"
    program.symlink_to("/bin/sleep")
    with subprocess.Popen([program, "600"]) as process:
        try:
            identity = identify(process.pid)
            with held(identity) as found:
                assert found is not None
        finally:
            process.kill()


def test_a_process_that_does_not_end_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """``down`` does not remove the files of a lab that still runs."""
    monkeypatch.setattr(processes, "_END_SECONDS", 0.05)
    monkeypatch.setattr(signal, "pidfd_send_signal", lambda *_: None)
    with waiting() as process, held(identify(process.pid)) as found:
        assert found is not None
        with pytest.raises(StateError, match="does not end"):
            processes.end(found)
