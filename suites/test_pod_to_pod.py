"""Pods reach pods by IP address and by name, and are seen under their own address."""

from nettests.model.expectation import Source
from nettests.model.verdict import Judgement
from nettests.model.words import Question, Resolver, SourceSeen, TargetKind, VantageKind
from nettests.plan import Matrix, NameForm, flow

NETWORKING = Source(
    document="Kubernetes documentation, Networking on Windows", section="Network modes"
)
NETWORK_MODEL = Source(
    document="Kubernetes documentation, Services, Load Balancing, and Networking",
    section="The Kubernetes network model",
)
DNS = Source(document="Kubernetes documentation, DNS for Services and Pods", section="Pods")


@flow(
    "pod-to-pod-ip",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.PAIRS,
    source_seen=SourceSeen.CLIENT_POD,
    facts=(
        "flow-pod-pod-ip-same-node",
        "flow-pod-pod-ip-cross-node",
        "flow-firewall-defaults",
        "cni-same-plugin-both-os",
        "tcp-udp-all",
    ),
    sources=(NETWORKING, NETWORK_MODEL),
    required=True,
)
def test_pod_to_pod_ip(verdict: Judgement) -> None:
    """A pod reaches a pod by IP address on any node, and is seen under its own address."""
    assert verdict.accepted, verdict.message


@flow(
    "pod-to-pod-name",
    source=VantageKind.POD,
    target=TargetKind.POD_NAME,
    matrix=Matrix.PAIRS,
    names=(NameForm(template="{pod}.{subdomain}.{namespace}.svc.{domain}"),),
    facts=("flow-pod-pod-name", "svc-headless-env"),
    sources=(NETWORKING, DNS),
)
def test_pod_to_pod_name(verdict: Judgement) -> None:
    """A pod reaches a pod by the name that hostname and subdomain give it."""
    assert verdict.accepted, verdict.message


@flow(
    "pod-a-record",
    source=VantageKind.POD,
    target=TargetKind.POD_NAME,
    matrix=Matrix.NEAREST,
    question=Question.RESOLVE,
    names=(
        NameForm(
            template="{pod_address}.{namespace}.pod.{domain}",
            resolvers=(Resolver.SYSTEM, Resolver.NSLOOKUP),
        ),
    ),
    facts=("flow-pod-pod-name",),
    sources=(DNS,),
)
def test_pod_a_record(verdict: Judgement) -> None:
    """A pod resolves the name that the cluster's DNS makes of a pod's address."""
    assert verdict.accepted, verdict.message
