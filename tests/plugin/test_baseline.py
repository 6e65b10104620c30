"""``--fail-on new`` in whole runs on canned answers: what the baseline holds is told, and does not end a run with 1."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from lxml import etree

# Imported before tests run: pytester forgets modules after each, and PyYAML's C part cannot be loaded twice.
from nettests.cli.baseline_commands import accept
from tests.plugin.runner import CHECKOUT, Runner

pytest_plugins = "pytester"

FLOW = "pod-to-pod-ip"
BROKEN = "pod-to-pod-ip/windows-1/linux-1/other-node/tcp"
MORE = "pod-to-pod-ip/windows-1/linux-1/other-node/udp"


@pytest.fixture
def file(run: Runner) -> Path:
    """The baseline of a run in which one path was broken."""
    first = run(f"--flow={FLOW}", answers={BROKEN: "timed out"})
    assert first.code == 1
    written = run.pytester.path / "baseline.yaml"
    words = [
        str(first.directory),
        "--reason",
        "ticket 4711",
        "--expires",
        "2099-12-31",
        "--to",
        str(written),
    ]
    done = CliRunner().invoke(accept, words)
    assert done.exit_code == 0, done.output
    return written


def test_a_known_failure_ends_a_run_with_0_and_stays_a_failure(run: Runner, file: Path) -> None:
    """The verdict, JUnit and pytest's own outcome are what they are; journal and exit code are of one mind."""
    done = run(f"--flow={FLOW}", f"--baseline={file}", "--fail-on=new", answers={BROKEN: "timed out"})  # fmt: skip
    done.result.assert_outcomes(passed=11, failed=1)
    assert done.code == 0
    assert done.results["run"]["exit_code"] == 0
    assert done.verdicts[BROKEN] == "fail"
    events = [one["text"] for one in done.results["events"]]
    assert any(text.endswith(": 1 known failure, 0 new, 0 not as accepted, 0 expired") for text in events)  # fmt: skip


@pytest.mark.parametrize(
    ("more", "tag", "kind"),
    [(["--fail-on=new"], "skipped", "nettests.accepted"), ([], "failure", "nettests.fail")],
)
def test_junit_says_of_a_known_failure_what_the_exit_code_says(
    run: Runner, file: Path, more: list[str], tag: str, kind: str
) -> None:
    """A skip that names the reason where the run ends as if it were none, else the failure that it is."""
    done = run(f"--flow={FLOW}", f"--baseline={file}", *more, answers={BROKEN: "timed out"})
    root = etree.parse(str(done.directory / "junit.xml")).getroot()
    (case,) = [one for one in root.iter("testcase") if one.get("name") == BROKEN]
    (found,) = [one for one in case if one.tag != "properties"]
    assert (found.tag, found.get("type")) == (tag, kind)
    values = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert (values["verdict"], values["accepted"]) == ("fail", "ticket 4711")
    assert values["accepted.expires"] == "2099-12-31"
    assert int(root.get("failures")) == (0 if more else 1)
    (check,) = [one for one in done.results["checks"] if one["id"] == BROKEN]
    assert check["accepted"] == {
        "reason": "ticket 4711",
        "expires": "2099-12-31",
        "excused": bool(more),
    }


def test_one_more_failure_ends_it_with_1_and_is_named(run: Runner, file: Path) -> None:
    """On the terminal too, with workers as without."""
    answers = {BROKEN: "timed out", MORE: "timed out"}
    for more in ([], ["-n2"]):
        done = run(f"--flow={FLOW}", f"--baseline={file}", "--fail-on=new", "--nettests-output=own", *more, answers=answers)  # fmt: skip
        assert done.code == 1
        assert "1 known failure, 1 new" in done.out
        assert f"new: {MORE}" in done.out


def test_another_outcome_of_a_known_failure_ends_it_with_1(run: Runner, file: Path) -> None:
    """Refused is not what was accepted."""
    done = run(f"--flow={FLOW}", f"--baseline={file}", "--fail-on=new", answers={BROKEN: "refused"})  # fmt: skip
    assert done.code == 1


def test_without_fail_on_new_a_baseline_only_tells(run: Runner, file: Path) -> None:
    """The exit code is that of the verdicts."""
    done = run(f"--flow={FLOW}", f"--baseline={file}", answers={BROKEN: "timed out"})
    assert done.code == 1
    assert any("1 known failure, 0 new" in one["text"] for one in done.results["events"])


def test_an_expired_entry_turns_the_run_red(run: Runner, file: Path) -> None:
    """It says which, and why it was accepted."""
    file.write_text(file.read_text().replace("2099-12-31", "2020-12-31"))
    done = run(f"--flow={FLOW}", f"--baseline={file}", "--fail-on=new", "--nettests-output=own", answers={BROKEN: "timed out"})  # fmt: skip
    assert done.code == 1
    assert f"expired: {BROKEN} was accepted until 2020-12-31: ticket 4711" in done.out


@pytest.mark.parametrize(("answers", "code"), [({BROKEN: "timed out"}, 1), ({}, 6)])
def test_a_run_that_cannot_be_compared_counts_every_failure(
    run: Runner, file: Path, answers: dict[str, str], code: int
) -> None:
    """It is cleaned up and documented as ever, and says why; without a failure it is not good, but unknown."""
    hindered = run.pytester.path / "hindered.py"
    hindered.write_text(
        "from nettests.errors import PathError\n"
        "from nettests.plugin import controller\n"
        "def comparison_of(*_):\n"
        "    raise PathError('results.json is not read: it is too large')\n"
        "controller.comparison_of = comparison_of\n"
    )
    run.pytester.syspathinsert()
    words = [f"--flow={FLOW}", f"--baseline={file}", "--fail-on=new", "-phindered"]
    path = f"{run.pytester.path}:{CHECKOUT}"
    done = run(*words, answers=answers, environment={"PYTHONPATH": path})
    assert done.code == code
    events = [one["text"] for one in done.results["events"]]
    assert "the baseline was not compared: results.json is not read: it is too large" in events
    assert "everything was removed" in events


def test_what_cannot_be_read_is_wrong_input_before_anything_runs(run: Runner, file: Path) -> None:
    """No baseline, one that is not there, one that is none: 4, with the next step."""
    spoilt = file.with_name("spoilt.yaml")
    spoilt.write_text("kind: Baseline")
    for words, said in (
        (["--fail-on=new"], "name their file with --baseline"),
        (["--fail-on=new", "--baseline=nowhere.yaml"], "nettests baseline accept RUN writes one"),
        ([f"--baseline={spoilt}"], "entries is missing"),
    ):
        done = run(f"--flow={FLOW}", *words)
        assert done.code == 4, words
        assert said in done.out
