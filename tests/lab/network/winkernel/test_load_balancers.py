"""Which policies kube-proxy writes on a Windows node: a Service table in, policies out."""

from dataclasses import replace

import pytest

from nettests.lab.network.winkernel.load_balancer import LoadBalancer, Port, Source
from nettests.lab.topology import Driver, Profile, ServicePort
from tests.lab.network.clusters import (
    LINUX,
    NODE_ADDRESS,
    WIN_A,
    WIN_B,
    WS2019_EARLY,
    WS2019_LATE,
    WS2022,
    backend,
    load_balancers,
    profile,
    service,
)

LOCAL = backend("10.244.2.5", WIN_A)
REMOTE = backend("10.244.3.5", WIN_B)


def _policies(cluster: Profile, *services: ServicePort) -> dict[str, LoadBalancer]:
    made = load_balancers(services, cluster.node(WIN_A), cluster)
    return {policy.kind: policy for policy in made}


def test_a_service_without_endpoints_has_no_policy() -> None:
    """Nothing is programmed, so nothing answers and nothing refuses."""
    assert _policies(profile(), service()) == {}


@pytest.mark.parametrize(
    ("driver", "dsr", "source"),
    [
        (Driver.L2BRIDGE, False, Source.NODE),
        (Driver.L2BRIDGE, True, Source.KEPT),
        (Driver.OVERLAY, False, Source.VIP),
        (Driver.OVERLAY, True, Source.KEPT),
    ],
)
def test_cluster_ip_source(driver: Driver, dsr: bool, source: Source) -> None:
    """ClusterIP rewrites to node or source VIP without DSR, to nothing with it."""
    assert _policies(profile(driver, dsr=dsr), service(LOCAL))["ClusterIP"].source is source


@pytest.mark.parametrize(
    ("driver", "source"), [(Driver.L2BRIDGE, Source.NODE), (Driver.OVERLAY, Source.VIP)]
)
def test_node_port_is_never_direct(driver: Driver, source: Source) -> None:
    """``--enable-dsr`` does not change NodePort with externalTrafficPolicy Cluster."""
    assert _policies(profile(driver, dsr=True), service(LOCAL))["NodePort"].source is source


def test_one_node_address_among_the_backends_decides_for_the_whole_port() -> None:
    """Overlay: a backend outside the pod network makes the node's address the source for all."""
    mixed = service(REMOTE, backend(NODE_ADDRESS[LINUX], LINUX, own=True))
    assert _policies(profile(Driver.OVERLAY), mixed)["ClusterIP"].source is Source.NODE
    public = service(REMOTE, backend("203.0.113.9", None))
    assert _policies(profile(Driver.OVERLAY), public)["ClusterIP"].source is Source.NODE


@pytest.mark.parametrize(
    ("release", "dsr", "kinds"),
    [
        (WS2019_EARLY, False, {"ClusterIP", "NodePort"}),
        (WS2019_EARLY, True, {"ClusterIP", "NodePort"}),
        (WS2019_LATE, False, {"ClusterIP", "NodePort"}),
        (WS2019_LATE, True, {"ClusterIP", "LB_HOST", "NodePort"}),
        (WS2022, True, {"ClusterIP", "LB_HOST", "NodePort"}),
    ],
)
def test_rules_on_the_hosts_port(release: tuple[int, int], dsr: bool, kinds: set[str]) -> None:
    """ClusterIP sits on the host's port only with DSR and from 17763.1432 on."""
    assert _policies(profile(dsr=dsr, release=release), service(LOCAL)).keys() == kinds


@pytest.mark.parametrize(
    ("release", "reached"), [((17763, 1431), False), ((17763, 1432), True), (WS2022, True)]
)
def test_node_ports_of_the_own_node(release: tuple[int, int], reached: bool) -> None:
    """LocalRoutedVIP puts NodePort on the host's port from 17763.1432 on."""
    policy = _policies(profile(release=release), service(LOCAL))["NodePort"]
    assert (Port.HOST in policy.ports) == reached
    assert {Port.UPLINK, Port.POD} <= set(policy.ports)


def test_external_traffic_local_keeps_local_backends_and_the_client() -> None:
    """Local: only this node's pods, the client's address kept, whatever ``--enable-dsr`` says."""
    cluster = profile(release=WS2019_LATE)
    policy = _policies(cluster, service(LOCAL, REMOTE, external_local=True))["NodePort"]
    assert policy.backends == (LOCAL.address,)
    assert policy.source is Source.KEPT


def test_external_traffic_local_without_local_backends_has_no_node_port() -> None:
    """The NodePort falls through to the host; the ClusterIP stays."""
    cluster = profile(release=WS2019_LATE)
    assert _policies(cluster, service(REMOTE, external_local=True)).keys() == {"ClusterIP"}


def test_external_traffic_local_is_ignored_without_dsr_capable_hns() -> None:
    """Before 17763.1397 Local is treated as Cluster."""
    cluster = profile(release=(17763, 1396))
    policy = _policies(cluster, service(REMOTE, external_local=True))["NodePort"]
    assert (policy.backends, policy.source) == ((REMOTE.address,), Source.NODE)


def test_external_traffic_local_is_not_read_before_kube_proxy_1_20() -> None:
    """Its source at release-1.18 has no word of the policy: a NodePort leads to all backends, translated."""
    for kubernetes, seen in (("v1.19.16", Source.NODE), ("v1.20.0", Source.KEPT)):
        cluster = profile(release=WS2019_LATE, kubernetes=kubernetes)
        policy = _policies(cluster, service(LOCAL, REMOTE, external_local=True))["NodePort"]
        assert policy.source is seen
        assert (REMOTE.address in policy.backends) is (seen is Source.NODE)


@pytest.mark.parametrize(
    ("kubernetes", "dsr", "source"),
    [
        ("v1.21.14", True, Source.KEPT),
        ("v1.21.14", False, Source.NODE),
        ("v1.22.0", True, Source.NODE),
    ],
)
def test_dsr_is_for_load_balancers_addresses_before_1_22(
    kubernetes: str, dsr: bool, source: Source
) -> None:
    """Up to 1.21 ``--enable-dsr`` makes their policies direct, as those of ClusterIPs."""
    cluster = profile(release=WS2019_LATE, dsr=dsr, kubernetes=kubernetes)
    policy = _policies(cluster, service(LOCAL, ingress=("192.0.2.10",)))["LoadBalancer"]
    assert policy.source is source


def test_host_network_backends_of_the_own_node_are_skipped() -> None:
    """No HNS endpoint carries the node's own address, so such a backend is left out."""
    own = backend(NODE_ADDRESS[WIN_A], WIN_A, own=True)
    assert _policies(profile(), service(own)) == {}
    assert _policies(profile(), service(own, REMOTE))["ClusterIP"].backends == (REMOTE.address,)


@pytest.mark.parametrize(
    ("release", "count", "programmed"),
    [
        ((17763, 2745), 64, True),
        ((17763, 2745), 65, False),
        ((17763, 2746), 65, True),
        ((17763, 2746), 1024, True),
        ((17763, 2746), 1025, False),
    ],
)
def test_destination_limit(release: tuple[int, int], count: int, programmed: bool) -> None:
    """64 destinations before 17763.2746, 1024 from then on; above, the whole Service is missing."""
    backends = [backend(f"10.244.{n // 250}.{n % 250 + 1}", LINUX) for n in range(count)]
    assert bool(_policies(profile(release=release), service(*backends))) == programmed


def test_a_host_network_backend_counts_towards_the_limit_once_per_address() -> None:
    """Unique addresses are counted, not endpoints."""
    backends = [backend("10.244.3.5", WIN_B, port=8000 + n) for n in range(100)]
    assert _policies(profile(), service(*backends))["ClusterIP"].backends == (REMOTE.address,)


def test_which_port_counts_by_version() -> None:
    """HNS has a single InternalPort: kube-proxy takes the first backend's up to 1.33, then the last one's."""
    different = backend("10.244.3.6", WIN_B, port=LOCAL.port + 1)
    for version, port in (("v1.33.9", LOCAL.port), ("v1.34.0", different.port)):
        policy = _policies(profile(kubernetes=version), service(LOCAL, different))["ClusterIP"]
        assert policy.internal_port == port


def test_ports_of_their_own_are_a_switch() -> None:
    """With one-internal-port off each backend is dialled at its own number."""
    different = backend("10.244.3.6", WIN_B, port=LOCAL.port + 1)
    switched = replace(profile(), mechanisms=(("one-internal-port", 0),))
    policy = _policies(switched, service(LOCAL, different))["ClusterIP"]
    assert dict(policy.own_ports) == {LOCAL.address: LOCAL.port, different.address: different.port}


@pytest.mark.parametrize(("build", "by_client"), [(17763, False), (19042, False), (20348, True)])
def test_affinity_by_build(build: int, by_client: bool) -> None:
    """SourceIP distribution exists from build 20348 on; below, the setting has no effect."""
    policies = _policies(profile(release=(build, 9999)), service(LOCAL, REMOTE, affinity=True))
    assert {policy.by_client for policy in policies.values()} == {by_client}


@pytest.mark.parametrize(
    ("version", "backends"),
    [("v1.24.9", 2), ("v1.24.10", 1), ("v1.26.0", 2), ("v1.26.1", 1), ("v1.27.0", 1)],
)
def test_internal_traffic_local_by_version(version: str, backends: int) -> None:
    """internalTrafficPolicy is read from kube-proxy 1.27 on, and from its picks."""
    cluster = profile(kubernetes=version)
    policy = _policies(cluster, service(LOCAL, REMOTE, internal_local=True))["ClusterIP"]
    assert len(policy.backends) == backends


@pytest.mark.parametrize(
    ("version", "published"),
    [
        ("v1.24.9", True),
        ("v1.24.10", False),
        ("v1.25.5", True),
        ("v1.25.6", False),
        ("v1.26.0", True),
        ("v1.26.1", False),
        ("v1.27.0", False),
        ("v1.36.2", False),
    ],
)
def test_published_backends_that_do_not_serve(version: str, published: bool) -> None:
    """Endpoints that are ready and do not serve were backends before #113776 and its picks."""
    silent = replace(LOCAL, serving=False)
    assert bool(_policies(profile(kubernetes=version), service(silent))) is published


def test_a_numeric_target_port_counts_before_134() -> None:
    """Up to 1.33 the Service's own number is dialled, whatever its endpoints say."""
    numbered = replace(service(LOCAL), target_port=9000)
    for version, port in (("v1.33.9", 9000), ("v1.34.0", LOCAL.port)):
        assert _policies(profile(kubernetes=version), numbered)["ClusterIP"].internal_port == port
