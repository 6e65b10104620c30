"""What a trace can find: a closed set, each with its words and the documented next step; and the trace with its evidence. Values.

Sources of the steps: Kubernetes, "Windows debugging tips" and "Networking on Windows"; microsoft/SDN,
``Kubernetes/windows/debug`` (``collectlogs.ps1``, ``VFP.psm1``); Microsoft, "Use Packet Monitor to diagnose packet loss".
"""

from dataclasses import dataclass
from enum import Enum

from nettests.model import ports
from nettests.tracing.hops import Hop
from nettests.tracing.mark import Marked
from nettests.tracing.packet import End, Scene


class Finding(Enum):
    """The first difference between the path that was seen and the one that is expected."""

    NOTHING_WRONG = "nothing-wrong"
    NEVER_LEFT_POD = "never-left-pod"
    UNTRANSLATED = "untranslated"
    DEAD_BACKEND = "dead-backend"
    LOST_IN_SOURCE_NODE = "lost-in-source-node"
    NOT_ENCAPSULATED = "not-encapsulated"
    WRONG_VNI = "wrong-vni"
    SOURCE_REWRITTEN = "source-rewritten"
    LOST_BETWEEN_NODES = "lost-between-nodes"
    NOT_DELIVERED = "not-delivered"
    UNANSWERED = "unanswered"
    REFUSED = "refused"
    REPLY_OTHER_WAY = "reply-other-way"
    REPLY_LOST = "reply-lost"
    REPLY_NOT_TRANSLATED = "reply-not-translated"
    REPLY_NOT_DELIVERED = "reply-not-delivered"
    TOO_BIG_UNTOLD = "too-big-untold"
    TOO_BIG_TOLD = "too-big-told"
    DROPPED = "dropped"
    LOSES_SOME = "loses-some"
    FORGOTTEN = "forgotten"
    UNSURE = "unsure"

    @property
    def words(self) -> str:
        """The finding in words."""
        return _WORDS[self]

    @property
    def next_step(self) -> str:
        """The next step, in the documents' terms."""
        return _NEXT[self]

    @property
    def harmless(self) -> bool:
        """Whether the packet went there and back as expected."""
        return self is Finding.NOTHING_WRONG


_WORDS = {
    Finding.NOTHING_WRONG: "nothing is wrong on this path",
    Finding.NEVER_LEFT_POD: "the packet never left the source",
    Finding.UNTRANSLATED: "the packet was not translated to a backend of the Service",
    Finding.DEAD_BACKEND: "the packet was translated to a backend that is not there",
    Finding.LOST_IN_SOURCE_NODE: "the packet did not leave the node",
    Finding.NOT_ENCAPSULATED: "the packet left the node without encapsulation",
    Finding.WRONG_VNI: "the packet travelled with another network id (VNI)",
    Finding.SOURCE_REWRITTEN: "the source address was rewritten on the way",
    Finding.LOST_BETWEEN_NODES: "the packet was lost between the nodes",
    Finding.NOT_DELIVERED: "the packet arrived at the node and was not delivered",
    Finding.UNANSWERED: "the packet was delivered and not answered",
    Finding.REFUSED: "the destination refused the connection",
    Finding.REPLY_OTHER_WAY: "the reply took another way",
    Finding.REPLY_LOST: "the reply was lost on its way back",
    Finding.REPLY_NOT_TRANSLATED: "the reply's source address was not translated back",
    Finding.REPLY_NOT_DELIVERED: "the reply came back to the node and was not delivered",
    Finding.TOO_BIG_UNTOLD: "large packets were lost, and no ICMP message says that they are too big",
    Finding.TOO_BIG_TOLD: "large packets were lost; an ICMP message says that they are too big",
    Finding.DROPPED: "the node dropped the packet",
    Finding.LOSES_SOME: "some packets were lost, others passed",
    Finding.FORGOTTEN: "a connection that was silent was forgotten on the way",
    Finding.UNSURE: "the captures do not tell where the packet was lost",
}


_NEXT = {
    Finding.NOTHING_WRONG: "run the check again: what it saw is not there now",
    Finding.NEVER_LEFT_POD: "look into the Pod: its route table and addresses; on Windows its HNS endpoint (Get-HnsEndpoint)",
    Finding.UNTRANSLATED: (
        "look at kube-proxy's log on that node and at its rules: on Windows Get-HnsPolicyList and "
        "vfpctrl /port <port> /list-rule, layer LB; on Linux nft list table ip kube-proxy"
    ),
    Finding.DEAD_BACKEND: "compare the Service's EndpointSlices with the node's rules (Get-HnsPolicyList), and restart kube-proxy there if they differ",
    Finding.LOST_IN_SOURCE_NODE: "look at the node's routes to the other node's Pods: route print, ip route; on Windows also HNS policies ROUTE and the VFP rules of the port",
    Finding.NOT_ENCAPSULATED: "look at the node's VXLAN device or HNS network (RemoteSubnetRoute policies), and restart the network plugin there",
    Finding.WRONG_VNI: f"compare the VNI of all nodes: net-conf.json of Flannel ({ports.FIRST_VNI} or above for Windows), Get-HnsNetwork, ip -d link",
    Finding.SOURCE_REWRITTEN: "look at OutBoundNAT's exceptions in the CNI configuration, and for DSR at the load balancer's flags (Get-HnsPolicyList)",
    Finding.LOST_BETWEEN_NODES: f"look at what lies between the nodes: security groups and firewalls (UDP {ports.VXLAN} for VXLAN), routes of the cloud network, MAC address spoofing",
    Finding.REPLY_LOST: f"look at what lies between the nodes: security groups and firewalls (UDP {ports.VXLAN} for VXLAN), routes of the cloud network, MAC address spoofing",
    Finding.NOT_DELIVERED: "look at the destination's node: HNS endpoint and VFP rules of the Pod's port, routes, firewall",
    Finding.UNANSWERED: "look into the destination Pod: does its server listen on all addresses, has it a firewall or a default route?",
    Finding.REFUSED: "look at what listens in the destination Pod at that port, and at the Service's targetPort",
    Finding.REPLY_OTHER_WAY: "look at the routes of the destination's node and Pod: the reply has to go back to the node that translated the request",
    Finding.REPLY_NOT_TRANSLATED: "look at the load balancer's state on the source's node (VFP flows: vfpctrl /list-unified-flow), and for DSR at its backend's node",
    Finding.REPLY_NOT_DELIVERED: "look at the source's node: connection tracking and VFP rules of the Pod's port",
    Finding.TOO_BIG_UNTOLD: "compare the MTU of Pods, VXLAN devices and network cards along the way; VXLAN takes 50 bytes",
    Finding.TOO_BIG_TOLD: "compare the MTU of Pods, VXLAN devices and network cards along the way; VXLAN takes 50 bytes",
    Finding.DROPPED: "look up the reason in the component that dropped it: pktmon counters --drop-reason on that node",
    Finding.LOSES_SOME: "look at counters of errors and discards of network cards and switch ports between these two places (Get-NetAdapterStatistics, ip -s link), and at what is overloaded there",
    Finding.FORGOTTEN: "let clients send TCP keep-alives sooner than flows are forgotten there; on Linux look at nf_conntrack_tcp_timeout_established, on Windows at the VFP flows (vfpctrl /list-unified-flow)",
    Finding.UNSURE: (
        "look at the captures beside the trace, and capture on the nodes that are missing"
    ),
}
_FROM_HOST = {
    Finding.NEVER_LEFT_POD: "look at the node itself: its route table and addresses, and what its firewall lets out",
    Finding.SOURCE_REWRITTEN: "look at the node's own translation: on Linux nft list ruleset, on Windows Get-NetNat and the VFP rules of the host's port",
    Finding.REPLY_NOT_DELIVERED: "look at the node itself: its firewall, connection tracking, and the VFP rules of the host's port",
}
"""Next steps where the source is a node itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The path of one flow, where it stopped, and why.

    ``node`` is where the first difference is; ``detail`` is what was seen there, in addresses and numbers.
    ``answered`` is what the client said, ``None`` where that is not known. ``remarks`` are what captures lack, for people.
    """

    scene: Scene
    finding: Finding
    node: str
    detail: str
    hops: tuple[Hop, ...]
    frames: tuple[Marked, ...]
    backend: End | None = None
    stopped: Hop | None = None
    """The first hop at which the flow was not seen, or not as it should be; none where nothing is wrong."""
    answered: bool | None = None
    remarks: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    """What objects of the nodes say of the finding, for or against it, where diagnostics were collected."""

    @property
    def next_step(self) -> str:
        """The next step after the finding; a node that sends itself has no endpoint of a Pod."""
        on_host = self.scene.source.on_host and self.finding in _FROM_HOST
        return _FROM_HOST[self.finding] if on_host else self.finding.next_step
