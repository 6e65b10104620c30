"""Samples read with the product's readings: each row of an index has a line, a verdict, and counts in the exit code."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.sample_readings.sample import (
    Read,
    Sample,
    Verdict,
    alternatives,
    judged,
    reading_named,
    verdict_of,
)

ROOT = Path(__file__).resolve().parents[2]
REPLY = "Reply from 10.1.2.3: bytes=32 time<1ms TTL=127\r\n"


def play(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the script as people do."""
    argv = [sys.executable, str(ROOT / "scripts" / "samples.py"), str(folder)]
    return subprocess.run(argv, check=False, capture_output=True, text=True)


def samples(
    folder: Path, rows: str, *, header: str = "file\treader\texpected reading\torigin"
) -> None:
    """Write an index and the file that its rows are about."""
    folder.mkdir(parents=True)
    (folder / "reply.txt").write_text(REPLY)
    (folder / "index.tsv").write_text(f"{header}\n{rows}")


def test_each_row_has_a_line_and_right_ones_end_with_0(tmp_path: Path) -> None:
    """Folders below the given one are read too, whichever names their columns have."""
    samples(tmp_path / "windows", "reply.txt\tping\treplied\tmade up\n")
    header = "file\treading\texpected\tnote\torigin"
    samples(tmp_path / "clusters", "reply.txt\tno:such\t7\t\tmade up\n", header=header)
    ended = play(tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "reply.txt\tping\treplied\treplied\tright\n" in ended.stdout
    assert "reply.txt\tno:such\t7\t\tno reader\n" in ended.stdout
    assert "2 rows: 1 right, 0 wrong, 0 unknown, 1 no reader" in ended.stdout


def test_one_wrong_reading_ends_with_1(tmp_path: Path) -> None:
    """What was read stands beside what is due."""
    samples(tmp_path / "windows", "reply.txt\tping\ttimed-out\tmade up\n")
    ended = play(tmp_path)
    assert ended.returncode == 1
    assert "ping\ttimed-out\treplied\twrong" in ended.stdout


def test_objects_are_compared_clause_by_clause(tmp_path: Path) -> None:
    """What is due of a dump has to be among what was read; a script's mark of its end is no part of a sample."""
    folder = tmp_path / "windows"
    samples(
        folder,
        "ep.json\thns:endpoints\tlocal endpoint; OutBoundNAT excepts 10.0.0.0/8\tx\n"
        "ep.json\thns:endpoints\tremote endpoint\tx\n"
        "net.json\thns:networks\t1 nat network\tx\n"
        "empty.json\thns:networks\t2 networks, or unknown\tx\n",
    )
    nat = '{"Type": "OutBoundNAT", "ExceptionList": ["10.0.0.0/8"]}'
    (folder / "ep.json").write_text(f'{{"IPAddress": "10.1.2.3", "Policies": [{nat}]}}')
    (folder / "net.json").write_text(
        '[{"Name": "n", "Type": "ICS"}, {"Name": "m", "Type": "L2Bridge"}]'
    )
    (folder / "empty.json").write_text("")
    ended = play(tmp_path)
    verdicts = [line.split("\t")[-1] for line in ended.stdout.splitlines()[1:5]]
    assert verdicts == ["right", "wrong", "right", "right"], ended.stdout


def test_a_folder_without_samples_is_an_error(tmp_path: Path) -> None:
    """A wrong path must not look as if all were right."""
    assert play(tmp_path).returncode == 2


@pytest.mark.parametrize(
    ("read", "expected", "verdict"),
    [
        (Read(text="replied"), "replied", Verdict.RIGHT),
        (Read(text="timed-out"), "replied", Verdict.WRONG),
        (Read(text="unreachable"), "unreachable or unknown (somebody answered)", Verdict.RIGHT),
        (Read(text="unknown: text"), "unreachable or unknown (somebody answered)", Verdict.RIGHT),
        (Read(text="unknown: text"), "unreachable", Verdict.UNKNOWN),
        (Read(text="UNKNOWN"), "('canal', 'UNKNOWN')", Verdict.RIGHT),
        (Read(text="a long text about 429", right=True), "toomanyrequests|429", Verdict.RIGHT),
        (Read(text="replied", right=False), "replied", Verdict.WRONG),
    ],
)
def test_a_reading_is_right_wrong_or_unknown(read: Read, expected: str, verdict: Verdict) -> None:
    """Unknown is right only where the index allows it, and never wrong."""
    assert verdict_of(read, expected) is verdict


def test_alternatives_are_what_an_index_separates() -> None:
    """A remark at the end is no part of what is due."""
    assert alternatives("refused or unknown (curl 8)") == ["refused", "unknown"]
    assert alternatives("toomanyrequests|429") == ["toomanyrequests", "429"]


def test_a_reading_that_fails_is_wrong(tmp_path: Path) -> None:
    """An error of the product's reading is shown, and does not end the table."""
    sample = Sample(folder=tmp_path, file="none", reading="any", expected="7")
    text, verdict = judged(sample, lambda sample: sample.text)
    assert verdict is Verdict.WRONG
    assert text.startswith("FileNotFoundError")


def test_a_name_has_its_own_reading_or_that_of_its_beginning() -> None:
    """A topic can read all names that begin alike by one function."""

    def exact(_: Sample) -> str:
        return "exact"

    def beginning(_: Sample) -> str:
        return "beginning"

    readings = {"discover:dns": exact, "discover:*": beginning}
    assert reading_named("discover:dns", readings) is exact
    assert reading_named("discover:w1.mode", readings) is beginning
    assert reading_named("other", readings) is None
