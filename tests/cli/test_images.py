"""``nettests images`` and ``nettests discover``: what is printed of a cluster whose facts are stated."""

import json
from dataclasses import replace

import pytest

from nettests.cli import discover_commands
from nettests.cli.discover_commands import _pinned
from nettests.model.cluster_profile import AGNHOST, ClusterProfile
from nettests.model.facts import ClusterFacts, known
from nettests.session.run_options import RunOptions
from tests.cli.calling import nettests
from tests.plan.clusters import mixed, node

CORDONED = "node-linux-1-2-x7"


@pytest.fixture(autouse=True)
def stated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster of four nodes, one of which is cordoned."""
    facts = mixed()
    nodes = tuple(
        replace(one, schedulable=False) if one.name == CORDONED else one for one in facts.nodes
    )
    windows = node("windows-1", 1)
    proxied = replace(windows.kube_proxy, dsr=known(value=True, origin="log"))
    nodes = tuple(
        replace(one, kube_proxy=proxied, ready=False) if one.name == windows.name else one
        for one in nodes
    )
    stated = replace(facts, nodes=nodes, denied=("get pods/log",))

    def read(options: RunOptions, profile: ClusterProfile) -> ClusterFacts:
        return stated

    monkeypatch.setattr(discover_commands, "read_facts", read)


def test_each_image_is_listed_with_who_pulls_it() -> None:
    """One line for the image, one for its purpose, nodes and platforms; nodes that are left out come last."""
    lines = nettests("images", "--flow=pod-to-pod-ip").output.splitlines()
    assert lines[0] == AGNHOST
    assert lines[1].startswith("  for probes on ")
    assert "linux/amd64" in lines[1]
    assert "windows/amd64 10.0.17763" in lines[1]
    assert CORDONED not in lines[1]
    assert any(line.startswith(f"{CORDONED} is left out: ") for line in lines[2:])


def test_a_copy_names_what_it_is_a_copy_of() -> None:
    """Both are needed by whoever fills the mirror."""
    lines = nettests("images", "--flow=pod-to-pod-ip", "--registry=mirror.test").output.splitlines()
    assert lines[:2] == [
        AGNHOST.replace("registry.k8s.io", "mirror.test"),
        f"  a copy of {AGNHOST}",
    ]


def test_images_as_json_are_the_same() -> None:
    """With the nodes that are left out, and why."""
    data = json.loads(nettests("images", "--flow=pod-to-pod-ip", "--json").output)
    (image,) = data["images"]
    assert (image["image"], image["origin"], image["purpose"]) == (AGNHOST, AGNHOST, "probes")
    assert CORDONED in data["left_out"]
    assert CORDONED not in image["nodes"]
    assert "digests" not in image


@pytest.mark.parametrize(
    ("references", "said"),
    [
        ((), ("digest not known: no node names one; run once with --pre-pull, or query the registry",)),
        (("a@sha256:1",), ("a@sha256:1",)),
        (("a@sha256:1", "a@sha256:2"),
         ("nodes have different images by this name:", "a@sha256:1", "a@sha256:2")),
    ],
)  # fmt: skip
def test_what_nodes_know_of_an_image(references: tuple[str, ...], said: tuple[str, ...]) -> None:
    """No digest, one, or nodes that disagree."""
    assert _pinned(references) == said


def test_a_cluster_is_described_node_by_node() -> None:
    """State, what Windows alone has, and what this identity may not do."""
    lines = nettests("discover").output.splitlines()
    assert "denied           get pods/log" in lines
    assert "external target  198.51.100.10, server.outside.test; vantage: proxy" in lines
    windows = lines.index("node-windows-1-1-x7: windows-1, no. 1, not Ready")
    assert "  DSR              yes  (log)" in lines[windows:]
    linux = lines.index(f"{CORDONED}: linux-1, no. 2, Ready, cordoned")
    below = lines[linux + 1 : lines.index("", linux)]
    assert not any(line.startswith(("  build", "  DSR", "  HostProcess")) for line in below)
    assert "  runtime          containerd://1.7.20  (test)" in below
