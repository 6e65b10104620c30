"""Where documents disagree, conditions split versions: what is expected on both sides of each border."""

import re

import pytest

from tests.facts import Shape, cluster_facts
from tests.manifests.shipped import expectations

SPLITS = [
    # C2: node → ClusterIP is denied without DSR before 17763.1432, and left open otherwise.
    (
        "node-to-service-clusterip",
        "17763.1431",
        "1.24",
        False,
        "refused or timed_out or unreachable",
    ),
    ("node-to-service-clusterip", "17763.1432", "1.24", False, "unspecified"),
    ("node-to-service-clusterip", "20348.3207", "1.33", False, "unspecified"),
    ("node-to-service-clusterip", "17763.1339", "1.24", True, "unspecified"),
    # C3: the node's own NodePort is denied before 17763.1432 or kube-proxy 1.15.
    ("nodeport-from-local-node", "17763.1431", "1.24", False, "refused or timed_out"),
    ("nodeport-from-local-node", "17763.1432", "1.14", False, "refused or timed_out"),
    ("nodeport-from-local-node", "17763.1432", "1.15", False, "unspecified"),
    ("nodeport-from-local-node", "20348.3207", "1.33", True, "unspecified"),
    # C4: affinity works from kube-proxy 1.19 on 20348, and nowhere before.
    ("session-affinity", "19042.1", "1.24", False, "several-backends"),
    ("session-affinity", "20348.1", "1.18", False, "several-backends"),
    ("session-affinity", "20348.1", "1.19", False, "as claimed"),
    ("session-affinity", "26100.1", "1.36", True, "as claimed"),
    # C1: documents differ in the first update and release with DSR, but kube-proxy starts with it only where HNS has it.
    ("dsr-source-address", "17763.1431", "1.24", True, "as claimed"),
    ("dsr-source-address", "17763.1432", "1.24", True, "as claimed"),
    ("dsr-source-address", "18362.1", "1.24", True, "as claimed"),
    ("dsr-source-address", "19041.1", "1.24", True, "as claimed"),
    ("dsr-source-address", "20348.3207", "1.33", False, "client-node"),
    # C12: externalTrafficPolicy Local is ignored before kube-proxy 1.20 and where HNS cannot do DSR; elsewhere HNS is told the same with and without --enable-dsr.
    ("etp-local-no-local-backend", "20348.3207", "1.19", True, "connected"),
    ("etp-local-no-local-backend", "20348.3207", "1.20", True, "as claimed"),
    ("etp-local-no-local-backend", "20348.3207", "1.20", False, "as claimed"),
    ("etp-local-no-local-backend", "17763.1396", "1.24", False, "connected"),
    ("etp-local-no-local-backend", "17763.1397", "1.24", False, "as claimed"),
    ("etp-local-no-local-backend", "17763.1431", "1.24", True, "as claimed"),
    ("etp-local-client-address", "20348.3207", "1.19", True, "target-node"),
    ("etp-local-client-address", "17763.1396", "1.24", False, "target-node"),
    ("etp-local-client-address", "17763.1397", "1.24", False, "as claimed"),
    ("etp-local-client-address", "20348.3207", "1.33", True, "as claimed"),
    # C13: internalTrafficPolicy Local is ignored before the releases of January 2023, and honoured from then on.
    ("itp-local-no-local-backend", "20348.3207", "1.24.9", True, "connected"),
    ("itp-local-no-local-backend", "20348.3207", "1.24.10", True, "as claimed"),
    ("itp-local-no-local-backend", "20348.3207", "1.26", True, "connected"),
    ("itp-local-no-local-backend", "20348.3207", "1.26.1", True, "as claimed"),
    # C24: pings to the outside are denied; with Calico alone they are left open from the updates of December 2025 on.
    ("icmp-egress", "17763.8000", "1.24", False, "timed_out or unreachable"),
    ("icmp-egress", "20348.4528", "1.33", True, "timed_out or unreachable"),
    ("icmp-egress", "20348.4529", "1.33", True, "timed_out or unreachable"),
    ("icmp-egress", "25398.1", "1.33", True, "timed_out or unreachable"),
    ("icmp-egress", "26100.7461", "1.36", True, "timed_out or unreachable"),
    ("icmp-egress", "26100.7462", "1.36", True, "timed_out or unreachable"),
    # C30: regressions of single builds of 20348 only.
    ("pod-to-pod-ip", "20348.260", "1.24", True, "as claimed"),
    ("pod-to-pod-ip", "20348.261", "1.24", True, "unspecified"),
    ("pod-to-pod-ip", "20348.803", "1.24", True, "unspecified"),
    ("pod-to-pod-ip", "20348.804", "1.24", True, "as claimed"),
    ("pod-to-pod-ip", "20348.500", "1.24", False, "as claimed"),
    ("icmp-pod-to-pod", "20348.2226", "1.28", False, "as claimed"),
    ("icmp-pod-to-pod", "20348.2227", "1.28", False, "unspecified"),
    ("icmp-pod-to-pod", "20348.2762", "1.28", False, "as claimed"),
    ("loadbalancer-affinity", "20348.2226", "1.28", False, "unspecified"),
    ("loadbalancer-affinity", "20348.2227", "1.28", False, "as claimed"),
    ("loadbalancer-affinity", "19042.1", "1.28", False, "as claimed"),
]


@pytest.mark.parametrize(("flow", "build", "kubernetes", "dsr", "expected"), SPLITS)
def test_conflicts_of_sources_split_versions(
    flow: str, build: str, kubernetes: str, expected: str, *, dsr: bool
) -> None:
    """Where documents disagree the outcome changes exactly at the version that splits them."""
    shape = Shape(kubernetes=kubernetes, backend="host-gw", build=build, dsr=dsr)
    found = {
        check: one
        for check, one in expectations(cluster_facts(shape)).items()
        if re.match(
            rf"{flow}/(windows-1/(windows-1/other-node|windows-1/same-node|external)|external/windows-1)",
            check,
        )
    }
    remote = {check: one for check, one in found.items() if "/other-node/" in check} or found
    assert remote
    for check, one in remote.items():
        assert one.undecided is None, check
        told = "as claimed" if one.expected == one.claim else str(one.expected or "unspecified")
        assert told.endswith(expected), (check, told)


@pytest.mark.parametrize(
    ("case", "kubernetes", "limitation"),
    [
        ("load-balancers", "1.19.16", ""),
        ("load-balancers", "1.24.17", ""),
        ("stale-load-balancers", "1.25.4", "svc-stale-vip-leak"),
        ("stale-load-balancers", "1.25.5", ""),
        ("local-policy-load-balancers", "1.19.16", ""),
        ("local-policy-load-balancers", "1.20.0", "svc-clusterip-missing-etp-local"),
        ("local-policy-load-balancers", "1.26.2", "svc-clusterip-missing-etp-local"),
        ("local-policy-load-balancers", "1.26.3", ""),
    ],
)
def test_a_bug_of_kube_proxy_opens_its_own_part_of_an_inspection(
    case: str, kubernetes: str, limitation: str
) -> None:
    """What HNS lacks or keeps is left open for the versions with the bug; everything else is demanded of all."""
    shape = Shape(kubernetes=kubernetes, backend="host-gw", build="20348.3207")
    one = expectations(cluster_facts(shape))[f"hns-load-balancers/windows-1/{case}"]
    assert (one.limitation.id if one.limitation else "") == limitation
    assert (one.expected is None) is bool(limitation)


@pytest.mark.parametrize(
    ("plugin", "platform", "limitation"),
    [
        ("azure-cni", "aks", "client-ip-aks"),
        ("cilium", "aks", "client-ip-aks"),
        ("azure-cni", "other", ""),
        ("flannel", "other", ""),
    ],
)
def test_azure_leaves_clients_addresses_open_where_others_promise_them(
    plugin: str, platform: str, limitation: str
) -> None:
    """C12: with DSR externalTrafficPolicy Local keeps a client's address, but for AKS, whose FAQ denies it."""
    shape = Shape(
        kubernetes="1.33.5",
        plugin=plugin,
        platform=platform,
        backend="vnet",
        driver="l2tunnel",
        build="20348.3207",
        dsr=True,
    )
    found = expectations(cluster_facts(shape))
    one = found["etp-local-client-address/external/windows-1/outside/tcp/backend-local"]
    assert (one.limitation.id if one.limitation else "") == limitation
    assert (one.expected is None) is bool(limitation)
    honoured = found["etp-local-no-local-backend/external/windows-1/outside/tcp/backend-linux-1"]
    assert honoured.expected == honoured.claim


@pytest.mark.parametrize(
    ("flow", "driver", "kubernetes", "dsr", "seen"),
    [
        ("loadbalancer-source-address", "overlay", "1.16", False, "source-vip"),
        ("loadbalancer-source-address", "overlay", "1.20", False, "source-vip"),
        ("loadbalancer-source-address", "overlay", "1.21", False, "source-vip"),
        ("loadbalancer-source-address", "overlay", "1.22", False, "source-vip"),
        ("loadbalancer-source-address", "overlay", "1.22", True, "source-vip"),
        ("loadbalancer-source-address", "overlay", "1.21", True, "client-pod"),
        ("loadbalancer-source-address", "l2bridge", "1.21", True, "client-pod"),
        ("loadbalancer-source-address", "l2bridge", "1.21", False, "client-node"),
        ("loadbalancer-source-address", "l2bridge", "1.22", True, "client-node"),
        ("external-ip-source-address", "overlay", "1.18", False, "source-vip"),
        ("external-ip-source-address", "overlay", "1.19", True, "source-vip"),
        ("external-ip-source-address", "l2bridge", "1.19", True, "client-node"),
        ("external-ip-source-address", "overlay", "1.20", True, "source-vip"),
        ("external-ip-source-address", "l2bridge", "1.20", True, "client-node"),
    ],
)
def test_whom_backends_see_behind_outer_addresses(
    flow: str, driver: str, kubernetes: str, seen: str, *, dsr: bool
) -> None:
    """Only DSR of the policy itself keeps the source: kube-proxy's version and flag say where that is."""
    shape = Shape(
        kubernetes=kubernetes,
        backend="vxlan" if driver == "overlay" else "host-gw",
        driver=driver,
        build="17763.2000",
        dsr=dsr,
        source_vip=driver == "overlay",
    )
    one = expectations(cluster_facts(shape))[f"{flow}/windows-1/windows-1/other-node/tcp"]
    told = one.expected.source_seen if one.expected else None
    assert (str(told) if told else "unspecified") == seen
