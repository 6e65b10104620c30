"""Pod to external: what lies outside the cluster, by IP address and by name."""

from nettests.model.expectation import Source
from nettests.model.words import Resolver, SourceSeen, TargetKind, VantageKind
from nettests.plan import Matrix, NameForm, flow

NETWORKING = Source(
    document="Kubernetes documentation, Networking on Windows", section="Network modes"
)


@flow(
    "pod-to-external-ip",
    source=VantageKind.POD,
    target=TargetKind.EXTERNAL_IP,
    matrix=Matrix.SOURCES,
    facts=("flow-pod-external-ip", "tcp-udp-all"),
    sources=(NETWORKING,),
)
def test_pod_to_external_ip() -> None:
    """A pod reaches an address outside the cluster."""


@flow(
    "pod-to-external-dns",
    source=VantageKind.POD,
    target=TargetKind.EXTERNAL_NAME,
    matrix=Matrix.SOURCES,
    names=(
        NameForm(template="{external}", resolvers=(Resolver.NSLOOKUP, Resolver.RESOLVE_DNSNAME)),
    ),
    facts=("flow-pod-external-dns",),
    sources=(NETWORKING,),
)
def test_pod_to_external_dns() -> None:
    """A pod reaches a host outside the cluster by its DNS name."""


@flow(
    "pod-to-external-source-address",
    source=VantageKind.POD,
    target=TargetKind.EXTERNAL_IP,
    matrix=Matrix.WINDOWS_SOURCES,
    source_seen=SourceSeen.CLIENT_NODE,
    facts=("flow-pod-external-ip",),
    sources=(NETWORKING,),
)
def test_pod_to_external_source_address() -> None:
    """A server outside the cluster sees a Windows pod under its node's address."""
