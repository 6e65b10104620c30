"""The shipped suites: their flows, their style, and that they know nothing of the lab."""

import ast
import inspect
from pathlib import Path

import pytest

from nettests.plan import load
from nettests.resources import suites_path

MODULES = sorted(suites_path().glob("*.py"))
DUE = {
    *("daemon-set-pod", "deployment-rollout", "job-completion", "cron-job-schedule"),
    *("pod-anti-affinity", "pod-attach"),
    "cluster-readiness",
    "service-during-changes",
    "nodeport-at-empty-node",
    "udp-flow-after-change",
    "service-beside-sctp",
    "pod-to-cloud-metadata",
    "pod-volumes",
    "network-policy",
    "windows-unknown-account",
    "pod-single-file",
    "pod-file-modes",
    "pod-memory-volume",
    "pod-restarting-probes",
    "pod-pre-stop-hook",
    "pod-termination-message",
    "pod-exit-code",
    "pod-service-links",
    "pod-node-selector",
    "windows-huge-pages",
    "many-connections",
    "many-connections-outside",
    "many-services",
    "many-services-removed",
    "service-beside-many",
    "witnessed-outbound-nat",
    "witnessed-pod-to-pod",
    "witnessed-service",
    "new-pod-first-packets",
    "connection-loss",
    "path-loss",
    "path-mtu",
    "payload-1mib-pod-to-pod",
    "payload-1mib-pod-to-service",
    "payload-nodeport-from-pod",
    "payload-pod-to-pod",
    "payload-pod-to-service",
    "pod-hook-other-node",
    "pod-to-pod-idle",
    "pod-to-pod-idle-other-node",
    "pod-to-service-idle",
    "pod-to-external-idle",
    "new-pods-at-once",
    "service-pod-same-address",
    "runtime-class-steering",
    "service-topology-hints",
    "stateful-set-names",
    "service-64-backends",
    "service-65-backends",
    "affinity-timeout",
    "pod-service-variables",
    "etp-local-clusterip",
    "service-distribution",
    "service-hairpin-source",
    "service-host-process-backend",
    "service-two-target-ports",
    "service-unready-backend",
    "service-without-selector",
    "service-after-churn",
    "nodeport-endpoints-changed",
    "service-endpoints-changed",
    "loadbalancer-endpoints-changed",
    "service-pod-replaced",
    "service-port-renamed",
    "service-sibling-deleted",
    "dns-headless-service",
    "dns-no-such-name",
    "dns-other-namespace",
    "dns-other-namespace-partial",
    "dns-pod-name",
    "dns-policy-default",
    "dns-policy-default-cluster-name",
    "dns-policy-host-network",
    "dns-policy-none",
    "dns-policy-none-servers",
    "dns-via-pod",
    "dns-via-service",
    "dsr-source-address",
    "dual-stack-nodeport-local",
    "dual-stack-service",
    "etp-local-client-address",
    "etp-local-no-local-backend",
    "hostport-bound-elsewhere",
    "hostport-bound-to-loopback",
    "hostport-from-external",
    "hostport-from-other-node",
    "hostport-from-own-node",
    "icmp-egress",
    "icmp-node-to-external",
    "icmp-packet-at-mtu",
    "icmp-packet-beyond-mtu",
    "icmp-pod-to-node",
    "icmp-pod-to-pod",
    "icmp-pod-to-service",
    "itp-local-no-local-backend",
    "itp-local-own-node",
    "health-check-local-backend",
    "health-check-no-local-backend",
    "loadbalancer-affinity",
    "loadbalancer-from-external",
    "loadbalancer-local-policy",
    "loadbalancer-preserve-destination",
    "witnessed-preserve-destination",
    "loadbalancer-source-address",
    "loadbalancer-source-ranges",
    "loadbalancer-terminating-backends",
    "service-terminating-backends",
    "pod-to-loadbalancer",
    "service-external-ip",
    "external-ip-source-address",
    "node-to-external-name",
    "node-to-pod",
    "node-to-service-clusterip",
    "node-to-service-source-address",
    "nodeport-from-external",
    "nodeport-from-local-node",
    "nodeport-from-other-node",
    "nodeport-from-pod-other-node",
    "nodeport-from-pod-own-node",
    "nodeport-localhost",
    "nodeport-no-endpoints",
    "nodeport-from-pod-source-address",
    "nodeport-from-node-source-address",
    "nodeport-source-address",
    "pod-a-record",
    "pod-to-closed-port",
    "pod-to-external-dns",
    "pod-to-external-ip",
    "pod-to-external-source-address",
    "pod-to-node",
    "pod-to-node-closed-port",
    "pod-to-own-ip",
    "pod-to-pod-ip",
    "pod-to-pod-name",
    "pod-to-service-clusterip",
    "pod-to-service-fqdn",
    "pod-to-service-partial-name",
    "pod-to-service-pqdn",
    "service-external-name",
    "service-hairpin",
    "service-headless",
    "service-named-port",
    "service-no-endpoints",
    "session-affinity",
}


def functions_of(module: Path) -> list[ast.FunctionDef]:
    """Return the test functions of a suite module."""
    tree = ast.parse(module.read_text())
    return [item for item in tree.body if isinstance(item, ast.FunctionDef)]


def test_every_flow_is_declared() -> None:
    """The shipped suites declare the nine documented flows and what belongs to them."""
    assert {flow.name for flow in load([suites_path()]).flows} >= DUE


def test_every_flow_names_its_source() -> None:
    """A claim comes from a document and a section of it."""
    for flow in load([suites_path()]).flows:
        assert flow.sources, flow.name
        assert all(source.document and source.section for source in flow.sources), flow.name


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_suite_tests_are_their_claims_alone(module: Path) -> None:
    """A suite test names no argument and has no body: what decides is elsewhere."""
    for test in functions_of(module):
        assert ast.get_docstring(test), test.name
        assert ast.unparse(test.args) == "", test.name
        assert test.body[1:] == [], test.name


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_every_test_of_a_suite_declares_a_flow(module: Path) -> None:
    """No suite test runs outside the plan."""
    assert len(functions_of(module)) == len(load([module]).flows)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_suites_know_nothing_of_the_lab(module: Path) -> None:
    """Suites import vocabulary and planning only; whether the cluster is real is not their matter."""
    tree = ast.parse(module.read_text())
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= {
        "nettests.model.dns_names",
        "nettests.model.expectation",
        "nettests.model.verdict",
        "nettests.model.words",
        "nettests.model.workload",
        "nettests.plan",
    }
    assert "lab" not in inspect.cleandoc(module.read_text()).lower().split()
