"""A mixed cluster's facts, as discovery would read them: two Windows Server 2019 nodes, two Linux."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network

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
from nettests.model.words import OS, Family

VERSION = KubernetesVersion(1, 29, 4)
PROXY_LOG = "the log of kube-proxy-windows on this node: FLAG lines"


def linux_node(member: int) -> NodeFacts:
    """Return the ``member``-th Linux node."""
    return NodeFacts(
        name=f"linux-node-{member}",
        os=OS.LINUX,
        pool="linux-1",
        member=member,
        build=unknown("Linux nodes have no Windows build"),
        os_image="Debian GNU/Linux 12 (bookworm)",
        kernel="6.1.0-21-amd64",
        architecture="amd64",
        kubelet=known(VERSION, "status.nodeInfo"),
        runtime=known("containerd://1.7.20", "status.nodeInfo"),
        addresses=(IPv4Address(f"172.30.0.{10 + member}"),),
        pod_cidrs=(IPv4Network(f"10.244.{member - 1}.0/24"),),
        kubelet_port=10250,
        ready=True,
        schedulable=True,
        taints=(),
        kube_proxy=KubeProxyFacts(
            version=known(VERSION, "status.nodeInfo"),
            mode=known("nftables", "ConfigMap kube-system/kube-proxy"),
            dsr=unknown("DSR is a setting of Windows nodes"),
            source_vip=unknown("source VIPs are a setting of Windows nodes"),
        ),
        cni_driver=known("bridge", "ConfigMap kube-flannel/kube-flannel-cfg"),
        host_process=known(value=False, origin="HostProcess containers are a Windows feature"),
    )


def windows_node(member: int) -> NodeFacts:
    """Return the ``member``-th Windows node."""
    return replace(
        linux_node(member),
        name=f"windows-node-{member}",
        os=OS.WINDOWS,
        pool="windows-1",
        build=known(WindowsBuild(17763, 1339), "status.nodeInfo.kernelVersion"),
        os_image="Windows Server 2019 Datacenter",
        kernel="10.0.17763.1339",
        addresses=(IPv4Address(f"172.30.0.{20 + member}"),),
        pod_cidrs=(IPv4Network(f"10.244.{1 + member}.0/24"),),
        taints=(Taint(key="os", value="windows"),),
        kube_proxy=KubeProxyFacts(
            version=known(VERSION, "status.nodeInfo"),
            mode=known("kernelspace", PROXY_LOG),
            dsr=known(value=False, origin=PROXY_LOG),
            source_vip=unknown("no FLAG line names a source VIP"),
        ),
        cni_driver=known("l2bridge", "ConfigMap kube-flannel/kube-flannel-windows-cfg"),
        host_process=known(value=True, origin="containerd 1.7 runs HostProcess containers"),
    )


FACTS = ClusterFacts(
    server_version=VERSION,
    server_git_version="v1.29.4",
    context="staging",
    nodes=(linux_node(1), linux_node(2), windows_node(1), windows_node(2)),
    cni=CniFacts(
        plugin=known("flannel", "DaemonSet kube-flannel/kube-flannel-ds"),
        backend=known("host-gw", "ConfigMap kube-flannel/kube-flannel-cfg"),
        vni=unknown("host-gw has no overlay"),
        vxlan_port=unknown("host-gw has no overlay"),
    ),
    pod_cidrs=known((IPv4Network("10.244.0.0/16"),), "ConfigMap kube-system/kubeadm-config"),
    service_cidrs=known((IPv4Network("10.96.0.0/16"),), "ConfigMap kube-system/kubeadm-config"),
    families=(Family.IPV4,),
    dns_address=known(IPv4Address("10.96.0.10"), "Service kube-system/kube-dns"),
    cluster_domain=known("cluster.local", "ConfigMap kube-system/coredns"),
    external_target=ExternalTarget(
        address=IPv4Address("198.51.100.10"),
        name="server.outside.test",
        tcp_port=80,
        udp_port=8081,
        reports_client_address=True,
    ),
    external_vantage="none",
)
