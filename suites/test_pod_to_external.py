"""Pod to external: hosts outside the cluster, by IP address and by name."""

from nettests.model.expectation import Source
from nettests.model.words import (
    CheckClass,
    Question,
    Resolver,
    SourceSeen,
    TargetKind,
    VantageKind,
)
from nettests.plan import Matrix, NameForm, flow, pods

NETWORKING = Source(
    document="Kubernetes documentation, Networking on Windows", section="Network modes"
)
METADATA = Source(
    document="Google Cloud documentation, About GKE metadata server",
    section="Metadata server address",
    address="https://cloud.google.com/kubernetes-engine/docs/concepts/workload-identity#metadata_server",
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


@flow(
    "pod-to-cloud-metadata",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH_WINDOWS,
    question=Question.START,
    cases=(pods.connects("google", "169.254.169.254:80", when=("gke",)),),
    check_class=CheckClass.COSTLY,
    facts=("flow-gce-metadata",),
    sources=(METADATA,),
)
def test_pod_to_cloud_metadata() -> None:
    """A Windows Pod opens a connection to its cloud's metadata address, and sends nothing over it."""
