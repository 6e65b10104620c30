"""Which node pools' Pods need not have both families: what the run's own expectations say, and nothing else."""

from dataclasses import replace

from nettests.expect import resolve
from nettests.model.words import Family
from nettests.plan import build
from nettests.session.blueprint import documented
from tests.facts import Shape, cluster_facts
from tests.manifests.shipped import flows, manifests


def found(plugin: str, *names: str) -> dict[str, str]:
    """Return the node pools of a dual-stack cluster with that plugin, when these flows are run."""
    shape = Shape(
        kubernetes="1.36.2",
        backend="routes",
        build="20348.3207",
        plugin=plugin,
        families=(Family.IPV4, Family.IPV6),
    )
    facts = cluster_facts(shape)
    checks = build(facts, [flow for flow in flows() if flow.name in names]).checks
    expectations = resolve(checks, facts, manifests())
    return dict(documented(checks, expectations))


def test_the_limitation_that_decides_is_named() -> None:
    """With Flannel Windows Pods have IPv4 alone; those on Linux have both, and so with sdnbridge."""
    assert found("flannel", "dual-stack-pods") == {"windows-1": "v6-flannel-pods"}
    assert found("sdnbridge", "dual-stack-pods") == {}


def test_a_run_that_does_not_test_knows_nothing() -> None:
    """Without the check of Pods' families nobody would notice that they lack one: no node pool is named."""
    assert found("flannel", "pod-to-pod-ip") == {}


def test_what_is_undecided_names_nobody() -> None:
    """Where the plugin is not known the expectation is not, and nothing is skipped for it."""
    shape = Shape(
        kubernetes="1.36.2",
        backend="routes",
        build="20348.3207",
        families=(Family.IPV4, Family.IPV6),
    )
    facts = cluster_facts(shape)
    facts = replace(facts, cni=replace(facts.cni, plugin=replace(facts.cni.plugin, value=None)))
    checks = build(facts, [flow for flow in flows() if flow.name == "dual-stack-pods"]).checks
    expectations = resolve(checks, facts, manifests())
    assert any(one.undecided for one in expectations.values())
    assert documented(checks, expectations) == {}
