"""Pod to Service: by ClusterIP and by every form of its name."""

from nettests.model.dns_names import SERVICE_FQDN
from nettests.model.expectation import Source
from nettests.model.words import Protocol, Question, Resolver, TargetKind, VantageKind
from nettests.plan import Matrix, NameForm, flow

NETWORKING = Source(
    document="Kubernetes documentation, Networking on Windows", section="Network modes"
)
DNS = Source(
    document="Kubernetes documentation, DNS for Services and Pods",
    section="Namespaces of Services",
)
EXPLICIT = (Resolver.NSLOOKUP, Resolver.RESOLVE_DNSNAME)
"""Queried for a name alone, beside the system's resolver that connections go through."""


@flow(
    "pod-to-service-clusterip",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.PAIRS,
    each_family=True,
    facts=(
        "flow-pod-clusterip",
        "svc-types",
        "svc-backend-windows-from-linux",
        "nodeport-udp",
        "cni-transparent-model",
        "tcp-udp-all",
    ),
    sources=(NETWORKING,),
    required=True,
)
def test_pod_to_service_clusterip() -> None:
    """A pod reaches a Service by ClusterIP, wherever its backend runs."""


@flow(
    "pod-to-existing-service",
    source=VantageKind.POD,
    target=TargetKind.EXISTING_SERVICE,
    matrix=Matrix.EACH,
    protocols=(Protocol.TCP,),
    facts=("flow-pod-clusterip", "cni-transparent-model"),
    sources=(NETWORKING,),
)
def test_pod_to_existing_service() -> None:
    """A pod of every node connects to the Services that the cluster has already, and sends nothing.

    They are the API server's, that of the cluster's DNS, and a few others that have endpoints; of these, one that no node
    reaches is recorded: whom a Service of others admits is its owner's matter.
    """


@flow(
    "pod-to-service-pqdn",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_PQDN,
    matrix=Matrix.PAIRS,
    names=(NameForm(template="{service}", resolvers=EXPLICIT),),
    facts=("flow-pod-svc-pqdn", "dns-short-same-ns"),
    sources=(NETWORKING, DNS),
)
def test_pod_to_service_pqdn() -> None:
    """A pod reaches a Service of its namespace by the Service's name alone."""


@flow(
    "pod-to-service-partial-name",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_PARTIAL_NAME,
    matrix=Matrix.NEAREST,
    question=Question.RESOLVE,
    names=(
        NameForm(
            label="svc.ns",
            template="{service}.{namespace}",
            resolvers=(Resolver.SYSTEM, *EXPLICIT),
        ),
        NameForm(
            label="svc.ns.svc",
            template="{service}.{namespace}.svc",
            resolvers=(Resolver.SYSTEM, *EXPLICIT),
        ),
    ),
    facts=("dns-between-forms", "dns-between-forms-nslookup"),
    sources=(DNS,),
)
def test_pod_to_service_partial_name() -> None:
    """A pod resolves a Service by the names between the short and the fully qualified one."""


@flow(
    "pod-to-service-fqdn",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_FQDN,
    matrix=Matrix.PAIRS,
    each_family=True,
    names=(NameForm(template=SERVICE_FQDN, resolvers=EXPLICIT),),
    facts=("flow-pod-svc-fqdn", "dns-fqdn", "dns-l2bridge-service-discovery"),
    sources=(NETWORKING, DNS),
)
def test_pod_to_service_fqdn() -> None:
    """A pod reaches a Service by its fully qualified name."""
