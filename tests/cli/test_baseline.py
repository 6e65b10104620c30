"""``nettests baseline accept | stale`` and ``rejudge --fail-on new``: files written, listed, and held to."""

import json
from pathlib import Path

import pytest
from click.testing import Result

from nettests.baseline.entries import read_baseline
from nettests.compare.recorded import RecordedRun
from nettests.model.facts import ClusterFacts
from nettests.model.words import Outcome
from nettests.report import render_json
from tests.baseline.runs import BROKEN, FACTS, FLOWS, OPEN, OTHER, baseline, run
from tests.cli.calling import nettests
from tests.cli.test_commands import run as run_command
from tests.cli.test_hostile_texts import NASTY, OBEYED
from tests.cli.test_rejudge import MANIFEST as ONE_WAY
from tests.compare.runs import as_expected, but, results


def accept(*arguments: str | Path, expires: str = "2099-12-31") -> Result:
    """Accept with a reason and an end."""
    return nettests(
        "baseline", "accept", "--reason=ticket 4711", f"--expires={expires}", *arguments
    )


def stale(*arguments: str | Path) -> Result:
    return nettests("baseline", "stale", *arguments)


def written(
    folder: Path,
    *,
    broken: bool = True,
    outcome: Outcome = Outcome.TIMED_OUT,
    facts: ClusterFacts = FACTS,
) -> Path:
    """Write a run's documents."""
    folder.mkdir(parents=True)
    does = but("pod-to-pod-ip", outcome, BROKEN) if broken else as_expected
    text = render_json(results(facts, does, flows=FLOWS, run_id=folder.name))
    (folder / "results.json").write_text(text, "utf-8")
    return folder


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    return written(tmp_path / "reports" / "bad")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "baseline.yaml"


def checks_in(file: Path) -> set[str]:
    return {one.check for one in read_baseline(file.read_text("utf-8"), str(file)).entries}


def test_what_deviates_is_written_and_named(bad: Path, file: Path) -> None:
    """The file holds every entry, for its owner alone; each is told with its last day."""
    done = accept(bad, "--to", file)
    assert done.exit_code == 0, done.output
    recorded: RecordedRun = run()
    assert checks_in(file) == {one.check for one in baseline(recorded).entries}
    assert f"accepted until 2099-12-31: {BROKEN} fail timed_out" in done.output
    assert done.output.splitlines()[-1] == f"{len(checks_in(file))} checks written to {file}"
    assert file.stat().st_mode & 0o077 == 0


def test_a_pattern_chooses_and_a_second_call_adds(bad: Path, file: Path) -> None:
    """What was accepted before stays."""
    assert accept(bad, "--to", file, "--check=pod-to-pod-ip/*").exit_code == 0
    assert checks_in(file) == {BROKEN}
    assert accept(bad, "--to", file, "--check", OPEN).exit_code == 0
    assert checks_in(file) == {BROKEN, OPEN}


def test_an_entry_that_is_replaced_is_named_with_its_reason(bad: Path, file: Path) -> None:
    """Who accepts all of a run for one failure sees whose tickets are written over."""
    accept(bad, "--to", file, "--check", BROKEN, expires="2098-12-31")
    done = accept(bad, "--to", file)
    assert done.output.count("  replaces what was accepted until 2098-12-31: ticket 4711") == 1


def test_a_word_that_no_baseline_has_is_not_written(bad: Path, file: Path) -> None:
    """A document may come from a newer version, or from anywhere: no traceback, and no file that none reads."""
    document = bad / "results.json"
    document.write_text(document.read_text().replace('"timed_out"', '"got lost"'))
    done = accept(bad, "--to", file)
    assert done.exit_code == 4
    assert "'got lost' is not one of the valid values" in done.output
    assert not file.exists()


def test_what_matches_nothing_writes_nothing(bad: Path, file: Path) -> None:
    """It is wrong input, and no file is made."""
    done = accept(bad, "--to", file, "--check=icmp-egress/*")
    assert done.exit_code == 4
    assert "no check that matches icmp-egress/* deviates" in done.output
    assert not file.exists()


@pytest.mark.parametrize(
    ("words", "entry", "said"),
    [
        (["--flow=pod-to-pod-*"], {"flow": "pod-to-pod-*"}, "flow pod-to-pod-*"),
        (["--node=linux-1"], None, "nothing deviates at node linux-1 alone"),
        (["--node=wni-1"], None, "has no node wni-1"),
        (["--flow=pod-to-pdo-ip"], None, "did you mean 'pod-to-pod-ip'"),
        (["--incident=99"], None, "incidents, not 99"),
        (["--incident=1", "--node=win-1"], None, "exclude each other"),
    ],
)
def test_a_flow_or_a_node_is_one_entry(
    bad: Path, file: Path, words: list[str], entry: dict[str, str] | None, said: str
) -> None:
    """Where something deviates there; else nothing is written."""
    done = accept(bad, "--to", file, *words)
    assert said in done.output
    assert (done.exit_code == 0) is (entry is not None)
    assert file.exists() is (entry is not None)
    if entry:
        (only,) = read_baseline(file.read_text("utf-8"), str(file)).entries
        assert {key: getattr(only, key) for key in entry} == entry
        assert stale(bad, "--baseline", file).exit_code == 0


def test_an_incident_is_accepted_by_its_checks_or_as_a_nodes_outage(bad: Path, file: Path) -> None:
    """Checks that share no node keep an entry each; what a node as a whole explains is one."""
    document = bad / "results.json"
    data = json.loads(document.read_text())
    incident = next(found for found in data["incidents"] if BROKEN in found["checks"])
    data["incidents"] = [incident]
    document.write_text(json.dumps(data))
    assert accept(bad, "--to", file, "--incident=1").exit_code == 0
    assert checks_in(file) == set(incident["checks"])
    incident["explained"] = True
    node = next(n["name"] for n in data["facts"]["nodes"] if n["os"] == "windows")
    incident["traits"] = {"node": node}
    for check in data["checks"]:
        if check["verdict"] == "fail":
            check["members"] = {
                "deviating": [{"member": f"{node} → x", "verdict": "fail", "message": ""}]
            }
    document.write_text(json.dumps(data))
    done = accept(bad, "--to", file, "--incident=1")
    assert f"accepted until 2099-12-31: node {node}\n1 entry written" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--expires=2099-12-31"], "Missing option '--reason'"),
        (["--reason=x"], "Missing option '--expires'"),
        (["--reason= ", "--expires=2099-12-31"], "say why"),
        (["--reason=x", "--expires=2020-12-31"], "2020-12-31 is over"),
        (["--reason=x", "--expires=soon"], "does not match the format"),
    ],
)
def test_nothing_is_accepted_without_a_reason_and_an_end(
    bad: Path, file: Path, words: list[str], said: str
) -> None:
    """Both are required, and a day that is over is none."""
    done = nettests("baseline", "accept", bad, "--to", file, *words)
    assert done.exit_code == 2
    assert said in done.output
    assert not file.exists()


def test_a_file_of_something_else_is_not_written_over(bad: Path, file: Path) -> None:
    """It is refused with its line, and stays what it was."""
    file.write_text("kind: ClusterProfile\n")
    done = accept(bad, "--to", file)
    assert done.exit_code == 4
    assert file.read_text() == "kind: ClusterProfile\n"


def test_a_folder_that_is_not_there_is_wrong_input(bad: Path, tmp_path: Path) -> None:
    """No traceback."""
    done = accept(bad, "--to", tmp_path / "no" / "b.yaml")
    assert done.exit_code == 4
    assert "cannot be written" in done.output


def test_entries_that_hold_are_no_finding(bad: Path, file: Path) -> None:
    """0 for the run that was accepted."""
    accept(bad, "--to", file)
    done = stale(bad, "--baseline", file)
    assert done.exit_code == 0, done.output
    assert done.output.startswith("0 of ")


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ({"broken": False}, f"otherwise: {BROKEN}: fail → pass"),
        ({"outcome": Outcome.REFUSED}, f"otherwise: {BROKEN}: outcome: timed_out → refused"),
    ],
)
def test_entries_that_no_longer_match_are_listed(
    bad: Path, file: Path, tmp_path: Path, now: dict[str, object], said: str
) -> None:
    """With what became of the check; the exit code is 1."""
    accept(bad, "--to", file)
    other = written(tmp_path / "reports" / "now", **now)  # type: ignore[arg-type]
    done = stale(other, "--baseline", file)
    assert done.exit_code == 1
    assert said in done.output
    assert done.output.splitlines()[-1].startswith("1 of ")


def test_an_expired_entry_is_stale(bad: Path, file: Path) -> None:
    """Also where it describes the run."""
    accept(bad, "--to", file, "--check", BROKEN)
    file.write_text(file.read_text().replace("2099-12-31", "2020-12-31"))
    done = stale(bad, "--baseline", file)
    assert done.exit_code == 1
    assert f"expired: {BROKEN}: accepted until 2020-12-31" in done.output


def test_a_hostile_text_does_not_steer_the_terminal(bad: Path, file: Path) -> None:
    """An id of somebody else's document is shown, written and read as data."""
    document = bad / "results.json"
    data = json.loads(document.read_text())
    for check in data["checks"]:
        if check["id"] == BROKEN:
            check["id"] = f"{BROKEN}{NASTY}"
    document.write_text(json.dumps(data))
    for done in (accept(bad, "--to", file), stale(bad, "--baseline", file)):
        assert done.exit_code == 0, done.output
        assert not any(sign in done.output for sign in OBEYED)
    assert f"{BROKEN}{NASTY}" in checks_in(file)


def test_of_several_runs_the_facts_that_separate_them_are_told(
    bad: Path, file: Path, tmp_path: Path
) -> None:
    """Red after an update and good before it: the entry holds on the build, and both counts are said."""
    good = written(tmp_path / "reports" / "good", broken=False, facts=OTHER)
    done = accept(bad, good, "--to", file, "--check", BROKEN)
    assert done.exit_code == 0, done.output
    assert "  holds on target build: 17763.1339 (1 run with it, 1 without)" in done.output
    assert 'target build: "17763.1339"' in file.read_text().replace("'", '"')
    assert stale(bad, "--baseline", file).exit_code == 0


def test_runs_that_no_fact_separates_are_told(bad: Path, file: Path, tmp_path: Path) -> None:
    """The entry holds on the facts of the run that shows it, and nobody is told that it is understood."""
    good = written(tmp_path / "reports" / "good", broken=False)
    done = accept(good, bad, "--to", file, "--check", BROKEN)
    assert "no recorded fact separates the runs (1 run with it, 1 without): good" in done.output
    assert "holds on Kubernetes: 1.24.17, CNI plugin: flannel" in done.output


def test_a_baseline_of_another_cluster_is_told(bad: Path, file: Path, tmp_path: Path) -> None:
    """By ``stale`` and its document, and by ``accept``, which adds the cluster to the file."""
    accept(bad, "--to", file)
    other = written(tmp_path / "reports" / "other")
    document = other / "results.json"
    document.write_text(
        document.read_text().replace("https://127.0.0.1:6443", "https://api.prod.test")
    )
    told = stale(other, "--baseline", file)
    assert told.output.startswith("note: accepted for context staging at this machine (facts ")
    assert "this run is of api.prod.test, with the same facts" in told.output
    as_data = json.loads(stale(other, "--baseline", file, "--json").output)
    assert as_data["elsewhere"].startswith("accepted for context staging")
    added = accept(other, "--to", file)
    assert "from now on it is for both" in added.output
    assert not stale(other, "--baseline", file).output.startswith("note")


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """The folder of a run in which everything was as documented."""
    done = run_command(tmp_path, "--flow=pod-to-pod-ip")
    assert done.returncode == 0, done.stdout + done.stderr
    return (tmp_path / "reports" / "latest").resolve()


def test_a_run_that_is_judged_again_is_held_to_a_baseline_too(
    finished: Path, tmp_path: Path, file: Path
) -> None:
    """Lifted checks that were accepted end it with 0, one that was not with 1; the documents say the same code."""
    manifest = tmp_path / "site.yaml"
    manifest.write_text(ONE_WAY)
    limits = f"--limitations={manifest}"
    assert nettests("rejudge", finished, limits).exit_code == 1
    assert accept(finished / "rejudged", "--to", file).exit_code == 0
    held = [f"--baseline={file}", "--fail-on=new"]
    done = nettests("rejudge", finished, limits, *held)
    assert done.exit_code == 0, done.output
    assert " known failures, 0 new, 0 not as accepted, 0 expired" in done.output
    again = json.loads((finished / "rejudged" / "results.json").read_text())
    assert again["run"]["exit_code"] == 0
    assert any(check["verdict"] == "lifted" for check in again["checks"])

    fewer = file.with_name("fewer.yaml")
    one = sorted(checks_in(file))[0]
    assert accept(finished / "rejudged", "--to", fewer, "--check", one).exit_code == 0
    red = nettests("rejudge", finished, limits, f"--baseline={fewer}", "--fail-on=new")
    assert red.exit_code == 1
    assert "1 known failure, " in red.output


def test_judging_again_without_a_baseline_needs_none(finished: Path) -> None:
    """And --fail-on new without one is wrong input."""
    assert nettests("rejudge", finished).exit_code == 0
    refused = nettests("rejudge", finished, "--fail-on=new")
    assert refused.exit_code == 4
    assert "--baseline" in refused.output
