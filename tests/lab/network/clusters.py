"""Small profiles and Services for tests of the data plane: one Linux node, two Windows nodes."""

from ipaddress import IPv4Address, IPv4Network

from nettests.lab.network.thresholds import switch_features
from nettests.lab.network.winkernel import Winkernel, host_of
from nettests.lab.network.winkernel.load_balancer import LoadBalancer, with_host_rule
from nettests.lab.topology import (
    OS,
    Backend,
    Cni,
    Driver,
    KubeProxy,
    NodeSpec,
    Plugin,
    Profile,
    ServicePort,
    ServiceTable,
)

LINUX, WIN_A, WIN_B = "lin", "win-a", "win-b"
NODE_ADDRESS = {LINUX: "172.30.0.11", WIN_A: "172.30.0.12", WIN_B: "172.30.0.13"}
SOURCE_VIP = {WIN_A: "10.244.2.2", WIN_B: "10.244.3.2"}
VIP = "10.96.7.7"
NODE_PORT = 30080

WS2019_EARLY = (17763, 1397)
WS2019_LATE = (17763, 3165)
WS2022 = (20348, 2700)


def profile(
    driver: Driver = Driver.L2BRIDGE,
    *,
    dsr: bool = False,
    loopback_dsr: bool = False,
    release: tuple[int, int] = WS2019_EARLY,
    kubernetes: str = "v1.36.2",
    exceptions: tuple[str, ...] = (),
    mechanisms: tuple[tuple[str, int], ...] = (),
) -> Profile:
    """Return a cluster of a Linux and two Windows nodes of that release."""
    build, patch = release
    nodes = [
        NodeSpec(
            name=name,
            os=OS.LINUX if name == LINUX else OS.WINDOWS,
            address=IPv4Address(address),
            pod_cidr=IPv4Network(f"10.244.{number}.0/24"),
            build=None if name == LINUX else build,
            patch=None if name == LINUX else patch,
        )
        for number, (name, address) in enumerate(NODE_ADDRESS.items(), 1)
    ]
    backend = "vxlan" if driver is Driver.OVERLAY else "host-gw"
    return Profile(
        name="test",
        summary="",
        kubernetes_version=kubernetes,
        nodes=tuple(nodes),
        cni=Cni(
            plugin=Plugin.FLANNEL,
            backend=backend,
            driver=driver,
            loopback_dsr=loopback_dsr,
            nat_exceptions=tuple(IPv4Network(text) for text in exceptions),
        ),
        kube_proxy=KubeProxy(dsr=dsr),
        mechanisms=mechanisms,
    )


def backend(address: str, node: str | None, *, port: int = 8080, own: bool = False) -> Backend:
    """Return a backend; ``own`` says that it is the node's own address."""
    return Backend(address=IPv4Address(address), port=port, node=node, node_address=own)


def service(
    *backends: Backend,
    name: str = "web",
    protocol: str = "TCP",
    vip: str = VIP,
    port: int = 80,
    node_port: int | None = NODE_PORT,
    affinity: bool = False,
    external_local: bool = False,
    internal_local: bool = False,
    ingress: tuple[str, ...] = (),
    external: tuple[str, ...] = (),
    ranges: tuple[str, ...] = (),
    preserved: bool = False,
) -> ServicePort:
    """Return one Service port, by default of type NodePort."""
    return ServicePort(
        namespace="default",
        service=name,
        port_name=protocol.lower(),
        protocol=protocol,
        cluster_ip=IPv4Address(vip),
        port=port,
        node_port=node_port,
        client_ip_affinity=affinity,
        external_traffic_local=external_local,
        internal_traffic_local=internal_local,
        endpoints=backends,
        ingress_addresses=tuple(map(IPv4Address, ingress)),
        external_addresses=tuple(map(IPv4Address, external)),
        source_ranges=tuple(map(IPv4Network, ranges)),
        preserve_destination=preserved,
    )


def load_balancers(
    table: ServiceTable, node: NodeSpec, cluster: Profile
) -> tuple[LoadBalancer, ...]:
    """Return the load balancers that a newly started kube-proxy creates, with the host's rules."""
    features = switch_features(node, cluster)
    balancers = Winkernel(features).sync(table, host_of(node, cluster))
    return tuple(each for one in balancers for each in with_host_rule(one, node, features))
