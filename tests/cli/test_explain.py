"""``nettests explain``: the reasoning behind one expectation, for clusters whose facts are stated."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nettests.cli import discover_commands, main
from nettests.model.cluster_profile import ClusterProfile
from nettests.model.facts import ClusterFacts, known, unknown
from nettests.model.versions import WindowsBuild
from nettests.session.run_options import RunOptions
from tests.cli.test_commands import CHECK
from tests.facts import cluster_facts

State = Callable[[ClusterFacts], None]
ENTRY = """
apiVersion: nettests.dev/v1alpha1
kind: LimitationManifest
layer: {layer}
limitations:
  - id: {id}
    summary: It does not get there.
    when: {when}
    flows: [pod-to-pod-ip]
    expected: {expected}
    mechanism: A test.
    category: by-design
    sources: [{{document: A guide, names: timed_out}}]
"""


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> State:
    """State the facts that a command reads."""

    def of(facts: ClusterFacts) -> None:
        def read(options: RunOptions, profile: ClusterProfile) -> ClusterFacts:
            return facts

        monkeypatch.setattr(discover_commands, "read_facts", read)

    return of


def explain(check: str, *more: str) -> Result:
    """Explain a check in this process."""
    return CliRunner().invoke(main, ["explain", check, *more])


def entry(
    folder: Path, when: str, expected: str = "{outcome: timed_out}", layer: str = "cni"
) -> str:
    """Write a manifest of one entry; return the option that names it."""
    file = folder / f"{layer}.yaml"
    text = ENTRY.format(layer=layer, id=f"of-{layer}", when=when, expected=expected)
    file.write_text(text if expected != "unspecified" else f"{text}    settled_by: a test\n")
    return f"--limitations={file}"


def test_a_condition_that_does_not_hold_is_told_with_what_does(
    state: State, tmp_path: Path
) -> None:
    """The claim stands; below it each part of the condition has its mark, fact and origin."""
    state(cluster_facts("win2019-l2bridge"))
    when = "{source: {os: windows, driver: [overlay], dsr: true}}"
    lines = explain(CHECK, entry(tmp_path, when)).output.splitlines()
    assert "  expected  connected, source = client-pod" in lines
    at = lines.index("  ✗ of-cni")
    assert lines[at + 1 : at + 4] == [
        "      ✓ source runs windows",
        "      ✗ source DSR: off (kube-proxy's log), not on",
        "      ✗ source network driver in overlay: l2bridge (test)",
    ]
    assert not any(line.startswith("  because") for line in lines)


def test_a_fact_that_is_not_known_leaves_it_undecided(state: State, tmp_path: Path) -> None:
    """Which fact, and why nobody knows it: what to state in the cluster profile."""
    facts = cluster_facts("win2019-l2bridge")
    state(replace(facts, platform=unknown("no node has a provider id")))
    option = entry(tmp_path, "{cluster: {platform: [aks]}}")
    lines = explain(CHECK, option).output.splitlines()
    told = (
        "of-cni depends on what is not known: platform in aks: unknown (no node has a provider id)"
    )
    assert f"  expected  undecided: {told}" in lines
    assert "  ? of-cni" in lines
    assert "      ? platform in aks: unknown (no node has a provider id)" in lines
    state(replace(facts, platform=known("aks", "stated")))
    assert "  expected  timed_out" in explain(CHECK, option).output.splitlines()


def test_an_open_outcome_is_told_with_what_would_settle_it(state: State, tmp_path: Path) -> None:
    """What happens is recorded, and nothing fails."""
    state(cluster_facts("win2019-l2bridge"))
    lines = explain(CHECK, entry(tmp_path, "{source: {os: windows}}", "unspecified")).output
    assert "  expected  left open by the documents: what happens is recorded\n" in lines
    assert "  settled   of-cni: a test\n" in lines


def test_a_flow_that_no_entry_covers_says_so(state: State) -> None:
    """Nothing was considered: the claim is all there is."""
    state(cluster_facts("linux"))
    shown = explain("dns-policy-default/linux-1/external/outside/udp/nslookup").output
    assert shown.splitlines()[-1] == "  no limitation entry speaks of this flow and protocol"


def test_what_resembles_no_check_is_told_where_to_find_them(state: State) -> None:
    """Where no id comes close, the command that lists them."""
    state(cluster_facts("linux"))
    done = explain("zzz")
    assert done.exit_code == 4
    assert done.output == (
        "Error: this cluster has no check 'zzz'\n  → list them with: nettests plan\n"
    )


def test_entries_that_contradict_each_other_are_an_error(state: State, tmp_path: Path) -> None:
    """Both are named before anything is explained."""
    state(cluster_facts("win2019-l2bridge"))
    one = entry(tmp_path, "{source: {os: windows}}")
    other = entry(tmp_path, "{target: {os: linux}}", "{outcome: refused}", "platform")
    done = explain(CHECK, one, other)
    assert done.exit_code == 4
    assert "of-cni" in done.output
    assert "of-platform" in done.output
    assert "expect different outcomes: timed_out and refused" in done.output


def test_a_member_is_explained_by_its_own_nodes(state: State, tmp_path: Path) -> None:
    """A check goes by its own id, a member by its node: two nodes of one pool may be of different builds."""
    facts = cluster_facts("win2019-l2bridge")
    build = known(WindowsBuild.parse("20348.3207"), "test")
    nodes = tuple(
        replace(node, build=build) if node.name == "win-2" else node for node in facts.nodes
    )
    state(replace(facts, nodes=nodes))
    option = entry(tmp_path, "{source: {build: '<20348'}}")
    whole, old, new = (
        explain(f"{CHECK}{member}", option).output
        for member in ("", "#win-1 → linux-1", "#win-2 → linux-1")
    )
    assert whole.startswith(f"{CHECK}\n")
    assert old.startswith(f"{CHECK}#win-1 → linux-1\n")
    for one in (whole, old):
        assert "✓ of-cni" in one
        assert "expected  timed_out" in one
    assert "✗ of-cni" in new
    assert "expected  connected" in new
