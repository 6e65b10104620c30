"""Pod to pod: by IP address and by name, seen under the pod's own address."""

from nettests.model.dns_names import POD_FQDN
from nettests.model.expectation import Source
from nettests.model.words import (
    Outcome,
    Protocol,
    Question,
    Resolver,
    SourceSeen,
    TargetKind,
    VantageKind,
)
from nettests.plan import Matrix, Members, NameForm, flow

NETWORKING = Source(
    document="Kubernetes documentation, Networking on Windows", section="Network modes"
)
NETWORK_MODEL = Source(
    document="Kubernetes documentation, Services, Load Balancing, and Networking",
    section="The Kubernetes network model",
)
ISOLATION = Source(
    document="Microsoft, Network isolation and security",
    section="Windows Server containers",
    address="https://learn.microsoft.com/virtualization/windowscontainers/container-networking/network-isolation-security",
)
DNS = Source(document="Kubernetes documentation, DNS for Services and Pods", section="Pods")


@flow(
    "pod-to-pod-ip",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.PAIRS,
    members=Members.EACH_PAIR,
    each_family=True,
    source_seen=SourceSeen.CLIENT_POD,
    facts=(
        "cni-antrea-geneve",
        "flow-pod-pod-ip-same-node",
        "flow-pod-pod-ip-cross-node",
        "flow-firewall-defaults",
        "cni-same-plugin-both-os",
        "tcp-udp-all",
    ),
    sources=(NETWORKING, NETWORK_MODEL),
    required=True,
)
def test_pod_to_pod_ip() -> None:
    """A pod reaches a pod by IP address on any node, and is seen under its own address."""


@flow(
    "pod-to-pod-name",
    source=VantageKind.POD,
    target=TargetKind.POD_NAME,
    matrix=Matrix.PAIRS,
    names=(NameForm(template=POD_FQDN),),
    facts=("flow-pod-pod-name", "svc-headless-env"),
    sources=(NETWORKING, DNS),
)
def test_pod_to_pod_name() -> None:
    """A pod reaches a pod by the name that hostname and subdomain give it."""


@flow(
    "pod-a-record",
    source=VantageKind.POD,
    target=TargetKind.POD_NAME,
    matrix=Matrix.NEAREST,
    question=Question.RESOLVE,
    names=(
        NameForm(
            template="{pod_address}.{namespace}.pod.{domain}",
            resolvers=(Resolver.SYSTEM, Resolver.NSLOOKUP, Resolver.RESOLVE_DNSNAME),
        ),
    ),
    facts=("flow-pod-pod-name",),
    sources=(DNS,),
)
def test_pod_a_record() -> None:
    """A pod resolves the name that the cluster's DNS makes of a pod's address."""


@flow(
    "pod-to-own-ip",
    source=VantageKind.POD,
    target=TargetKind.OWN_IP,
    matrix=Matrix.NEAREST,
    source_seen=SourceSeen.CLIENT_POD,
    facts=("flow-pod-pod-ip-same-node",),
    sources=(NETWORK_MODEL,),
)
def test_pod_to_own_ip() -> None:
    """A pod reaches itself at the address by which others reach it."""


@flow(
    "pod-to-closed-port",
    source=VantageKind.POD,
    target=TargetKind.POD_CLOSED_PORT,
    matrix=Matrix.PAIRS,
    protocols=(Protocol.TCP,),
    outcome=Outcome.REFUSED,
    facts=("flow-closed-port-pod", "flow-firewall-defaults"),
    sources=(ISOLATION, NETWORK_MODEL),
)
def test_pod_to_closed_port() -> None:
    """A port of a pod on which nothing listens refuses connections, and does not drop them silently."""
