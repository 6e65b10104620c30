"""Services with many backends: as many as the load balancers of old Windows builds support, and one more.

Costly: sixty-five pods are created, on Linux nodes where there are any.
"""

from nettests.model.expectation import Source
from nettests.model.words import CheckClass, TargetKind, VantageKind
from nettests.plan import Matrix, flow

SERVICES = Source(document="Kubernetes documentation, Service", section="EndpointSlices")
LIMIT = Source(
    document="Kubernetes documentation, Networking on Windows",
    section="Load balancing and Services",
    address="https://kubernetes.io/docs/concepts/services-networking/windows-networking/",
)


@flow(
    "service-64-backends",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.MANY_BACKENDS,
    backends=64,
    check_class=CheckClass.COSTLY,
    facts=("svc-max-64-backends",),
    sources=(SERVICES, LIMIT),
)
def test_service_64_backends() -> None:
    """A pod reaches a Service with 64 backends by ClusterIP."""


@flow(
    "service-65-backends",
    source=VantageKind.POD,
    target=TargetKind.SERVICE_CLUSTERIP,
    matrix=Matrix.MANY_BACKENDS,
    backends=65,
    check_class=CheckClass.COSTLY,
    facts=("svc-max-64-backends",),
    sources=(SERVICES,),
)
def test_service_65_backends() -> None:
    """A pod reaches a Service with 65 backends by ClusterIP."""
