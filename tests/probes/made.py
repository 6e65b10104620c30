"""A small mixed cluster for the tests of probes: facts, a deployment, and checks by hand."""

import ipaddress
from dataclasses import replace
from typing import Any

from nettests.model.check import Action, Check, Control, ProbePod, Target, Vantage
from nettests.model.expectation import Expected
from nettests.model.facts import (
    ClusterFacts,
    CniFacts,
    ExternalTarget,
    KubeProxyFacts,
    NodeFacts,
    Taint,
    known,
    unknown,
)
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.model.words import (
    OS,
    Family,
    Outcome,
    Placement,
    Protocol,
    TargetKind,
    VantageKind,
)
from nettests.probes.deployment import Deployment, StandingPod, StandingService

NAMESPACE = "nettests-run"


def node(name: str, os: OS, member: int, address: str, pod_cidr: str) -> NodeFacts:
    """Return one node; the Windows ones are tainted and have a source VIP."""
    windows = os is OS.WINDOWS
    return NodeFacts(
        name=name,
        os=os,
        pool=f"{os.value}-1",
        member=member,
        build=known(WindowsBuild(17763, 1339), "test") if windows else unknown("Linux"),
        os_image="",
        kernel="",
        architecture="amd64",
        kubelet=known(KubernetesVersion(1, 29, 4), "test"),
        runtime=known("containerd://1.7.20", "test"),
        addresses=(ipaddress.ip_address(address),),
        pod_cidrs=(ipaddress.ip_network(pod_cidr),),
        kubelet_port=10250,
        ready=True,
        schedulable=True,
        taints=(Taint(key="os", value="windows"),) if windows else (),
        kube_proxy=KubeProxyFacts(
            version=unknown("test"),
            mode=unknown("test"),
            dsr=unknown("test"),
            source_vip=(
                known(ipaddress.ip_address(pod_cidr.replace(".0/24", ".2")), "test")
                if windows
                else unknown("test")
            ),
        ),
        cni_driver=unknown("test"),
        host_process=known(value=True, origin="test") if windows else unknown("Linux"),
    )


FACTS = ClusterFacts(
    server_version=KubernetesVersion(1, 29, 4),
    server_git_version="v1.29.4",
    context="test",
    nodes=(
        node("n1", OS.LINUX, 1, "172.30.0.11", "10.244.1.0/24"),
        node("w1", OS.WINDOWS, 1, "172.30.0.21", "10.244.3.0/24"),
    ),
    cni=CniFacts(
        plugin=unknown("test"), backend=unknown("test"), vni=unknown("test"), vxlan_port=unknown("test")
    ),
    pod_cidrs=unknown("test"),
    service_cidrs=unknown("test"),
    families=(Family.IPV4,),
    dns_address=unknown("test"),
    cluster_domain=known("cluster.local", "test"),
    external_target=ExternalTarget(
        address=ipaddress.ip_address("198.51.100.10"),
        name="server.outside.test",
        tcp_port=80,
        udp_port=8081,
        reports_client_address=True,
    ),
    external_vantage="none",
)  # fmt: skip


def standing(name: str, on: str, purpose: str, address: str) -> StandingPod:
    """Return a Ready pod."""
    return StandingPod(
        name=name,
        node=on,
        purpose=purpose,
        addresses=(ipaddress.ip_address(address),),
        host_addresses=FACTS.node(on).addresses,
    )


def deployed(**problems: str) -> Deployment:
    """Return what stands on the cluster: probe, server and node pods, and a Service."""
    pods = (
        standing("probe-linux-1-1", "n1", "probe", "10.244.1.10"),
        standing("server-linux-1-1", "n1", "server", "10.244.1.11"),
        standing("node-linux-1-1", "n1", "node", "172.30.0.11"),
        standing("probe-windows-1-1", "w1", "probe", "10.244.3.10"),
        standing("server-windows-1-1", "w1", "server", "10.244.3.11"),
        standing("node-windows-1-1", "w1", "node", "172.30.0.21"),
    )
    return Deployment(
        namespace=NAMESPACE,
        pods={pod.name: pod for pod in pods if pod.name not in problems},
        services={
            "svc-server-linux-1-1": StandingService(
                name="svc-server-linux-1-1",
                addresses=(ipaddress.ip_address("10.96.1.1"),),
                node_ports={"hostname": 30080, "clientip": 30082, "udp": 30081},
                backends=("server-linux-1-1",),
            )
        },
        problems=problems,
    )


PODS = (
    ProbePod(name="probe-windows-1-1", purpose="probe", node="w1", os=OS.WINDOWS, pool="windows-1"),
    ProbePod(name="server-linux-1-1", purpose="server", node="n1", os=OS.LINUX, pool="linux-1"),
    ProbePod(name="node-linux-1-1", purpose="node", node="n1", os=OS.LINUX, pool="linux-1"),
    ProbePod(name="node-windows-1-1", purpose="node", node="w1", os=OS.WINDOWS, pool="windows-1"),
)


def vantage(probe: str) -> Vantage:
    """Return the vantage of a probe by its name."""
    if probe == "external":
        return Vantage(kind=VantageKind.EXTERNAL, probe=probe)
    purpose, os, *_ = probe.split("-")
    found = FACTS.nodes[0] if os == "linux" else FACTS.nodes[1]
    return Vantage(
        kind=VantageKind.POD if purpose == "probe" else VantageKind.NODE,
        probe=probe,
        pool=found.pool,
        os=found.os,
        node=found.name,
    )


def action(
    probe: str,
    kind: TargetKind,
    protocol: Protocol = Protocol.TCP,
    *,
    on: str | None = "n1",
    **more: Any,
) -> Action:
    """Return a question from a probe to the Linux server pod, its Service or its node."""
    names: dict[str, Any] = {
        TargetKind.POD_IP: {"pod": "server-linux-1-1"},
        TargetKind.POD_NAME: {"pod": "server-linux-1-1"},
        TargetKind.NODE_IP: {},
        TargetKind.EXTERNAL_IP: {},
        TargetKind.EXTERNAL_NAME: {},
    }.get(kind, {"service": "svc-server-linux-1-1"})
    target = {key: more.pop(key) for key in ("name_form", "pod", "service") if key in more}
    external = kind in {TargetKind.EXTERNAL_IP, TargetKind.EXTERNAL_NAME}
    return Action(
        source=vantage(probe),
        target=Target(kind=kind, node=None if external else on, **(names | target)),
        protocol=protocol,
        **more,
    )


def check(question: Action, *controls: Control, id: str = "flow/a/b", **more: Any) -> Check:  # noqa: A002
    """Return a check that probes a question."""
    return Check(
        id=id,
        flow="flow",
        title="",
        action=question,
        placement=Placement.OTHER_NODE,
        claim=Expected(outcome=Outcome.CONNECTED),
        controls=controls,
        sources=(),
        **more,
    )


def without_target() -> ClusterFacts:
    """Return the facts of a cluster whose profile declares nothing outside."""
    return replace(FACTS, external_target=None)
