"""Named faults of a second or later node, of one pair of many, of size, and of time. Values.

On the profile ``fleet`` the first node of each pool is in order; what is broken is the second node of a pool,
or a pair of nodes that are neither the first. Only flows that test every node can turn red for most of it.
"""

from nettests.lab.selftest.declared import Checks, NamedFault, inject
from nettests.lab.selftest.places import BRIDGE, FLEET, NAMES, UNPROVEN, crossing

_POD, _SERVICE, _DNS, _NODE_PORT, _NAME, _SIZE, _LOSS, _AFFINITY, _NEW_POD = (
    Checks(flow=flow)
    for flow in (
        *("pod-to-pod-ip", "pod-to-service-clusterip", "dns-via-service"),
        *("nodeport-from-pod-other-node", "pod-to-service-pqdn"),
        *("payload-pod-to-pod", "path-loss", "session-affinity", "new-pod-first-packets"),
    )
)
_EVERY_NODE = (
    *(_POD, _SERVICE, _DNS, _NODE_PORT, _NAME, _SIZE, _LOSS, _AFFINITY, _NEW_POD),
    *(
        Checks(flow=flow)
        for flow in (
            *("pod-to-node", "node-to-pod", "pod-to-external-ip", "nodeport-from-pod-own-node"),
            *("path-mtu", "icmp-*", "payload-*", "pod-to-*", "hostport-*", "service-*"),
        )
    ),
)

_SECOND_NODES = (
    NamedFault(
        name="second-node-cut-off",
        summary="no packet passes between win-2 and the other eleven nodes",
        profiles=(FLEET,),
        injections=inject("packet-loss", node="win-2"),
        must=(_POD, _SERVICE, _DNS),
        may=(*_EVERY_NODE, *crossing("win-2")),
        names=("win-2",),
    ),
    NamedFault(
        name="second-node-without-services",
        summary="win-2 reaches no ClusterIP: it has no rules of any Service",
        profiles=(FLEET,),
        injections=inject("service-rules-missing", service="*", node="win-2"),
        must=(_SERVICE, _DNS),
        may=(*_EVERY_NODE, Checks(node="win-2"), *UNPROVEN),
        names=("win-2",),
    ),
    NamedFault(
        name="second-node-lacks-one-service",
        summary="HNS on win-2 has no load balancer of the cluster's DNS, and has all others",
        profiles=(FLEET,),
        injections=inject("service-rules-missing", service="kube-system/kube-dns", node="win-2"),
        must=(_DNS,),
        may=(*_EVERY_NODE, Checks(node="win-2"), *UNPROVEN),
        names=("win-2", "dns"),
    ),
    NamedFault(
        name="second-node-drops-nodeports",
        summary="a firewall before win-2 drops TCP to ports 30000 to 32767",
        profiles=(FLEET,),
        injections=inject("packet-loss", target="win-2", protocol="tcp", port="30000-32767"),
        must=(_NODE_PORT,),
        may=(
            *_EVERY_NODE,
            Checks(flow="*nodeport-*", target="win-2"),
            Checks(flow="etp-*", target="win-2"),
            *UNPROVEN,
        ),
        names=("NodePort", "win-2"),
    ),
    NamedFault(
        name="second-node-lacks-a-pods-service",
        summary="HNS on win-2 has no load balancer of one Service of the run, and has all others",
        profiles=(FLEET,),
        injections=inject("service-rules-missing", service="svc-server-linux-1-1", node="win-2"),
        must=(_SERVICE,),
        may=(*_EVERY_NODE, Checks(node="win-2"), *UNPROVEN),
        names=("win-2", "svc-server-linux-1-1"),
    ),
    NamedFault(
        name="second-node-forgets-clients",
        summary="clients on win-6 of Services with ClientIP affinity do not keep their backends",
        profiles=(FLEET,),
        injections=inject("affinity-lost", node="win-6"),
        must=(_AFFINITY,),
        may=(Checks(flow="session-affinity", node="win-6"), Checks(flow="hns-load-balancers")),
        names=("affinity", "win-6"),
    ),
    NamedFault(
        name="second-node-loses-large-packets",
        summary="packets of more than 1400 bytes are lost between win-2 and the others, without a word",
        profiles=(FLEET,),
        injections=inject("packet-loss", node="win-2", larger_than=1400),
        must=(_SIZE,),
        may=(*_EVERY_NODE, *crossing("win-2")),
        names=("large packets|above 1,400 bytes", "win-2"),
    ),
    NamedFault(
        name="second-node-with-late-pod-network",
        summary="new Pods on win-2 have no network for their first 6 s",
        profiles=(FLEET,),
        injections=inject("late-pod-network", node="win-2", seconds=6),
        must=(_NEW_POD,),
        may=(*_EVERY_NODE, Checks(node="win-2")),
        names=("New Pods on win-2", "nothing", "first 6 s"),
    ),
)

_HOSTS = (
    NamedFault(
        name="later-node-behind-a-firewall",
        summary="a firewall of win-7 lets no Pod of another node reach what listens on the node itself",
        profiles=(FLEET,),
        injections=inject("packet-loss", target="win-7", port="19080-19081"),
        must=(Checks(flow="pod-to-node"),),
        names=("to a node|node address|node ip", "win-7"),
    ),
    NamedFault(
        name="later-node-reaches-no-pods",
        summary="what win-7 itself sends to Pods of other nodes is lost; its Pods' packets pass",
        profiles=(FLEET,),
        injections=inject("host-silent", node="win-7"),
        must=(Checks(flow="node-to-pod"),),
        may=(Checks(flow="pod-to-node"), Checks(flow="nodeport-from-pod-other-node"), *UNPROVEN),
        names=("win-7 itself",),
    ),
)

_PAIRS = (
    NamedFault(
        name="pair-cut-off",
        summary="no packet passes between win-2 and win-3 in either direction",
        profiles=(FLEET,),
        injections=(
            *inject("packet-loss", source="win-2", target="win-3"),
            *inject("packet-loss", source="win-3", target="win-2"),
        ),
        must=(_POD,),
        may=(*_EVERY_NODE, Checks(source="win-2"), Checks(target="win-2"), *UNPROVEN),
        names=("win-2", "win-3"),
    ),
    NamedFault(
        name="pair-of-later-nodes-one-way",
        summary="packets from win-3 to linux-2 are lost, those back pass",
        profiles=(FLEET,),
        injections=inject("packet-loss", source="win-3", target="linux-2"),
        must=(_POD,),
        may=(*_EVERY_NODE, Checks(node="linux-2"), *UNPROVEN),
        names=("win-3", "linux-2"),
    ),
    NamedFault(
        name="pair-of-later-nodes-loses-large-packets",
        summary="packets of more than 1400 bytes are lost between win-3 and linux-2, without a word",
        profiles=(FLEET,),
        injections=(
            *inject("packet-loss", source="win-3", target="linux-2", larger_than=1400),
            *inject("packet-loss", source="linux-2", target="win-3", larger_than=1400),
        ),
        must=(_SIZE,),
        may=(*_EVERY_NODE,),
        names=("large packets|above 1,400 bytes", "win-3", "linux-2"),
    ),
)

_TIME_AND_LOSS = (
    NamedFault(
        name="pair-of-later-nodes-connects-slowly",
        summary="every TCP connection between win-3 and linux-2 takes 2 s to be established",
        profiles=(FLEET,),
        injections=(
            *inject("packet-delay", source="win-3", target="linux-2", protocol="tcp", seconds=1),
            *inject("packet-delay", source="linux-2", target="win-3", protocol="tcp", seconds=1),
        ),
        must=(Checks(flow="pod-to-pod-ip", protocol="tcp"),),
        may=(*_EVERY_NODE,),
        names=("answered only after", "win-3", "linux-2"),
    ),
    NamedFault(
        name="pair-of-later-nodes-loses-tcp",
        summary="one TCP packet of twenty is lost between win-3 and linux-2",
        profiles=(FLEET,),
        injections=(
            *inject("packet-loss", source="win-3", target="linux-2", protocol="tcp", rate=0.05),
            *inject("packet-loss", source="linux-2", target="win-3", protocol="tcp", rate=0.05),
        ),
        must=(Checks(flow="path-loss", protocol="tcp"),),
        may=(*_EVERY_NODE,),
        names=("lost now and then", "win-3", "linux-2"),
    ),
    NamedFault(
        name="connects-slow",
        summary="every TCP connection between win-1 and the other nodes takes 2 s to be established",
        profiles=(BRIDGE,),
        injections=inject("packet-delay", node="win-1", protocol="tcp", seconds=1),
        must=(Checks(flow="pod-to-pod-ip", node="win-1", protocol="tcp"),),
        may=crossing("win-1"),
        names=("win-1|tcp",),
    ),
    NamedFault(
        name="dns-loses-every-second-query",
        summary="the DNS loses one packet of two",
        profiles=(BRIDGE,),
        injections=inject("dns-down", rate=0.5),
        must=(Checks(flow="dns-*"),),
        may=NAMES,
        names=("dns",),
    ),
    NamedFault(
        name="second-node-connects-slowly",
        summary="every TCP connection between win-3 and the other nodes takes 2 s to be established",
        profiles=(FLEET,),
        injections=inject("packet-delay", node="win-3", protocol="tcp", seconds=1),
        must=(Checks(flow="pod-to-pod-ip", protocol="tcp"),),
        may=(*_EVERY_NODE, Checks(node="win-3"), *UNPROVEN),
        names=("win-3", "answered only after"),
    ),
    NamedFault(
        name="second-node-loses-tcp",
        summary="one TCP packet of twenty is lost between win-2 and the other nodes",
        profiles=(FLEET,),
        injections=inject("packet-loss", node="win-2", protocol="tcp", rate=0.05),
        must=(Checks(flow="path-loss", protocol="tcp"),),
        may=(*_EVERY_NODE, *crossing("win-2")),
        names=("lost now and then", "win-2", "tcp"),
    ),
    NamedFault(
        name="second-node-loses-one-percent",
        summary="one packet of a hundred is lost between win-2 and the other nodes",
        profiles=(FLEET,),
        injections=inject("packet-loss", node="win-2", rate=0.01),
        must=(_LOSS,),
        may=(*_EVERY_NODE, *crossing("win-2")),
        names=("lost now and then", "win-2"),
    ),
    NamedFault(
        name="second-node-gets-names-late",
        summary="queries of win-2 to the DNS are answered after 3 s, sooner than resolvers query again",
        profiles=(FLEET,),
        injections=inject("packet-delay", node="win-2", port="53", seconds=1.5),
        must=(_NAME,),
        may=(*_EVERY_NODE, Checks(node="win-2")),
        names=("dns", "win-2", "answered only after"),
    ),
    NamedFault(
        name="all-nodes-get-names-late",
        summary="the DNS answers all nodes after 3 s, sooner than resolvers query again",
        profiles=(FLEET,),
        injections=inject("dns-slow", seconds=3),
        must=(_NAME,),
        may=(*_EVERY_NODE, *NAMES),
        names=("dns", "answered only after"),
    ),
    NamedFault(
        name="fleet-loses-every-second-query",
        summary="the DNS loses one packet of two, whoever queries it",
        profiles=(FLEET,),
        injections=inject("dns-down", rate=0.5),
        must=(_DNS,),
        may=(*_EVERY_NODE, *NAMES),
        names=("dns",),
    ),
)

FLEET_FAULTS = (*_SECOND_NODES, *_HOSTS, *_PAIRS, *_TIME_AND_LOSS)
