"""Named faults of packets: between nodes, on nodes, in encapsulation, by direction, protocol, size and rate.

Values. On the shared labs ``win-1`` and ``linux-1`` query, and all four nodes answer.
"""

from nettests.lab.selftest.declared import Checks, NamedFault, inject
from nettests.lab.selftest.places import (
    BRIDGE,
    EVERYWHERE,
    OLD_BRIDGE,
    OVERLAY,
    UNPROVEN,
    answering,
    between,
    crossing,
    names_from,
)

_BETWEEN_NODES = (
    NamedFault(
        name="node-cut-off",
        summary="no packet passes between win-2 and the other nodes",
        profiles=EVERYWHERE,
        injections=inject("packet-loss", node="win-2"),
        must=(
            Checks(flow="pod-to-pod-ip", target="win-2"),
            Checks(flow="node-to-pod", target="win-2"),
            Checks(flow="icmp-pod-to-pod", target="win-2"),
            Checks(flow="pod-to-service-clusterip", target="win-2"),
        ),
        may=crossing("win-2"),
        names=("win-2",),
    ),
    NamedFault(
        name="pair-one-way",
        summary="packets from linux-1 to win-1 are lost, those back pass",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("packet-loss", source="linux-1", target="win-1"),
        must=(
            Checks(flow="pod-to-pod-ip", source="linux-1", target="win-1"),
            Checks(flow="pod-to-service-clusterip", source="linux-1", target="win-1"),
        ),
        # The DNS runs on linux-1: its answers to win-1 are lost too.
        may=(
            *between("linux-1", "win-1"),
            # Answers from there are lost too, and those of the DNS among them.
            *between("win-1", "linux-1"),
            *names_from("win-1"),
        ),
        names=("linux-1", "win-1"),
    ),
    NamedFault(
        name="outside-cut-off",
        summary="packets from win-1 to the gateway are lost",
        profiles=(BRIDGE,),
        injections=inject("packet-loss", source="win-1", target="gateway"),
        must=(Checks(flow="pod-to-external-ip", source="win-1"),),
        may=(
            Checks(source="win-1", flow="*external*"),
            Checks(source="win-1", flow="dns-policy-*"),
            Checks(target="win-1", placement="outside"),
            Checks(id="*/external/windows-1/*"),
            *UNPROVEN,
        ),
        names=("external|outside|out of the cluster", "win-1|windows"),
    ),
    NamedFault(
        name="pair-of-second-nodes",
        summary="packets from win-2 to linux-2 are lost, neither of which is the first of its pool",
        profiles=(BRIDGE,),
        injections=inject("packet-loss", source="win-2", target="linux-2"),
        must=(Checks(flow="pod-to-pod-ip"),),
        may=(
            *between("win-2", "linux-2"),
            *between("linux-2", "win-2"),
            # Services are waited for from every node's probe.
            Checks(flow="*nodeport-*", service="*-windows-1-2"),
            Checks(flow="etp-*", service="*-windows-1-2"),
            Checks(flow="*nodeport-*", service="*-linux-1-2"),
        ),
        names=("win-2", "linux-2"),
    ),
    NamedFault(
        name="second-node-outwards",
        summary="packets from win-2 to the gateway are lost",
        profiles=(BRIDGE,),
        injections=inject("packet-loss", source="win-2", target="gateway"),
        must=(Checks(flow="pod-to-external-ip"),),
        may=(Checks(source="win-2"), Checks(target="win-2", placement="outside"), *UNPROVEN),
        names=("external|outside|out of the cluster", "win-2"),
    ),
)

_BY_KIND = (
    NamedFault(
        name="udp-lost",
        summary="UDP is lost between win-1 and the other nodes",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("packet-loss", node="win-1", protocol="udp"),
        must=(
            Checks(flow="pod-to-pod-ip", node="win-1", protocol="udp", placement="other-node"),
            Checks(flow="node-to-pod", node="win-1", protocol="udp", placement="other-node"),
        ),
        # Names are reached over UDP, of a server on linux-1.
        may=crossing("win-1"),
        names=("udp|dns", "win-1"),
    ),
    NamedFault(
        name="pair-loses-udp",
        summary="UDP is lost between linux-1 and linux-2",
        profiles=(BRIDGE, OVERLAY),
        injections=(
            *inject("packet-loss", source="linux-1", target="linux-2", protocol="udp"),
            *inject("packet-loss", source="linux-2", target="linux-1", protocol="udp"),
        ),
        must=(
            Checks(flow="pod-to-pod-ip", source="linux-1", target="linux-2", protocol="udp"),
            Checks(flow="node-to-pod", source="linux-1", target="linux-2", protocol="udp"),
        ),
        # The DNS runs on linux-1.
        may=(
            *between("linux-1", "linux-2"),
            *between("linux-2", "linux-1"),
            *names_from("linux-2"),
        ),
        names=("udp", "linux-1", "linux-2"),
    ),
    NamedFault(
        name="icmp-lost",
        summary="ICMP is lost between linux-1 and the other nodes",
        profiles=(BRIDGE,),
        injections=inject("packet-loss", node="linux-1", protocol="icmp"),
        must=(Checks(flow="icmp-pod-to-pod", node="linux-1", placement="other-node"),),
        may=(
            Checks(flow="icmp-*", node="linux-1"),
            # Some refusals are ICMP messages.
            Checks(flow="*closed-port*", node="linux-1", protocol="udp"),
            Checks(flow="*-no-endpoints", node="linux-1"),
            *UNPROVEN,
        ),
        names=("icmp", "linux-1"),
    ),
    NamedFault(
        name="nodeports-blocked",
        summary="a firewall before win-1 drops TCP to ports 30000 to 32767",
        profiles=(BRIDGE, OLD_BRIDGE),
        injections=inject("packet-loss", target="win-1", protocol="tcp", port="30000-32767"),
        must=(
            Checks(flow="nodeport-from-other-node", target="win-1"),
            Checks(flow="nodeport-from-pod-other-node", target="win-1"),
            Checks(flow="nodeport-from-external", target="win-1"),
        ),
        may=(
            Checks(flow="*nodeport*", target="win-1"),
            Checks(flow="etp-local-*", target="win-1"),
            *UNPROVEN,
        ),
        names=("NodePort", "win-1"),
    ),
    NamedFault(
        name="outside-udp-blocked",
        summary="what lets clients of outside in passes TCP to NodePorts and no UDP",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("packet-loss", source="gateway", protocol="udp", port="30000-32767"),
        must=(Checks(flow="nodeport-from-external", protocol="udp"),),
        names=("NodePort", "outside|external", "udp"),
    ),
)

_BY_RATE = (
    NamedFault(
        name="loss-20-percent",
        summary="one packet of five is lost between win-1 and the other nodes",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("packet-loss", node="win-1", rate=0.2),
        must=(Checks(node="win-1", placement="other-node"),),
        may=crossing("win-1"),
        names=("lost now and then", "win-1|dns"),
    ),
    NamedFault(
        name="loss-5-percent",
        summary="one packet of twenty is lost between win-1 and the other nodes",
        profiles=(BRIDGE,),
        injections=inject("packet-loss", node="win-1", rate=0.05),
        must=(Checks(node="win-1", placement="other-node"),),
        may=crossing("win-1"),
        names=("lost now and then", "win-1|dns"),
    ),
    NamedFault(
        name="loss-1-percent",
        summary="one packet of a hundred is lost between win-1 and the other nodes",
        profiles=(BRIDGE,),
        injections=inject("packet-loss", node="win-1", rate=0.01),
        must=(Checks(flow="path-loss", node="win-1", protocol="udp"),),
        may=crossing("win-1"),
        names=("lost now and then", "win-1"),
    ),
    NamedFault(
        name="tcp-loss-5-percent",
        summary="one TCP packet of twenty is lost between win-1 and the other nodes",
        profiles=(BRIDGE,),
        injections=inject("packet-loss", node="win-1", protocol="tcp", rate=0.05),
        must=(Checks(flow="path-loss", node="win-1", protocol="tcp"),),
        may=crossing("win-1"),
        names=("lost now and then", "win-1"),
    ),
    NamedFault(
        name="every-third-connection",
        summary="one of three new TCP connections to Pods of win-2 is never answered",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("connection-loss", node="win-2", every=3, protocol="tcp"),
        must=(Checks(flow="pod-to-*", target="win-2", protocol="tcp"),),
        may=(
            *answering("win-2"),
            Checks(flow="*nodeport*", protocol="tcp"),
            # Port-forward and the API's proxy open connections to its Pods as well.
            Checks(source="win-2", verdict="unknown"),
        ),
        names=("win-2|now and then",),
    ),
    NamedFault(
        name="every-hundredth-connection",
        summary="one of a hundred new TCP connections to Pods of win-2 is never answered",
        profiles=(BRIDGE,),
        injections=inject("connection-loss", node="win-2", every=100, protocol="tcp"),
        must=(Checks(flow="connection-loss", target="win-2"),),
        may=(Checks(flow="path-loss", node="win-2"), Checks(flow="path-loss")),
        names=("lost now and then|get no answer", "win-2"),
        enable=("costly",),
    ),
)

_ROUTES_AND_TUNNELS = (
    NamedFault(
        name="route-missing",
        summary="win-1 has no route to the Pods of win-2",
        profiles=EVERYWHERE,
        injections=inject("route-missing", node="win-1", peer="win-2"),
        must=(Checks(flow="pod-to-pod-ip", source="win-1", target="win-2"),),
        may=(*between("win-1", "win-2"), *between("win-2", "win-1")),
        names=("win-1", "win-2"),
    ),
    NamedFault(
        name="route-missing-on-linux",
        summary="linux-1 has no route to the Pods of linux-2",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("route-missing", node="linux-1", peer="linux-2"),
        must=(
            Checks(flow="pod-to-pod-ip", source="linux-1", target="linux-2"),
            Checks(flow="node-to-pod", source="linux-1", target="linux-2"),
        ),
        # The DNS runs on linux-1.
        may=(
            *between("linux-1", "linux-2"),
            *between("linux-2", "linux-1"),
            *names_from("linux-2"),
        ),
        names=("linux-1", "linux-2"),
    ),
    NamedFault(
        name="route-missing-unasked",
        summary="win-1 has no route to the Pods of linux-2, which is no first node of a pool",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("route-missing", node="win-1", peer="linux-2"),
        must=(Checks(flow="pod-to-pod-ip"),),
        may=(
            Checks(flow="nodeport-*", node="linux-2", service="*-windows-1-1"),
            *between("win-1", "linux-2"),
            *between("linux-2", "win-1"),
            # Controls of other nodes' checks target from win-1 too: all wait for the Service there.
            Checks(flow="nodeport-*", service="*-linux-1-2"),
        ),
        names=("win-1", "linux-2"),
    ),
    NamedFault(
        name="other-vni",
        summary="win-2's VXLAN has another network id than the others'",
        profiles=(OVERLAY,),
        injections=inject("other-vni", node="win-2"),
        must=(Checks(flow="pod-to-pod-ip", target="win-2"),),
        may=crossing("win-2"),
        names=("win-2",),
    ),
    NamedFault(
        name="not-encapsulated",
        summary="win-1 sends its Pods' packets to other nodes without VXLAN",
        profiles=(OVERLAY,),
        injections=inject("not-encapsulated", node="win-1"),
        must=(Checks(flow="pod-to-pod-ip", node="win-1", placement="other-node"),),
        may=crossing("win-1"),
        names=("win-1",),
    ),
    NamedFault(
        name="not-encapsulated-on-linux",
        summary="linux-1 sends its Pods' packets to other nodes without VXLAN",
        profiles=(OVERLAY,),
        injections=inject("not-encapsulated", node="linux-1"),
        must=(Checks(flow="pod-to-pod-ip", node="linux-1", placement="other-node"),),
        # The DNS runs there: nobody on another node has names; nor does the API server reach Pods from there.
        may=(
            *crossing("linux-1"),
            *(Checks(flow=flow) for flow in ("kubectl-to-pod", "pod-restart", "pod-port-forward")),
            Checks(flow="node-to-pod", verdict="unknown"),
        ),
        names=("linux-1|dns",),
    ),
)

_ADDRESSES = (
    NamedFault(
        name="source-rewritten",
        summary="Pods of other nodes see win-1's address instead of its Pods'",
        profiles=(BRIDGE,),
        injections=inject("source-rewritten", node="win-1"),
        must=(Checks(flow="dsr-source-address", source="win-1", placement="other-node"),),
        may=(
            Checks(flow="*source-address", source="win-1"),
            Checks(flow="pod-to-pod-ip", source="win-1", placement="other-node"),
        ),
        names=("source address", "win-1"),
    ),
    NamedFault(
        name="source-rewritten-on-linux",
        summary="Pods of other nodes see linux-1's address instead of its Pods'",
        profiles=(OLD_BRIDGE,),
        injections=inject("source-rewritten", node="linux-1"),
        must=(Checks(flow="dsr-source-address", source="linux-1", placement="other-node"),),
        may=(
            Checks(flow="*source-address", source="linux-1"),
            Checks(flow="pod-to-pod-ip", source="linux-1", placement="other-node"),
        ),
        names=("source address", "linux-1"),
    ),
    NamedFault(
        name="hairpin-broken",
        summary="what a Pod of linux-1 sends to itself by way of a Service is lost",
        profiles=(BRIDGE,),
        injections=inject("hairpin-broken", node="linux-1"),
        must=(Checks(flow="service-hairpin", source="linux-1"),),
        may=(Checks(flow="service-hairpin*", source="linux-1"),),
        names=("hairpin", "linux-1|linux|service-hairpin"),
    ),
)

PACKET_FAULTS = (
    *_BETWEEN_NODES,
    *_BY_KIND,
    *_BY_RATE,
    *_ROUTES_AND_TUNNELS,
    *_ADDRESSES,
)
