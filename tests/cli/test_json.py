"""``--json``: what a command tells people, it tells programs too, as one JSON value and nothing else."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from nettests.cli import discover_commands, main
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import ClusterFacts, unknown
from nettests.model.words import Outcome
from nettests.report import render_json
from nettests.session.run_options import RunOptions
from tests.baseline.runs import BROKEN, FACTS, FLOWS
from tests.cli.calling import nettests
from tests.cli.test_commands import CHECK
from tests.cli.test_explain import ENTRY
from tests.compare.runs import as_expected, but, results
from tests.facts import cluster_facts

SAMPLE = Path(__file__).parents[2] / "reports" / "sample"
WITHOUT = {
    "nettests open": "prints a path",
    "nettests run": "results.json",
    "nettests watch": "results.json",
    "nettests render": "prints YAML, which kubectl reads",
    "nettests diagnose": "writes files, and index.md beside them",
    "nettests baseline accept": "writes the baseline",
    "nettests archive": "writes one file",
    "nettests job render": "prints YAML, which kubectl reads",
    "nettests job apply": "creates what render prints",
    "nettests job logs": "prints the log of a run, whose exit code it has",
    "nettests job fetch": "writes the folder of a run",
    "nettests lab": "is a program of its own",
}
"""Commands without a JSON form, and what programs read instead."""


def told(*arguments: str | Path, code: int = 0) -> Any:
    """Return what a command tells programs."""
    done = nettests(*arguments, "--json")
    assert done.exit_code == code, done.output
    return json.loads(done.output)


def leaves(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield every command that does something itself, by the words that call it."""
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command)
    for word in command.list_commands(context):
        below = command.get_command(context, word)
        assert below is not None
        yield from leaves(below, f"{name} {word}")


@pytest.fixture
def mixed(monkeypatch: pytest.MonkeyPatch) -> ClusterFacts:
    """The facts that commands read of a cluster: two Windows nodes, two Linux nodes, and no platform."""
    facts = replace(cluster_facts("win2019-l2bridge"), platform=unknown("no node has an id"))

    def read(options: RunOptions, profile: ClusterProfile) -> ClusterFacts:
        return facts

    monkeypatch.setattr(discover_commands, "read_facts", read)
    return facts


@pytest.fixture
def entry(tmp_path: Path) -> Path:
    """A manifest of one entry, which holds where a Windows Pod is the source."""
    file = tmp_path / "cni.yaml"
    when, expected = "{source: {os: windows}}", "{outcome: timed_out}"
    file.write_text(ENTRY.format(layer="cni", id="one-way", when=when, expected=expected), "utf-8")
    return file


def test_every_command_that_lists_something_has_a_json_form() -> None:
    """``--json``, or ``--output json`` where there are other forms too; the others are named with the reason."""
    without = {
        name
        for name, command in leaves(main, "nettests")
        if not {"--json", "--output"} & {name for one in command.params for name in one.opts}
    }
    assert without == WITHOUT.keys()


def test_json_is_requested_in_the_same_two_ways_everywhere() -> None:
    """Whoever knows one command knows all: ``--json`` and ``--output json``; ``export`` alone writes its file by ``--output``."""
    ways = {
        name: {"--json", "--output"} & {name for one in command.params for name in one.opts}
        for name, command in leaves(main, "nettests")
    }
    assert {name for name, found in ways.items() if len(found) == 1} == set()
    assert len(ways) - len(WITHOUT) > 15


@pytest.mark.parametrize(
    "command", [("lint",), ("diff", SAMPLE, SAMPLE), ("history", SAMPLE.parent)], ids=str
)
def test_both_ways_print_the_same(command: tuple[str | Path, ...]) -> None:
    """One JSON value, whichever is typed; a text is what stands there without them."""
    flag, form = nettests(*command, "--json"), nettests(*command, "--output", "json")
    assert (flag.exit_code, flag.output) == (form.exit_code, form.output)
    assert isinstance(json.loads(form.output), dict)
    assert nettests(*command, "--output=text").output == nettests(*command).output


@pytest.mark.parametrize(("command", "form"), [("lint", "text"), ("diff", "markdown")])
def test_two_forms_at_once_are_refused(command: str, form: str) -> None:
    """Neither is taken silently."""
    runs = (SAMPLE, SAMPLE) if command == "diff" else ()
    refused = nettests(command, *runs, "--json", f"--output={form}")
    assert refused.exit_code == 2
    assert f"--json and --output {form} exclude each other" in refused.output


def test_explain_tells_every_entry_with_what_was_found_of_it(
    mixed: ClusterFacts, entry: Path
) -> None:
    """Check, expectation, facts, and of each entry its place, and each part of its condition."""
    data = told("explain", CHECK, f"--limitations={entry}")
    assert data.keys() == {"check", "expectation", "facts", "considered"}
    assert data["check"]["id"] == CHECK
    assert data["expectation"]["expected"]["outcome"] == "timed_out"
    assert data["expectation"]["limitation"]["id"] == "one-way"
    assert "flow-pod-pod-ip-cross-node" in {fact["id"] for fact in data["facts"]}
    (one,) = [one for one in data["considered"] if one["id"] == "one-way"]
    assert (one["layer"], one["file"], one["line"]) == ("cni", str(entry), 6)
    assert one["condition"] == "holds"
    assert one["findings"] == [{"condition": "holds", "sentence": "source runs windows"}]


@pytest.mark.parametrize(
    ("when", "condition"),
    [
        ("{source: {os: linux}}", "does not hold"),
        ("{cluster: {platform: [aks]}}", "cannot be decided"),
    ],
)
def test_explain_says_why_an_entry_does_not_decide(
    when: str, condition: str, mixed: ClusterFacts, entry: Path
) -> None:
    """A condition that fails, and one that hangs on a fact that is not known, differ."""
    entry.write_text(entry.read_text("utf-8").replace("{source: {os: windows}}", when), "utf-8")
    data = told("explain", CHECK, f"--limitations={entry}")
    (one,) = [one for one in data["considered"] if one["id"] == "one-way"]
    assert one["condition"] == condition
    assert bool(data["expectation"]["undecided"]) is (condition == "cannot be decided")


def test_explain_tells_of_a_skipped_check_why(mixed: ClusterFacts) -> None:
    """What is planned and not run has no expectation, but a reason."""
    skip = told("plan")["skips"][0]
    data = told("explain", skip["id"])
    assert data == {"skip": skip}
    assert data["skip"]["reason"]


def test_lint_lists_what_is_to_repair(entry: Path) -> None:
    """Each finding as a text, and how much was read; the exit code is the same."""
    assert told("lint")["findings"] == []
    entry.write_text(entry.read_text("utf-8").replace("pod-to-pod-ip", "pod-to-pod-i"), "utf-8")
    data = told("lint", entry, code=1)
    lines = nettests("lint", entry).output
    assert f"{entry}:6: one-way covers the flow pod-to-pod-i" in data["findings"][0]
    assert all(finding.splitlines()[0] in lines for finding in data["findings"])
    assert f"{data['read']['entries']} entries" in lines
    assert data["read"].keys() == {"manifests", "entries", "flows", "facts"}


@pytest.mark.parametrize(("repaired", "code"), [(False, 0), (True, 1)])
def test_stale_tells_of_every_entry_whether_it_holds(
    repaired: bool, code: int, tmp_path: Path
) -> None:
    """Those that hold are listed too, each with its reason, its last day and why it is stale."""
    broken = but("pod-to-pod-ip", Outcome.TIMED_OUT, BROKEN)
    for name, does in {"then": broken, "now": as_expected if repaired else broken}.items():
        (tmp_path / name).mkdir()
        text = render_json(results(FACTS, does, flows=FLOWS, run_id=name))
        (tmp_path / name / "results.json").write_text(text, "utf-8")
    file = tmp_path / "baseline.yaml"
    given = ("--reason=ticket 4711", "--expires=2099-12-31", f"--to={file}")
    assert nettests("baseline", "accept", tmp_path / "then", *given).exit_code == 0
    data = told("baseline", "stale", tmp_path / "now", f"--baseline={file}", code=code)
    (one,) = [one for one in data["entries"] if one["check"] == BROKEN]
    assert (one["reason"], one["expires"]) == ("ticket 4711", "2099-12-31")
    assert (one["fit"], one["stale"]) == (("otherwise", True) if repaired else ("holds", False))
    assert ("fail → pass" in one["why"]) is repaired
    assert sum(one["stale"] for one in data["entries"]) == code


def test_rejudge_tells_each_verdict_then_and_now(entry: Path, tmp_path: Path) -> None:
    """The recorded run of the repository, by an entry that it did not show: lifted, with message and exit code."""
    arguments = (SAMPLE, f"--limitations={entry}", f"--report-dir={tmp_path / 'again'}")
    data = told("rejudge", *arguments, code=1)
    assert data.keys() == {"changed", "judged", "baseline", "report", "exit_code"}
    assert data["exit_code"] == 1
    assert Path(data["report"]).is_file()
    lifted = [one for one in data["changed"] if one["after"] == "lifted"]
    assert {one["before"] for one in lifted} == {"pass"}
    assert all("one-way" in one["message"] for one in lifted)
    assert 0 < len(data["changed"]) < data["judged"]
