"""Mechanisms of the emulation that a user may switch against what builds and settings say.

``nettests lab up --mechanism NAME=VALUE``. The API does not show a switched mechanism: nodes keep their builds and
kube-proxy its arguments, so that behaviour deviates from the documents. Each switch changes how packets, names or
pods are treated; none names an outcome. Pure.
"""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from nettests.lab.errors import LabError

Switched = tuple[tuple[str, int], ...]
"""Names with their values; on and off are 1 and 0."""

_WORDS = {"on": 1, "off": 0}


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One switch; ``counts`` says that its value is a number, otherwise it is on or off."""

    name: str
    summary: str
    counts: bool = False


MECHANISMS = (
    Mechanism("session-affinity", "HNS honours the SourceIP distribution (ClientIP affinity)"),
    Mechanism("affinity-timeout", "load balancers forget clients after their affinity's time-out"),
    Mechanism("external-traffic-local", "kube-proxy honours externalTrafficPolicy Local"),
    Mechanism("internal-traffic-local", "kube-proxy honours internalTrafficPolicy Local"),
    Mechanism("dsr", "load balancers keep the client's address, whatever --enable-dsr says"),
    Mechanism("bridge-source-vip", "on l2bridge load balancers rewrite to an address for Pods"),
    Mechanism("loopback-dsr", "a pod's flow to itself through a DSR load balancer is rewritten"),
    Mechanism("host-rules", "ClusterIP rules sit on the host's own switch port"),
    Mechanism("local-routed-vip", "the node's packets to its own NodePorts visit the switch"),
    Mechanism("empty-node-ports", "a node without pods of its network forwards NodePorts too"),
    Mechanism("port-mappings", "the network plugin maps host ports to Windows pods"),
    Mechanism("port-mappings-ipv6", "host ports of pods with both families answer on IPv6 too"),
    Mechanism("local-port-mappings", "the node's packets to its own host ports visit the switch"),
    Mechanism("backend-limit", "destinations that one HNS load balancer takes", counts=True),
    Mechanism("one-internal-port", "a load balancer dials all its backends at one port"),
    Mechanism("host-network-backends", "backends with the node's own address are load-balanced"),
    Mechanism("load-balancer-controller", "Services of type LoadBalancer are assigned addresses"),
    Mechanism("load-balancer-addresses", "kube-proxy programs addresses of load balancers"),
    Mechanism("external-ips", "kube-proxy programs externalIPs"),
    Mechanism("source-ranges", "kube-proxy enforces loadBalancerSourceRanges"),
    Mechanism("preserve-destination", "kube-proxy follows the annotation preserve-destination"),
    Mechanism("preserved-sources", "packets whose destination is kept keep their source too"),
    Mechanism("terminating-fallback", "balanced Services fall back on terminating endpoints"),
    Mechanism("terminating-everywhere", "every Service falls back on terminating endpoints"),
    Mechanism("unserving-backends", "kube-proxy balances to ready endpoints that do not serve"),
    Mechanism("endpoint-slices", "kube-proxy reads EndpointSlices; off: Endpoints"),
    Mechanism("topology-hints", "kube-proxy keeps to backends that are hinted for its zone"),
    Mechanism("health-check-ports", "kube-proxy answers at the health check ports of Services"),
    Mechanism("flow-ageing", "the switch forgets TCP flows between its pods that were idle"),
    Mechanism(
        "network-policies", "the plugin's agent binds pods by NetworkPolicies of type Egress"
    ),
    Mechanism("refuse-unserved", "the switch refuses what no load balancer took"),
    Mechanism("outbound-nat", "OutBoundNAT translates what leaves the cluster"),
    Mechanism("excepted-nodes", "the plugin excepts the nodes' network from OutBoundNAT"),
    Mechanism("excepted-world", "the plugin excepts all addresses from OutBoundNAT, 0.0.0.0/0"),
    Mechanism("own-node-route", "the plugin routes Pods' packets to their own node to its host"),
    Mechanism("outbound-icmp", "OutBoundNAT translates ICMP too"),
    Mechanism("host-encapsulates", "the host's packets to remote pods enter the overlay"),
    Mechanism("stealth", "the host's firewall hides closed ports"),
    Mechanism("dual-stack", "Windows pods and load balancers have both families of the cluster"),
    Mechanism("unasked-ipv6", "the plugin gives Windows pods an IPv6 address on an overlay too"),
    Mechanism(
        "required-families", "Load balancers of the second family hold Pods of their own node"
    ),
    Mechanism(
        "family-in-key", "kube-proxy keeps the load balancers of a NodePort's families apart"
    ),
    Mechanism("dotted-suffixes", "the Windows DNS client appends suffixes to dotted names"),
    Mechanism("nslookup-suffixes", "nslookup in Windows pods appends suffixes to dotted names"),
    Mechanism("dns-policy", "Windows pods resolve as their dnsPolicy and dnsConfig say"),
    Mechanism("dns-suffixes", "DNS suffixes that a Windows pod is given, at most", counts=True),
    Mechanism("resolv-conf", "Windows pods resolve by a resolv.conf that they mount"),
    Mechanism("pod-identity", "Pods of a StatefulSet have a host name below its Service's"),
    Mechanism("rolling-updates", "Deployments replace their Pods one after the other"),
    Mechanism("finished-pods", "Jobs count their Pods that have ended"),
    Mechanism("anti-affinity", "the scheduler keeps Pods apart as their anti-affinity requires"),
    Mechanism("host-network", "containerd honours hostNetwork of ordinary Windows pods"),
    Mechanism("windows-pod-rules", "the API refuses pod fields that os.name: windows rules out"),
    Mechanism(
        "windows-container-rules",
        "the API refuses container fields that os.name: windows rules out",
    ),
    Mechanism("host-process-rules", "the API refuses Pods of which only a part is HostProcess"),
    Mechanism(
        "windows-pod-security",
        "the restricted level demands no fields of Linux where os.name is windows",
    ),
    Mechanism("runtime-classes", "Pods get the scheduling of the RuntimeClass that they name"),
    Mechanism("pod-os", "the kubelet rejects pods for another operating system"),
    Mechanism("run-as-non-root", "the kubelet keeps ContainerAdministrator from runAsNonRoot"),
    Mechanism("huge-pages", "Windows nodes offer huge pages"),
    Mechanism("service-links", "kubelets on Windows name a namespace's Services in variables"),
    Mechanism("accounts", "containers on Windows run as accounts of their own image alone"),
    Mechanism("volumes", "kubelets on Windows show containers the volumes of their pod"),
    Mechanism("memory-volumes", "kubelets on Linux back an emptyDir of medium Memory by memory"),
    Mechanism("single-files", "the runtime on Windows mounts single files"),
    Mechanism("file-modes", "Windows heeds the modes of files in volumes"),
    Mechanism("exit-codes", "containers on Windows end with the code of their program"),
    Mechanism("liveness-probes", "kubelets on Windows run liveness and startup probes"),
    Mechanism("pre-stop-hooks", "kubelets on Windows run preStop hooks"),
    Mechanism("forward-to-address", "containerd forwards ports to a Windows pod's address"),
    Mechanism("service-recovery", "services of Windows nodes are started again when they fail"),
    Mechanism("cluster-dns", "the kubelets of Windows nodes give Pods the cluster's DNS"),
    Mechanism("own-resolver", "the kubelets of Windows nodes are given no resolv.conf of Linux"),
    Mechanism("pause-image", "minor N of the pause image 3.N of Windows nodes", counts=True),
    Mechanism("rejoined-subnet", "SourceVip.json of Windows nodes is of another subnet"),
    Mechanism("half-proxied", "Windows nodes have HTTP_PROXY and no HTTPS_PROXY"),
    Mechanism("google-labels", "nodes bear the labels by which Google's managed service is known"),
    Mechanism("cloud-metadata", "the cloud's metadata address is answered outside"),
    Mechanism("underlay-vxlan", "the network below nodes takes VXLAN's datagrams for its own"),
    Mechanism("calico-ipip", "Calico's pool encapsulates by IP in IP"),
    Mechanism("flannel-release", "minor N of Flannel 0.N on Windows nodes", counts=True),
    Mechanism("flannel-waits", "flanneld on Windows nodes waits for its network"),
    Mechanism(
        "proxy-left-behind", "Windows nodes have a service kube-proxy beside what replaces it"
    ),
    Mechanism(
        "cni-version", "minor N of the CNI version 0.N.0 that Flannel's files request", counts=True
    ),
    Mechanism(
        "settings-policies",
        "policies in Flannel's files have Settings, as Microsoft's plugins query",
    ),
    Mechanism("graceful-end", "processes of Windows pods are told of their end, and waited for"),
    Mechanism(
        "grace-limit", "seconds that processes of Windows pods are waited for, at most", counts=True
    ),
)
"""All switches, in the order of the data plane: kube-proxy, switch, host, names, pods."""


def read(texts: Iterable[str]) -> Switched:
    """Return what ``NAME=VALUE`` texts switch; ``LabError`` names the nearest valid name or value."""
    switched: dict[str, int] = {}
    for text in texts:
        name, _, value = text.partition("=")
        switched[_mechanism(name).name] = _value(_mechanism(name), value)
    return tuple(sorted(switched.items()))


def _mechanism(name: str) -> Mechanism:
    names = {mechanism.name: mechanism for mechanism in MECHANISMS}
    if name in names:
        return names[name]
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    meant = f'Did you mean "{near[0]}"?' if near else "nettests lab mechanisms lists them."
    raise LabError(f'There is no mechanism "{name}".', hint=meant)


def _value(mechanism: Mechanism, text: str) -> int:
    if mechanism.counts and text.isdecimal():
        return int(text)
    if not mechanism.counts and text in _WORDS:
        return _WORDS[text]
    wanted = "a number" if mechanism.counts else "on or off"
    raise LabError(
        f'Mechanism "{mechanism.name}" takes {wanted}, not "{text}".',
        hint=f"--mechanism {mechanism.name}={'64' if mechanism.counts else 'on'}",
    )
