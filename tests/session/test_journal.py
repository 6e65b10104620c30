"""The journal: written by one process, followed by others, whatever happens to the writer."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from nettests.errors import NettestsError, PathError
from nettests.model.check import Skip
from nettests.model.journal_records import Answer, Done, Event, Judged, Skipped
from nettests.model.limits import BrokenJournalError
from nettests.model.observation import Raw
from nettests.model.verdict import Judgement
from nettests.model.words import Verdict
from nettests.redaction import Redactor
from nettests.session.journal import Follower, Journal, read_journal
from tests.full_disk import room

WRITER = """
import sys
from pathlib import Path
from nettests.session.journal import Journal
journal = Journal(Path(sys.argv[1]))
journal.done("first")
print("ready", flush=True)
sys.stdin.read()
"""


JUDGEMENT = Judgement(check="a", verdict=Verdict.PASS, message="m", expected="e", observed="o")


def raw(check: str, number: int = 1) -> Raw:
    """Return a raw answer with text that must survive."""
    return Raw(
        check=check,
        purpose="check",
        attempt=number,
        tool="dial",
        client_os="windows",
        probe="probe-windows-1-1",
        channel="pod-proxy",
        command=("GET", "/dial"),
        started=1.5,
        elapsed=0.25,
        status=200,
        stdout='{"responses":["sérver\\n"]}',
        context={"client-pod": "10.244.3.2"},
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal's place, in a directory that does not exist yet."""
    return tmp_path / "run" / "journal.jsonl"


def test_a_follower_reads_back_what_was_written(path: Path) -> None:
    """What is said of a check comes back once it is done: its number of answers, and its verdict."""
    with Journal(path) as journal:
        journal.raw(raw("a"))
        journal.raw(raw("b"))
        journal.raw(raw("a", 2))
        journal.finish(Done(check="a", judgement=JUDGEMENT))
        done = Follower(path).wait("a", timeout=1)
    assert done == Done(check="a", answers=2, judgement=JUDGEMENT)


def test_answers_are_returned_as_they_are_written(path: Path) -> None:
    """Who judges them judges what the journal holds."""
    with Journal(path, Redactor(("sérver",))) as journal:
        told = journal.raw(raw("a"))
    assert "sérver" not in told.stdout
    assert read_journal(path) == (Answer(raw=told),)


def test_distrust_and_skip_come_back(path: Path) -> None:
    """Why nothing can be trusted, or could be tested, is part of the done record."""
    with Journal(path) as journal:
        journal.done("a", distrust="wrong place")
        journal.done("b", skip="no ping")
        follower = Follower(path)
        assert follower.wait("a", timeout=1).distrust == "wrong place"
        assert follower.wait("b", timeout=1).skip == "no ping"


def test_waiting_blocks_until_the_check_is_done(path: Path) -> None:
    """A follower that comes first is answered when the writer is ready."""
    with Journal(path) as journal:
        found: list[object] = []
        waiting = threading.Thread(
            target=lambda: found.append(Follower(path).wait("late", timeout=10))
        )
        waiting.start()
        journal.done("other")
        journal.done("late")
        waiting.join(10)
    assert len(found) == 1


def test_a_half_written_line_is_left_for_later(path: Path) -> None:
    """Only complete lines are read: the rest is read when it is there."""
    with Journal(path) as journal:
        follower = Follower(path)
        journal.done("a")
        with path.open("ab") as file:
            file.write(b'{"record": "done", "che')
        follower.wait("a", timeout=1)
        with path.open("ab") as file:
            file.write(b'ck": "b"}\n')
        assert follower.wait("b", timeout=1).distrust is None


def test_a_closed_journal_answers_for_checks_that_were_never_run(path: Path) -> None:
    """When the run has ended nobody waits for a check any more."""
    Journal(path).close()
    done = Follower(path).wait("never", timeout=60)
    assert done.distrust == "the run ended before this check was observed"


def test_a_killed_writer_is_noticed(path: Path) -> None:
    """The kernel drops the lock of a process that was killed: no test waits for it."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert writer.stdout is not None
    assert writer.stdin is not None
    assert writer.stdout.readline() == b"ready\n"
    follower = Follower(path)
    assert follower.wait("first", timeout=5).distrust is None
    writer.kill()
    writer.wait()
    began = time.monotonic()
    assert "ended before" in str(follower.wait("second", timeout=60).distrust)
    assert time.monotonic() - began < 30
    writer.stdout.close()
    writer.stdin.close()


def test_silence_ends_at_the_deadline(path: Path) -> None:
    """A living writer that never answers is not waited for longer than told."""
    with Journal(path) as journal:
        journal.raw(raw("a"))
        done = Follower(path).wait("a", timeout=0.05)
    assert done == Done(check="a", distrust="no observation within 0 s")


def test_one_writer_at_a_time(path: Path) -> None:
    """A second run on the same file is refused with a way out."""
    with Journal(path), pytest.raises(NettestsError, match="another run is writing") as raised:
        Journal(path)
    assert "--report-dir" in raised.value.hint


def test_threads_never_mix_their_lines(path: Path) -> None:
    """Concurrent writers of one process produce whole lines."""
    with Journal(path) as journal:

        def write(check: str) -> None:
            for number in range(50):
                journal.raw(raw(check, number))

        threads = [threading.Thread(target=write, args=(f"c{n}",)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(records) == 400


def test_late_records_are_dropped(path: Path) -> None:
    """An answer that arrives after the end is not written behind it."""
    journal = Journal(path)
    journal.end(exit_code=0, counts={"pass": 1})
    journal.close()
    journal.close()
    journal.raw(raw("late"))
    (record,) = [json.loads(line) for line in path.read_text().splitlines()]
    assert (record["record"], record["exit_code"], record["counts"]) == ("end", 0, {"pass": 1})


def test_every_kind_of_record_has_its_form(path: Path) -> None:
    """Skips, events, convergence and judgements are written as the reports read them."""
    with Journal(path) as journal:
        journal.write(Skipped(skip=Skip(id="s", flow="f", reason="r")))
        journal.event("something happened")
        journal.convergence(service="svc", probe="p", seconds=1.23456, converged=True)
        journal.write(Judged(judgement=JUDGEMENT))
    skip, event, convergence, judged = [json.loads(line) for line in path.read_text().splitlines()]
    assert skip["skip"]["reason"] == "r"
    assert event["text"] == "something happened"
    assert event["at"].endswith("+00:00")
    assert convergence == {
        "record": "convergence",
        "service": "svc",
        "probe": "p",
        "seconds": 1.235,
        "converged": True,
    }
    assert judged["judgement"]["verdict"] == "pass"


def test_half_a_surrogate_pair_survives(path: Path) -> None:
    """Text that has no UTF-8 form is written escaped, and reads back as it was."""
    with Journal(path) as journal:
        journal.event("odd \ud800 text")
    (line,) = path.read_bytes().splitlines()
    assert json.loads(line)["text"] == "odd \ud800 text"


def test_a_killed_writers_last_line_is_left_out(path: Path) -> None:
    """What was not written to its end is read by nobody; what stands before it is."""
    with Journal(path) as journal:
        journal.event("whole")
        journal.event("cut short")
    path.write_bytes(path.read_bytes()[:-3])
    (event,) = read_journal(path)
    assert isinstance(event, Event)
    assert event.text == "whole"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"not a journal", "line 2 of the journal cannot be read"),
        (b"[]", "line 2 of the journal is not a record of a run"),
        (b'{"record": 7}', "line 2 of the journal is not a record of a run"),
        (b'{"record": "raw"}', "journal.jsonl was not written by a run: KeyError: 'raw'"),
        (b'{"record": "planned", "check": {}, "expectation": {}}', "was not written by a run: Key"),
    ],
)
def test_what_no_run_has_written_is_said(path: Path, line: bytes, says: str) -> None:
    """The line, or the file and what is missing in it, for people."""
    with Journal(path) as journal:
        journal.event("whole")
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(BrokenJournalError, match=says):
        read_journal(path)


def test_no_file_is_no_journal(path: Path) -> None:
    """It is an error for people too."""
    with pytest.raises(NettestsError, match="cannot be read as a journal"):
        read_journal(path)


def test_a_disk_that_is_full_closes_it(path: Path) -> None:
    """Nobody waits for what cannot be written: it is said why, who writes hears of it, and what is there is read."""
    journal = Journal(path)
    journal.done("first")
    heard: list[str] = []
    journal.on_broken = lambda: heard.append(journal.broken)
    with room(path.stat().st_size + 20):
        journal.event("x" * 100)
    journal.done("second")
    assert heard == [f"{path} cannot be written: File too large"]
    assert Follower(path).wait("second", timeout=60).distrust is not None
    assert [record.check for record in read_journal(path) if isinstance(record, Done)] == ["first"]


def test_a_full_disk_is_an_error_of_who_only_writes(path: Path) -> None:
    """A journal that is written at once, as of a run that is judged again, is whole or an error."""
    with pytest.raises(PathError, match="cannot be written"), Journal(path) as journal, room(20):
        journal.event("x" * 100)


def test_a_journal_that_somebody_removes_is_not_waited_for(path: Path) -> None:
    """The writer lives and writes on, into a file that has no name any more."""
    with Journal(path) as journal:
        journal.done("first")
        path.unlink()
        journal.done("second")
        follower = Follower(path)
        early = follower.wait("second", timeout=0.05).distrust
    assert early == "no observation within 0 s"
    with Journal(path) as journal:
        follower = Follower(path)
        path.unlink()
        journal.done("second")
        told = follower.wait("second", timeout=60).distrust
    assert told == "the run's journal was removed before this check was observed"
