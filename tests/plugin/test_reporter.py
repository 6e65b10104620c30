"""What people see: a live line on a terminal, plain lines in a pipe."""

import io
import os
import pty
import threading

import pytest

from nettests.model.words import Verdict
from nettests.plugin.reporter import Reporter
from nettests.session.run_options import Progress

SHOW_CURSOR = b"\x1b[?25h"


def observing(reporter: Reporter) -> None:
    """Let a run of eight checks pass by."""
    with reporter:
        reporter.stage("discover")
        for done in range(9):
            reporter.progress(Progress(stage="observe", done=done, total=8))


def test_a_pipe_gets_a_line_for_each_quarter(capsys: pytest.CaptureFixture[str]) -> None:
    """Piped output has one plain line a stage and quarter, without control characters."""
    observing(Reporter("own"))
    assert capsys.readouterr().out.splitlines() == [
        "discover",
        *(f"observe: {done}/8 observations made" for done in (0, 2, 4, 6, 8)),
    ]


def test_quiet_says_nothing_on_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    """With --quiet only the result is said."""
    observing(Reporter("quiet"))
    assert capsys.readouterr().out == ""


def test_cluster_text_is_not_markup(capsys: pytest.CaptureFixture[str]) -> None:
    """Brackets in a cluster's own text are printed as they are."""
    with Reporter("own") as reporter:
        reporter.say("lookup [red]x[/red] on [::1]:53")
    assert capsys.readouterr().out == "lookup [red]x[/red] on [::1]:53\n"


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> str:
    """Let a run be seen on a pseudo terminal, and return what was written there."""
    monkeypatch.setenv("TERM", "xterm")
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as stream, monkeypatch.context() as patch:
        patch.setattr("sys.stdout", stream)
        with Reporter("own") as reporter:
            reporter.progress(Progress(stage="observe", done=3, total=8))
            reporter.verdict(Verdict.LIMITED)
        written = b""
        while SHOW_CURSOR not in written:  # the last thing a live line does
            written += os.read(ours, 65536)
    os.close(ours)
    return written.decode()


def test_a_terminal_gets_a_live_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the stage, how far it is, and the verdicts so far are shown in place."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = on_a_terminal(monkeypatch)
    assert "observe" in text
    assert "3/8" in text
    assert "1 limited" in text
    assert "\x1b[33m" in text  # yellow


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    """NO_COLOR leaves the live line and takes its colours."""
    monkeypatch.setenv("NO_COLOR", "1")
    text = on_a_terminal(monkeypatch)
    assert "1 limited" in text
    assert "\x1b[33m" not in text


def test_a_stream_without_a_file_is_used_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard output that is no file (a test's, a notebook's) works too, and stays open."""
    stream = io.StringIO()
    monkeypatch.setattr("sys.stdout", stream)
    observing(Reporter("own"))
    assert stream.getvalue().startswith("discover\n")


@pytest.mark.parametrize("kind", ["pipe", "terminal"])
def test_nobody_reads_it_any_more(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """A pipe whose reader is gone, or a terminal that hung up, ends nothing: what is said there is dropped."""
    ours, theirs = os.pipe() if kind == "pipe" else pty.openpty()
    with os.fdopen(theirs, "w") as stream, monkeypatch.context() as patch:
        patch.setattr("sys.stdout", stream)
        os.close(ours)
        observing(Reporter("own"))
        with pytest.raises(OSError, match=r"Broken pipe|Input/output error"):
            os.write(theirs, b"x")


def test_progress_from_many_threads_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Threads that report the same quarter at once give one line."""
    with Reporter("own") as reporter:
        same = Progress(stage="observe", done=4, total=8)
        threads = [threading.Thread(target=reporter.progress, args=(same,)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert capsys.readouterr().out == "observe: 4/8 observations made\n"
