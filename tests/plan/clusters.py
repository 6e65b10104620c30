"""Clusters as discovery would describe them, built for tables of plans: what matters is stated."""

from dataclasses import replace
from ipaddress import ip_address
from typing import Any

from nettests.model.check import Check, Plan
from nettests.model.facts import (
    ClusterFacts,
    CniFacts,
    ExternalTarget,
    Fact,
    KubeProxyFacts,
    NodeFacts,
    known,
    unknown,
)
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.model.words import OS, Family

ORIGIN = "test"
OUTSIDE = ExternalTarget(
    address=ip_address("198.51.100.10"), name="server.outside.test", tcp_port=80, udp_port=8081
)


def node(
    pool: str, member: int, *, build: str = "17763.1339", host_process: bool = True
) -> NodeFacts:
    """Return a Ready node of a node pool; the node pool's first word is its OS."""
    os = OS(pool.rpartition("-")[0])
    windows = os is OS.WINDOWS
    return NodeFacts(
        name=f"node-{pool}-{member}-x7",
        os=os,
        pool=pool,
        member=member,
        build=known(WindowsBuild.parse(build), ORIGIN) if windows else unknown("a Linux node"),
        os_image="",
        kernel="",
        architecture="amd64",
        kubelet=known(KubernetesVersion(1, 20), ORIGIN),
        runtime=known("containerd://1.7.20", ORIGIN),
        addresses=(ip_address(f"172.30.{len(pool)}.{member}"),),
        pod_cidrs=(),
        kubelet_port=10250,
        ready=True,
        schedulable=True,
        taints=(),
        kube_proxy=KubeProxyFacts(version=_no(), mode=_no(), dsr=_no(), source_vip=_no()),
        cni_driver=_no(),
        host_process=known(host_process, ORIGIN) if windows else unknown("a Linux node"),
    )


def cluster(
    *nodes: NodeFacts,
    external: ExternalTarget | None = OUTSIDE,
    vantage: str = "proxy",
    denied: tuple[str, ...] = (),
) -> ClusterFacts:
    """Return a cluster of these nodes, with an outside unless told otherwise."""
    return ClusterFacts(
        server_version=KubernetesVersion(1, 20),
        server_git_version="v1.20.0",
        context="test",
        nodes=nodes,
        cni=CniFacts(plugin=_no(), backend=_no(), vni=_no(), vxlan_port=_no()),
        pod_cidrs=_no(),
        service_cidrs=_no(),
        families=(Family.IPV4,),
        dns_address=known(ip_address("10.96.0.10"), ORIGIN),
        cluster_domain=known("cluster.local", ORIGIN),
        external_target=external,
        external_vantage=vantage,
        denied=denied,
        pod_records=known(value=True, origin=ORIGIN),
        dns_pods=known((ip_address("10.244.1.2"),), ORIGIN),
    )


def mixed() -> ClusterFacts:
    """Return two Linux and two Windows nodes with everything that flows may need."""
    return cluster(
        node("linux-1", 1), node("linux-1", 2), node("windows-1", 1), node("windows-1", 2)
    )


def without(facts: ClusterFacts, pool: str, *, keep: int = 0) -> ClusterFacts:
    """Return the cluster with only the first ``keep`` members of a node pool."""
    kept = tuple(n for n in facts.nodes if n.pool != pool or n.member <= keep)
    return replace(facts, nodes=kept)


def _no() -> Fact[Any]:
    return unknown("not part of this test")


def alone(plan: Plan) -> Plan:
    """Return the plan with the first member of each check in the check's place, for stories of one path each."""
    return replace(plan, checks=tuple(map(first_member, plan.checks)))


def first_member(check: Check) -> Check:
    """Return the member of a check between its first nodes, as the check itself."""
    member = min(check.each, key=lambda one: (one.source.node or "", one.target.node or ""))
    return replace(member, id=check.id, title=check.title)
