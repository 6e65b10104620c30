"""``nettests list``, ``open`` and ``run --dry-run``: what there is, what was found, and what a run would take."""

import json
from importlib import import_module
from pathlib import Path

import pytest

from nettests.cli import discover_commands
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.words import CheckClass, Outcome
from nettests.plan import build, load
from nettests.plugin.lab import COMMAND
from nettests.report import render_json
from nettests.resources import suites_path
from nettests.session.estimate import estimate
from tests.baseline.runs import BROKEN, FACTS, FLOWS
from tests.cli.calling import nettests
from tests.compare.runs import but, results
from tests.plan.clusters import mixed


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Return the folder of a run in which one check failed."""
    does = but("pod-to-pod-ip", Outcome.TIMED_OUT, BROKEN)
    (tmp_path / "r").mkdir()
    text = render_json(results(FACTS, does, flows=FLOWS))
    (tmp_path / "r" / "results.json").write_text(text, "utf-8")
    (tmp_path / "r" / "journal.jsonl").write_text("")
    return tmp_path / "r"


def test_flows_are_listed_with_their_class_and_claim() -> None:
    """All, or those that a pattern chooses; no cluster is contacted."""
    lines = nettests("list", "flows").output.splitlines()
    assert len(lines) == len(load([suites_path()]).flows)
    (only,) = nettests("list", "flows", "--flow=icmp-egress").output.splitlines()
    (row,) = json.loads(nettests("list", "flows", "--flow=icmp-egress", "--json").output)
    assert row["flow"] == "icmp-egress"
    assert only.split()[:2] == ["icmp-egress", CheckClass.DEFAULT.value]


def test_limitations_are_listed_with_their_summaries() -> None:
    """Of every layer, each once, however many conditions it has."""
    lines = nettests("list", "limitations").output.splitlines()
    assert any(line.startswith("icmp-pod-external ") for line in lines)
    assert len(lines) > 50
    assert len({line.split()[0] for line in lines}) == len(lines)


def test_ready_cluster_profiles_are_listed_apart_from_those_of_the_lab() -> None:
    """Each by the name that --cluster-profile takes, with its file, from which one of one's own is made."""
    rows = json.loads(nettests("list", "cluster-profiles", "--json").output)
    assert {"aks-overlay", "eks", "gke", "openshift"} < {row["profile"] for row in rows}
    assert all(Path(row["file"]).is_file() and row["platform"] for row in rows)
    lines = nettests("list", "cluster-profiles").output.splitlines()
    assert [line.split()[0] for line in lines] == [row["profile"] for row in rows]


def test_checks_are_listed_on_the_facts_of_a_run(recorded: Path) -> None:
    """With what is expected of each; its cluster is not needed."""
    done = nettests("list", "checks", "--of", recorded, "--check=pod-to-pod-ip/*/tcp")
    assert done.exit_code == 0, done.output
    ids = [line.split()[0] for line in done.output.splitlines()[:-1]]
    assert BROKEN in ids
    assert {one.rpartition("/")[2] for one in ids} == {"tcp"}
    assert nettests("list", "flows", "--of", recorded).exit_code == 2


@pytest.mark.parametrize(
    ("what", "words"), [("profiles", ["profiles"]), ("faults", ["fault", "--help"])]
)
def test_what_the_lab_has_is_listed_by_the_lab(
    monkeypatch: pytest.MonkeyPatch, what: str, words: list[str]
) -> None:
    """It is a separate program."""
    called_with: list[list[str]] = []  # None as an exit code is success
    monkeypatch.setattr(
        import_module("nettests.cli.list_command"),
        "carried_out",
        lambda words: called_with.append([*words]),
    )
    assert nettests("list", what).exit_code == 0
    assert called_with == [[*COMMAND, *words]]


def test_the_page_of_a_run_is_named_and_opened_where_there_is_a_terminal(
    recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a page the command says how to make it."""
    assert "nettests rejudge" in nettests("open", recorded).output
    (recorded / "report.html").write_text("")
    opened: list[str] = []
    module = import_module("nettests.cli.folder_commands")
    monkeypatch.setattr(module.webbrowser, "open", opened.append)
    monkeypatch.setattr(module.os, "isatty", lambda _: False)
    assert nettests("open", recorded).output == f"{recorded / 'report.html'}\n"
    assert opened == []
    monkeypatch.setattr(module.os, "isatty", lambda _: True)
    nettests("open", recorded)
    assert opened == [(recorded / "report.html").as_uri()]


def test_a_dry_run_says_what_a_run_would_take(
    monkeypatch: pytest.MonkeyPatch, recorded: Path
) -> None:
    """It plans, counts and creates nothing; of what failed before, that alone."""
    monkeypatch.setattr(discover_commands, "read_facts", lambda *_: FACTS)
    whole = nettests("run", "--dry-run", "--flow=pod-to-pod-ip", "--flow=icmp-egress")
    assert whole.exit_code == 0, whole.output
    assert whole.output.splitlines()[0].startswith("14 checks of 2 flows, run ")
    assert "API requests" in whole.output
    failed = nettests("run", "--dry-run", f"--rerun-failed={recorded}")
    assert failed.output.startswith("1 check of 1 flow, run ")


def test_an_estimate_counts_objects_and_grows_with_what_is_planned() -> None:
    """Pods that only come and go are in it, and members that start processes cost execs."""
    facts, profile = mixed(), ClusterProfile()
    few = estimate(
        build(facts, load([suites_path()]).select(["icmp-egress"]).flows), facts, profile
    )
    every = estimate(build(facts, load([suites_path()]).flows), facts, profile)
    assert few.services == 0
    assert few.processes == few.members > 0
    assert few.pods == few.probes
    assert every.pods > every.probes > few.probes
    assert every.requests > few.requests
    assert every.seconds > few.seconds
