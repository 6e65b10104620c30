"""What a run learns once its probes stand changes what is expected, everywhere the same, and never the plan."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nettests.model.check_id import parent_of
from nettests.model.facts import ClusterFacts, unknown
from nettests.model.journal_records import Discovered, Planned
from nettests.model.observation import NodeReading
from nettests.model.run_folder import JOURNAL
from nettests.plan import load
from nettests.report import build_results
from nettests.resources import suites_path
from nettests.rules.kube_proxy_on_host import MODE
from nettests.session.blueprint import Blueprint, blueprint, learn, read_manifests
from nettests.session.journal import Journal, read_journal
from tests.facts import cluster_facts
from tests.session.recorded_journal import read_recorded

CHECK = "session-affinity/windows-1/linux-1/other-node/tcp"
ENTRY = "aff-clientip-hns"
CONTRADICTION = """\
apiVersion: nettests.dev/v1alpha1
kind: LimitationManifest
layer: base
limitations:
  - id: contradicts
    summary: Something else.
    flows: [session-affinity]
    when:
      source: {os: windows, mode: [kernelspace]}
    expected: {outcome: timed_out}
    mechanism: None.
    category: platform
    sources: [{document: Ours}]
"""


def unread() -> ClusterFacts:
    """Return a cluster whose kube-proxies are services of their hosts."""
    facts = cluster_facts("win2019-l2bridge")
    nodes = tuple(
        replace(one, kube_proxy=replace(one.kube_proxy, mode=unknown("no kube-proxy Pod runs")))
        for one in facts.nodes
    )
    return replace(facts, nodes=nodes)


def made(*manifests: Path) -> Blueprint:
    """Return the blueprint of a run on it."""
    flows = load([suites_path()]).select(["session-affinity"]).flows
    return blueprint(unread(), flows, read_manifests(manifests))


def says(mode: str) -> tuple[NodeReading, ...]:
    """Return what the vantage on win-1 brought."""
    return (
        NodeReading(
            node="win-1",
            reading=MODE.name,
            probe="node-windows-1-1",
            command=("curl.exe", "http://127.0.0.1:10249/proxyMode"),
            exit_code=0,
            stdout=mode,
        ),
    )


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """The journal of a run."""
    with Journal(tmp_path / JOURNAL) as opened:
        yield opened


def written(journal: Journal, kind: str) -> list[dict[str, Any]]:
    """Return the records of a kind."""
    records = map(json.loads, journal.path.read_text().splitlines())
    return [one for one in records if one["record"] == kind]


def test_a_fact_that_was_learned_decides(journal: Journal) -> None:
    """What was undecided for want of it is expected as documented; the plan is the same."""
    before = made()
    assert "source kube-proxy mode in kernelspace: unknown" in (
        before.expectations[CHECK].undecided or ""
    )
    now = learn(before, before.plan, says("kernelspace"), journal)
    limitation = now.expectations[CHECK].limitation
    assert limitation is not None
    assert limitation.id == ENTRY
    assert any("read on the node itself" in one for one in limitation.because)
    assert now.plan is before.plan
    changed = {one["check"] for one in written(journal, "expected")}
    assert CHECK in changed
    assert changed == {
        parent_of(name)
        for name, was in before.expectations.items()
        if was != now.expectations[name]
    }
    assert ENTRY not in {one["id"] for one in written(journal, "limitations")[-1]["unused"]}


def test_documents_and_later_judgements_know_it(journal: Journal) -> None:
    """They read the completed facts, and the expectation that the check was judged by."""
    before = made()
    journal.write(Discovered(facts=before.facts))
    for check in before.plan.checks:
        journal.write(Planned(check=check, expectation=before.expectations[check.id]))
    now = learn(before, before.plan, says("kernelspace"), journal)
    results = build_results(read_journal(journal.path))
    assert results.facts == now.facts
    (told,) = [one for one in results.checks if one.id == CHECK]
    assert told.expectation == now.expectations[CHECK]
    recorded = read_recorded(journal.path)
    assert recorded.facts == now.facts
    assert len(recorded.checks) == len(before.plan.checks)


def test_an_answer_that_tells_nothing_decides_nothing(journal: Journal) -> None:
    """It is written down, and the reason why the fact is unknown says that it was tested."""
    before = made()
    now = learn(before, before.plan, says("I am no kube-proxy"), journal)
    assert "does not tell it either" in (now.expectations[CHECK].undecided or "")
    assert len(written(journal, "reading")) == 1


def test_without_readings_nothing_is_written(journal: Journal) -> None:
    """Nearly every cluster tells its mode by the API."""
    before = made()
    assert learn(before, before.plan, (), journal) is before
    assert journal.path.read_text() == ""


def test_entries_that_contradict_each_other_then_leave_it_as_it_was(
    journal: Journal, tmp_path: Path
) -> None:
    """They cannot be refused before anything is deployed any more: it is told, and the checks stay undecided."""
    file = tmp_path / "own.yaml"
    file.write_text(CONTRADICTION)
    before = made(file)
    assert learn(before, before.plan, says("kernelspace"), journal) is before
    (event,) = written(journal, "event")
    assert event["notable"]
    assert "contradicts" in event["text"]
    assert ENTRY in event["text"]
