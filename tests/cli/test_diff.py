"""``nettests diff A B``: runs are found, compared and told; the exit code says whether B is worse."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nettests.cli import main
from nettests.model.codec import data_of, encode
from nettests.model.journal_records import Begin
from nettests.model.words import Outcome
from nettests.report import render_json
from nettests.session.calibrate_local import folder_of
from tests.cli.test_hostile_texts import NASTY, OBEYED
from tests.compare.runs import Behaves, as_expected, but, results
from tests.facts import cluster_facts

FLOW = "pod-to-pod-ip"
BROKEN = but(FLOW, Outcome.TIMED_OUT, "linux-1/windows-1", "tcp")
FACTS = cluster_facts("win2019-l2bridge")


def diff(*arguments: str | Path) -> Result:
    """Compare in this process."""
    return CliRunner().invoke(main, ["diff", *map(str, arguments)])


def written(folder: Path, behaves: Behaves = as_expected, *, day: int = 1) -> Path:
    """Write a run's folder as runs do: a journal that begins, and the document."""
    folder.mkdir(parents=True)
    began = f"2026-11-{day:02d}T09:00:00+00:00"
    begin = Begin(run_id=folder.name, started=began)
    (folder / "journal.jsonl").write_bytes(encode(data_of(begin)))
    made = results(FACTS, behaves, run_id=folder.name, flows=[FLOW])
    (folder / "results.json").write_text(render_json(made), "utf-8")
    return folder


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return written(tmp_path / "reports" / "a")


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    return written(tmp_path / "reports" / "b", BROKEN, day=2)


def test_a_run_that_is_worse_ends_with_1(good: Path, bad: Path) -> None:
    """The failing check is named with its two verdicts, and the last line is the answer."""
    done = diff(good, bad)
    assert done.exit_code == 1, done.output
    assert "pass → fail  pod-to-pod-ip/linux-1/windows-1/other-node/tcp" in done.output
    assert done.output.splitlines()[-1].startswith("Worse: 1 new failure")


def test_a_run_that_is_better_or_the_same_ends_with_0(good: Path, bad: Path) -> None:
    """Repaired is not worse, and nothing changed is not either."""
    better, same = diff(bad, good), diff(bad, bad)
    assert (better.exit_code, same.exit_code) == (0, 0)
    assert "Repaired (1)" in better.output
    assert same.output.splitlines()[-1] == "No check changed"


def test_folders_and_documents_are_named_alike(good: Path, bad: Path) -> None:
    """A run's folder, its results.json and a link to it are the same run."""
    link = good.parent / "link"
    link.symlink_to(bad.name)
    told = [
        diff(good / "results.json", other).exit_code
        for other in (bad, bad / "results.json", link, f"{link}/")
    ]
    assert told == [1, 1, 1, 1]


def test_latest_counts_back_in_the_order_of_start(good: Path, bad: Path) -> None:
    """Whatever runs are called, and whatever else lies in the folder: names tell nothing of time."""
    third = written(good.parent / "0-by-name", day=3)
    (good.parent / "notes").mkdir()
    (good.parent / "README.md").write_text("not a run")
    (good.parent / "latest").symlink_to(good.name)
    reports = f"--report-dir={good.parent}"
    answers = {
        words: json.loads(diff(*words.split(), reports, "--output=json").output)
        for words in ("latest~2 latest~1", "latest~1 latest", "latest~2 latest")
    }
    ran = {
        words: (told["before"]["run_id"], told["after"]["run_id"])
        for words, told in answers.items()
    }
    assert ran == {
        "latest~2 latest~1": (good.name, bad.name),
        "latest~1 latest": (bad.name, third.name),
        "latest~2 latest": (good.name, third.name),
    }
    assert [told["exit_code"] for told in answers.values()] == [1, 0, 0]


def test_a_calibration_is_no_run_to_compare(good: Path, bad: Path) -> None:
    """``nettests calibrate`` leaves a journal beside those of runs: runs are counted without it, and it has no history."""
    begin = Begin(run_id="c", started="2026-11-03T09:00:00+00:00")
    beside = folder_of(good.parent, "c")
    beside.mkdir()
    (beside / "journal.jsonl").write_bytes(encode(data_of(begin)))
    done = diff("latest~1", "latest", f"--report-dir={good.parent}", "--output=json")
    told = json.loads(done.output)
    assert (told["before"]["run_id"], told["after"]["run_id"]) == (good.name, bad.name)
    history = CliRunner().invoke(main, ["history", str(good.parent)])
    assert (history.exit_code, "calibration" in history.output) == (0, False)


def test_latest_beyond_the_first_run_is_wrong_input(good: Path) -> None:
    """It says how many runs there are."""
    done = diff("latest~1", "latest", f"--report-dir={good.parent}")
    assert done.exit_code == 4
    assert "holds 1 run" in done.output
    empty = diff("latest", "latest", f"--report-dir={good}")
    assert empty.exit_code == 4
    assert "holds no run" in empty.output


def test_json_is_one_document_and_markdown_one_text(good: Path, bad: Path) -> None:
    """Nothing else is printed with either; the exit code is the same."""
    as_json, as_markdown = (diff(good, bad, f"--output={kind}") for kind in ("json", "markdown"))
    data = json.loads(as_json.output)
    assert (data["kind"], data["exit_code"], as_json.exit_code) == ("Difference", 1, 1)
    assert as_markdown.output.startswith("## Worse: ")
    assert as_markdown.exit_code == 1


def test_the_page_is_written_where_it_was_wanted(good: Path, bad: Path, tmp_path: Path) -> None:
    """For its owner alone, beside the answer on the terminal."""
    file = tmp_path / "diff.html"
    done = diff(good, bad, "--html", file)
    assert done.exit_code == 1
    assert f"page: {file}" in done.output
    assert file.read_text("utf-8").startswith("<!doctype html>")
    assert file.stat().st_mode & 0o077 == 0
    refused = diff(good, bad, "--html", tmp_path / "no" / "folder" / "x.html")
    assert refused.exit_code == 4
    assert "cannot be written" in refused.output


def test_quiet_says_only_the_answer(good: Path, bad: Path) -> None:
    """One line."""
    assert diff(good, bad, "--quiet").output.splitlines() == [
        "Worse: 1 new failure; 1 of them unexplained"
    ]


def test_what_is_no_run_is_wrong_input(good: Path, tmp_path: Path) -> None:
    """A path that is not there, a folder of something else, another file: each says what to name."""
    other = tmp_path / "package.json"
    other.write_text('{"kind": "package"}')
    for word, said in (
        (tmp_path / "nowhere", "there is no run"),
        (tmp_path, "is not a run's folder"),
        (other, "holds no results of a run"),
        (good / "journal.jsonl", "is a journal"),
    ):
        done = diff(good, word)
        assert done.exit_code == 4, word
        assert said in done.output
        assert "Traceback" not in done.output


def test_a_run_without_its_document_says_how_it_is_made(good: Path, bad: Path) -> None:
    """A run that was killed left a journal: rejudge makes the document, and says where."""
    (bad / "results.json").unlink()
    done = diff(good, bad)
    assert done.exit_code == 4
    assert f"nettests rejudge {bad}" in done.output
    assert str(bad / "rejudged") in done.output


def test_a_truncated_document_says_so(good: Path, bad: Path) -> None:
    """A copy that broke off is no smaller run."""
    document = bad / "results.json"
    document.write_text(document.read_text("utf-8")[:5000])
    done = diff(good, bad)
    assert done.exit_code == 4
    assert "cut off" in done.output


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_document_that_may_not_be_read_says_so(good: Path, bad: Path) -> None:
    """The system's own reason."""
    (bad / "results.json").chmod(0)
    done = diff(good, bad)
    assert done.exit_code == 4
    assert "cannot be read: Permission denied" in done.output


@pytest.mark.parametrize("output", ["text", "json", "markdown"])
def test_a_terminal_obeys_no_text_of_a_cluster(good: Path, bad: Path, output: str) -> None:
    """A run of somebody else's may hold anything: it is shown by name, on lines of its own."""
    document = bad / "results.json"
    data = json.loads(document.read_text("utf-8"))
    data["run"]["context"] = data["run"]["run_id"] = data["run"]["server"] = NASTY
    for check in data["checks"]:
        check["next_step"] = check["message"] = NASTY
        check["observed"]["outcome"] = NASTY
    data["facts"]["cni"]["plugin"]["value"] = NASTY
    document.write_text(json.dumps(data))
    done = diff(good, bad, f"--output={output}")
    assert done.exit_code == 1
    assert not set(OBEYED) & set(done.output)
    assert not [line for line in done.output.splitlines() if line.startswith("Nothing blocks")]
