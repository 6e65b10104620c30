"""Notes of a forecast: what changes take along, and what makes the forecast worth less."""

from dataclasses import replace

import pytest

from nettests.forecast.facts_after import changed, notes, other_manifests
from nettests.forecast.keys import read_change
from nettests.model.facts import ClusterFacts, NodeFacts, known
from nettests.model.journal_records import ManifestFile
from nettests.model.versions import WindowsBuild
from nettests.model.words import OS
from tests.facts import cluster_facts
from tests.forecast.forecasts import OLD
from tests.manifests.shipped import manifests


def told(facts: ClusterFacts, *to: str) -> str:
    """Return the notes about changes."""
    changes = [read_change(word) for word in to]
    return "\n".join(notes(facts, changed(facts, changes), changes, manifests()))


def test_notes_say_what_goes_along_and_what_stays() -> None:
    """Kubelets with Kubernetes; nothing where nothing does."""
    assert "each kubelet and kube-proxy" in told(cluster_facts(OLD), "kubernetes=1.34")
    assert told(cluster_facts(OLD), "kubeProxy.dsr=on") == ""


def test_a_note_says_that_pools_become_alike() -> None:
    """Pools that builds keep apart become one pool, and ids change, unless they are pinned."""
    mixed = cluster_facts("mixed-builds")
    text = told(mixed, "windows.build=26100.4061")
    assert "windows-1, windows-2, windows-3 will all have build" in text
    assert "nodePools" in text
    same = replace(mixed, nodes=tuple(_of_one_build(node) for node in mixed.nodes))
    assert told(same, "windows.build=26100.4061") == ""


def _of_one_build(node: NodeFacts) -> NodeFacts:
    build = known(WindowsBuild(20348, 1), "test")
    return replace(node, build=build) if node.os is OS.WINDOWS else node


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("kubernetes=1.20", "kubernetes=1.20 is a downgrade from 1.24.17"),
        ("kubernetes=1.24.3", "kubernetes=1.24.3 is a downgrade from 1.24.17"),
        ("windows.build=17763.4", "windows.build=17763.4 is a downgrade from 17763.1339"),
        (
            "kubernetes=9.99",
            "kubernetes=9.99 is newer than every version that limitation manifests",
        ),
        ("windows.build=99999", "windows.build=99999 is newer than every version"),
        ("cni.backend=vxlann", "names cni.backend=vxlann; did you mean 'vxlan'?"),
        ("cni.plugin=flanel", "names cni.plugin=flanel; did you mean 'flannel'?"),
        (
            "kubelet=1.30.1",
            "version skew policy of Kubernetes: linux-1: kubelet 1.30.1 is newer than",
        ),
    ],
)
def test_what_makes_a_forecast_doubtful_is_said(words: str, said: str) -> None:
    """It is resolved all the same, and whoever slipped sees it."""
    assert said in told(cluster_facts(OLD), words)


@pytest.mark.parametrize(
    "words",
    ["kubernetes=1.24", "windows.build=17763.x", "windows.build=26100.65000", "cni.backend=vxlan"],
)
def test_what_is_usual_has_no_such_note(words: str) -> None:
    """Patch releases that were not named, patches of next month, and known names."""
    text = told(cluster_facts(OLD), words)
    assert not any(word in text for word in ("downgrade", "newer", "no limitation", "skew"))


def test_other_manifests_are_named_and_bounded() -> None:
    """By their files; where one side names none, nothing is known and nothing said."""
    one, other = (tuple(ManifestFile(file=f"{n}.yaml", sha256=digest) for n in range(6))
                  for digest in ("a", "b"))  # fmt: skip
    (said,) = other_manifests(one, other, of="run a", by="this forecast")
    assert said.startswith("run a read other limitation manifests than this forecast: 0.yaml, ")
    assert said.endswith("and 2 more files")
    assert [
        *other_manifests(one, one, of="a", by="b"),
        *other_manifests((), one, of="a", by="b"),
    ] == []
