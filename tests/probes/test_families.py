"""Checks that a Pod without an IP family would have a part in: skipped where a limitation says so, probed elsewhere."""

from dataclasses import replace
from ipaddress import ip_address

import pytest

from nettests.model.check import Action, Vantage
from nettests.model.words import OS, Family, Question, TargetKind, VantageKind
from nettests.probes.addresses import Directory
from nettests.probes.families import can_probe, why_lacking
from tests.probes.conftest import Bench
from tests.probes.made import FACTS, action, check, deployed

BOTH = (Family.IPV4, Family.IPV6)
DOCUMENTED = {"windows-1": "v6-some-pods"}
LINUX, WINDOWS = "probe-linux-1-1", "probe-windows-1-1"


def directory(*, families: tuple[Family, ...] = BOTH, everywhere: bool = False) -> Directory:
    """Return a dual-stack cluster whose Windows Pods have IPv4 alone, unless ``everywhere``."""
    standing = deployed()
    pods = {
        name: replace(pod, addresses=(*pod.addresses, ip_address(f"fd00::{number + 1}")))
        if everywhere or pod.node == "n1"
        else pod
        for number, (name, pod) in enumerate(standing.pods.items())
    }
    facts = replace(FACTS, families=families)
    return Directory(facts=facts, deployment=replace(standing, pods=pods))


def in_ipv6(probe: str, kind: TargetKind = TargetKind.POD_IP, on: str = "n1") -> Action:
    """Return a question over IPv6 to the server of a node, its Service, or the node itself."""
    question = action(probe, kind, on=on)
    server = "server-linux-1-1" if on == "n1" else "server-windows-1-1"
    changes = {
        TargetKind.POD_IP: {"pod": server, "backends": (server,)},
        TargetKind.SERVICE_CLUSTERIP: {"backends": (server,)},
    }.get(kind, {})
    target = replace(question.target, **changes)  # type: ignore[arg-type]
    return replace(question, family=Family.IPV6, target=target)


@pytest.mark.parametrize(
    ("question", "lacks"),
    [
        (in_ipv6(WINDOWS), WINDOWS),
        (in_ipv6(LINUX, on="w1"), "server-windows-1-1"),
        (in_ipv6(LINUX, TargetKind.SERVICE_CLUSTERIP, on="w1"), "server-windows-1-1"),
        (in_ipv6(LINUX), None),
        (in_ipv6(LINUX, TargetKind.NODE_IP, on="w1"), None),
        (replace(in_ipv6(WINDOWS), family=Family.IPV4), None),
        (replace(in_ipv6(WINDOWS), question=Question.INSPECT), None),
    ],
)
def test_source_and_target_need_the_family(question: Action, lacks: str | None) -> None:
    """Source, target and backends count; the node's own address, the other family and rules do not."""
    why = why_lacking(question, directory(), DOCUMENTED)
    assert why == (
        f"{lacks} has no IPv6 address, which limitation v6-some-pods allows" if lacks else ""
    )


def test_a_node_probes_in_no_family_that_its_pods_cannot_confirm() -> None:
    """Its positive controls are its own Pods: what failed there would prove nothing."""
    node = Vantage(kind=VantageKind.NODE, probe="node-windows-1-1", node="w1", os=OS.WINDOWS)
    question = replace(in_ipv6(LINUX), source=node)
    assert "could show that w1 probes over IPv6" in why_lacking(question, directory(), DOCUMENTED)
    assert not why_lacking(question, directory(everywhere=True), DOCUMENTED)


@pytest.mark.parametrize("documented", [{}, {"linux-1": "v6-some-pods"}])
def test_a_pod_that_should_have_the_family_is_probed(documented: dict[str, str]) -> None:
    """Where no limitation speaks of its node pool the check stays what it is, and cannot turn into a skip."""
    assert not why_lacking(in_ipv6(WINDOWS), directory(), documented)


def test_a_pod_that_has_the_family_is_probed_whatever_documents_say() -> None:
    """The addresses count, not the expectation: where a limitation does not show flows are run."""
    assert not why_lacking(in_ipv6(WINDOWS), directory(everywhere=True), DOCUMENTED)


def test_clusters_of_one_family_are_not_concerned() -> None:
    """There every Pod has what the cluster has."""
    assert not why_lacking(in_ipv6(WINDOWS), directory(families=(Family.IPV4,)), DOCUMENTED)


def test_a_check_without_its_family_is_done_with_the_reason_and_nothing_is_run(
    bench: Bench,
) -> None:
    """It is skipped at once, and waits for no Service; without a limitation it is not trusted."""
    bench.facts = replace(bench.facts, families=BOTH)
    item = check(in_ipv6(LINUX, TargetKind.SERVICE_CLUSTERIP, on="w1"), id="a")
    observer = bench.observer([item])
    observer.single_stack = DOCUMENTED
    observer.run()
    assert "has no IPv6 address, which limitation" in bench.done("a")["skip"]
    assert bench.raws() == []
    assert bench.records("convergence") == []


def test_an_undocumented_lack_is_not_skipped(bench: Bench) -> None:
    """A Pod that lost its family leaves the check unknown, as what does not stand does."""
    bench.facts = replace(bench.facts, families=BOTH)
    bench.observe(check(in_ipv6(LINUX, on="w1"), id="a"))
    assert bench.done("a").get("skip") is None
    assert "there is no IPv6 address" in bench.done("a")["distrust"]


def test_a_pod_waits_for_nothing_that_it_could_not_probe() -> None:
    """Polling over IPv6 from a Pod that has none would take its whole deadline, and show nothing."""
    assert not can_probe(WINDOWS, Family.IPV6, directory())
    assert can_probe(WINDOWS, Family.IPV4, directory())
    assert can_probe(LINUX, Family.IPV6, directory())
    assert can_probe("probe-of-nobody", Family.IPV6, directory())
    assert can_probe(WINDOWS, Family.IPV6, directory(families=(Family.IPV6,)))


def test_a_node_without_the_family_is_not_waited_for(bench: Bench) -> None:
    """A Windows node's NodePort is reached over IPv6 without polls from its Pods, which have IPv4 alone."""
    bench.facts = replace(bench.facts, families=BOTH)
    server = replace(
        bench.pods["server-linux-1-1"],
        addresses=(*bench.pods["server-linux-1-1"].addresses, ip_address("fd00::1")),
    )
    bench.pods = {**bench.pods, server.name: server}
    bench.observe(check(in_ipv6(LINUX, TargetKind.NODEPORT, on="w1"), id="a"))
    assert "probe-windows-1-1" not in {one["probe"] for one in bench.records("convergence")}
