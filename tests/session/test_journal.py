"""The journal: written by one process, followed by others, whatever happens to the writer."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from nettests.errors import NettestsError
from nettests.model.check import Skip
from nettests.model.observation import Raw
from nettests.model.verdict import Judgement
from nettests.model.words import Verdict
from nettests.session.journal import Follower, Journal

WRITER = """
import sys
from pathlib import Path
from nettests.session.journal import Journal
journal = Journal(Path(sys.argv[1]))
journal.done("first")
print("ready", flush=True)
sys.stdin.read()
"""


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
    """Raws of a check come back as values, in their order, once the check is done."""
    with Journal(path) as journal:
        journal.raw(raw("a"))
        journal.raw(raw("b"))
        journal.raw(raw("a", 2))
        journal.done("a")
        finished = Follower(path).wait("a", timeout=1)
    assert finished.raws == (raw("a"), raw("a", 2))
    assert (finished.distrust, finished.skip) == (None, None)


def test_an_answer_that_is_not_there_is_missed(path: Path) -> None:
    """A done record counts its answers; a reader who finds another number of them trusts none."""
    with Journal(path) as journal:
        journal.raw(raw("a"))
        journal.raw(raw("a", 2))
        journal.done("a")
        first, *rest = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(rest))
        assert (
            Follower(path).wait("a", timeout=1).distrust == "the journal holds 1 of its 2 answers"
        )
        path.write_bytes(b"".join([first, first, *rest]))
        assert (
            Follower(path).wait("a", timeout=1).distrust == "the journal holds 3 of its 2 answers"
        )


def test_distrust_and_skip_come_back(path: Path) -> None:
    """Why nothing can be trusted, or could be asked, is part of the done record."""
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


def test_a_closed_journal_answers_for_checks_that_were_never_asked(path: Path) -> None:
    """When the run has ended nobody waits for a check any more."""
    Journal(path).close()
    finished = Follower(path).wait("never", timeout=60)
    assert finished.distrust == "the run ended before this check was observed"


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
        finished = Follower(path).wait("a", timeout=0.05)
    assert finished.distrust == "no observation within 0 s"
    assert finished.raws == (raw("a"),)


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
    judgement = Judgement(check="a", verdict=Verdict.PASS, message="m", expected="e", observed="o")
    with Journal(path) as journal:
        journal.skip(Skip(id="s", flow="f", reason="r"))
        journal.event("something happened")
        journal.convergence(service="svc", probe="p", seconds=1.23456, converged=True)
        journal.judged(judgement)
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
