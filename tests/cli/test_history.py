"""``nettests history DIR``: thirty nights made of the one recorded run in ``reports/sample``, read, told and drawn."""

import json
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from lxml import html

from nettests.cli import main
from tests.cli.test_hostile_texts import NASTY, OBEYED

SAMPLE = Path(__file__).parents[2] / "reports" / "sample" / "results.json"
FLOWS = {"pod-to-pod-ip", "pod-to-service-fqdn", "node-to-pod"}
"""Of the recorded run these flows are kept, so that thirty nights are read in a second."""
NIGHTS, UPDATE, POLICY = 30, 11, 20
"""How many nights; since when Windows is updated, and since when the API server is."""
SWINGS = (4, 9, 17, 26)
BROKEN = "pod-to-pod-ip/windows-1/windows-1/other-node/tcp"
CUT = "node-to-pod/windows-1/linux-1/other-node/tcp"
FLAKY = "pod-to-service-fqdn/linux-1"
"""How the flaky check's id begins; the first of them swings."""


@cache
def recorded() -> dict[str, Any]:
    """The recorded run, with the checks of some flows."""
    data: dict[str, Any] = json.loads(SAMPLE.read_text("utf-8"))
    data["checks"] = [one for one in data["checks"] if one["flow"] in FLOWS]
    assert {BROKEN, CUT, flaky()} <= {one["id"] for one in data["checks"]}
    return data


@cache
def flaky() -> str:
    every = json.loads(SAMPLE.read_text("utf-8"))["checks"]
    return str(next(one["id"] for one in every if one["id"].startswith(FLAKY)))


def run_of(night: int, **info: Any) -> dict[str, Any]:
    """Return a night's document: the recorded run with another start, other facts, and what broke."""
    data = deepcopy(recorded())
    began = datetime(2026, 10, 1, 3, 0, tzinfo=UTC) + timedelta(days=night)
    data["run"] |= {"run_id": f"night-{night:02d}", "started": began.isoformat()}
    data["run"] |= {"server": "https://api.staging.test:6443", "context": "staging", **info}
    red = {BROKEN: night >= UPDATE, CUT: night >= POLICY, flaky(): night in SWINGS}
    for check in data["checks"]:
        if red.get(check["id"]):
            check |= {"verdict": "fail", "message": f"{check['id']}: no answer"}
            check["observed"] |= {"outcome": "timed_out"}
    if night >= UPDATE:
        for node in data["facts"]["nodes"]:
            if node["os"] == "windows":
                node["build"]["value"] = "17763.6532"
    if night >= POLICY:
        data["facts"]["server_version"] = "1.24.18"
    return data


def written(folder: Path, data: object) -> Path:
    """Write a run's folder as CI keeps it: the documents alone."""
    folder.mkdir(parents=True)
    text = data if isinstance(data, str) else json.dumps(data)
    (folder / "results.json").write_text(text, "utf-8")
    (folder / "report.html").write_text("the report", "utf-8")
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty nights on disk; nothing of the tests changes them."""
    folder = tmp_path_factory.mktemp("nights")
    for night in range(NIGHTS):
        written(folder / f"night-{night:02d}", run_of(night))
    return folder


def history(*arguments: str | Path) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, ["history", *map(str, arguments)])


def told(*arguments: str | Path) -> dict[str, Any]:
    """Return the document that is printed."""
    done = history(*arguments, "--json")
    assert done.exit_code == 0, done.output
    data: dict[str, Any] = json.loads(done.output)
    return data


def test_the_first_bad_run_of_both_changes_and_of_the_flaky_path_is_named(runs: Path) -> None:
    """Two checks are red since the night of their change, and one path swings since its first bad night."""
    (cluster,) = told(runs)["clusters"]
    found = {
        one["id"]: (one["state"], one["first_bad"], one["last_good"])
        for one in cluster["checks"]
        if one["red"]
    }
    assert found == {
        BROKEN: ("red", UPDATE, UPDATE - 1),
        CUT: ("red", POLICY, POLICY - 1),
        flaky(): ("flaky", SWINGS[0], SWINGS[0] - 1),
    }
    names = [one["name"] for one in cluster["runs"]]
    assert names == [f"night-{night:02d}" for night in range(NIGHTS)]


def test_each_change_stands_beside_the_facts_that_changed_with_it(runs: Path) -> None:
    """The update of Windows beside one, the API server's beside the other, none beside the flaky path."""
    (cluster,) = told(runs)["clusters"]
    facts = {
        turn["checks"][0]: [(one["name"], one["after"]) for one in turn["facts"]]
        for turn in cluster["turns"]
    }
    assert facts[BROKEN] == [("build", "17763.6532")]
    assert ("Kubernetes", "1.24.18") in facts[CUT]
    assert facts[flaky()] == []


def test_the_terminal_says_what_is_red_since_when(runs: Path) -> None:
    """Newest first, with both runs by their names; flaky below; the headline at the end."""
    text = history(runs).output
    red, flaky_part = text.index("Red now (2)"), text.index("Flaky (1)")
    assert red < text.index("red since 2026-10-21 03:00") < text.index("red since 2026-10-12 03:00")
    assert text.index("red since 2026-10-12 03:00") < flaky_part < text.index(flaky())
    assert "last good run night-10 (2026-10-11 03:00), first bad run night-11" in text
    assert "changed in between: windows-1 build: 17763.1339 → 17763.6532" in text
    assert "red in 4 of 30 judged runs, flake rate 13 %, last red 2026-10-27 03:00" in text
    assert text.splitlines()[-2] == "2 checks are red now, 1 flaky"


def test_the_page_links_to_the_reports_of_the_runs(runs: Path, tmp_path: Path) -> None:
    """By a path from where the page is written; it is for its owner alone."""
    file = tmp_path / "history.html"
    done = history(runs, "--html", file)
    assert done.exit_code == 0
    assert done.output.splitlines()[-1] == f"page: {file}"
    assert file.stat().st_mode & 0o077 == 0
    page = html.document_fromstring(file.read_text("utf-8"))
    links = [one for one in page.xpath("//article//@href") if f"#{BROKEN}" in one]
    assert len(links) == NIGHTS - UPDATE
    for link in links:
        assert (file.parent / link.partition("#")[0]).resolve().parent.parent == runs.resolve()
        assert (file.parent / link.partition("#")[0]).read_text() == "the report"


def test_without_a_folder_it_is_that_of_all_reports(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where `nettests run` wrote them, `nettests history` finds them."""
    (tmp_path / "reports").symlink_to(runs)
    monkeypatch.chdir(tmp_path)
    assert history().output == history(runs).output


def test_since_leaves_older_runs_out(runs: Path) -> None:
    """The history begins with the first run of that day."""
    (cluster,) = told(runs, "--since=2026-10-20")["clusters"]
    assert cluster["runs"][0]["name"] == "night-19"
    assert len(cluster["runs"]) == NIGHTS - 19
    none = history(runs, "--since=2027-01-01")
    assert none.exit_code == 4
    assert "no run that started on 2027-01-01 or later" in none.output


def test_a_word_that_is_no_day_is_refused(runs: Path) -> None:
    """With the forms that are."""
    done = history(runs, "--since=yesterday")
    assert done.exit_code == 2
    assert "does not match the format" in done.output


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        ('{"kind": "Resu', "results.json cannot be read"),
        ('{"kind": "Plan"}', "holds no results of a run"),
        ('{"kind": "Results", "apiVersion": "nettests.dev/v9"}', "does not read"),
        ('{"kind": "Results", "apiVersion": "nettests.dev/v1"}', "is not as runs write it"),
        ("[1, 2]", "holds no results of a run"),
        ("", "results.json cannot be read"),
    ],
)
def test_a_run_that_cannot_be_read_is_named_and_left_out(
    tmp_path: Path, spoilt: str, said: str
) -> None:
    """The others are told all the same, and the exit code is that of a history."""
    written(tmp_path / "good", run_of(0))
    written(tmp_path / "spoilt", spoilt)
    done = history(tmp_path)
    assert done.exit_code == 0
    assert "Left out (1)" in done.output
    (line,) = [one for one in done.output.splitlines() if one.startswith("  spoilt: ")]
    assert said in line
    (left_out,) = told(tmp_path)["left_out"]
    assert left_out["name"] == "spoilt"


def test_a_run_that_goes_on_is_left_out_and_what_is_no_run_is_not_mentioned(tmp_path: Path) -> None:
    """A journal alone is named; notes and the link to the newest run are nothing of a history."""
    written(tmp_path / "a", run_of(0))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "journal.jsonl").write_text("")
    (tmp_path / "notes").mkdir()
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "latest").symlink_to("a")
    data = told(tmp_path)
    assert [one["name"] for one in data["left_out"]] == ["b"]
    assert "going on, or was killed" in data["left_out"][0]["reason"]
    assert [run["name"] for one in data["clusters"] for run in one["runs"]] == ["a"]


def test_runs_of_two_clusters_are_told_apart(tmp_path: Path) -> None:
    """Each has its own paragraph, unless somebody says that they are one."""
    written(tmp_path / "a", run_of(UPDATE - 1))
    written(tmp_path / "b", run_of(UPDATE, server="https://api.other.test:6443"))
    text = history(tmp_path).output
    assert "api.staging.test:6443: 1 run" in text
    assert "api.other.test:6443: 1 run" in text
    assert "last good run a" not in text
    assert "last good run a" in history(tmp_path, "--one-cluster").output


@pytest.mark.parametrize("made", ["nothing", "file", "missing", "spoilt"])
def test_a_folder_without_a_run_is_wrong_input(tmp_path: Path, made: str) -> None:
    """It says what to name."""
    folder = tmp_path / "reports"
    if made == "file":
        folder.write_text("")
    elif made != "missing":
        folder.mkdir()
    if made == "spoilt":
        written(folder / "a", "{")
    done = history(folder)
    assert done.exit_code in {2, 4}
    assert "Traceback" not in done.output
    if made != "file":
        assert "name the folder that holds the folders of runs" in done.output


def test_a_page_that_cannot_be_written_is_wrong_input(runs: Path, tmp_path: Path) -> None:
    """No traceback; it says where it failed."""
    done = history(runs, "--since=2026-10-29", "--html", tmp_path / "no" / "x.html")
    assert done.exit_code == 4
    assert "cannot be written" in done.output


def test_a_hostile_text_does_not_steer_the_terminal(tmp_path: Path) -> None:
    """Names, causes and reasons of a cluster are shown, and not obeyed."""
    for night in range(UPDATE - 1, UPDATE + 2):
        data = run_of(night, server=NASTY, context=NASTY, run_id=f"{NASTY}{night}")
        for check in data["checks"]:
            if check["id"] == BROKEN:
                check["id"] = f"{BROKEN}{NASTY}"
        written(tmp_path / f"n{night}", data)
    written(tmp_path / "spoilt", json.dumps({"kind": NASTY}))
    for options in ([], ["--json"]):
        done = history(tmp_path, *options)
        assert done.exit_code == 0, done.output
        assert not any(sign in done.output for sign in OBEYED)
