"""The expected path of one flow: its ends, who translates it, how it crosses from node to node. Values.

``session`` makes it from a cluster's facts and the run's objects, or from a command line. Nothing here reads a
capture.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nettests.model.facts import Address
from nettests.model.words import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """Who sends or answers: an address on a node. ``on_host`` is the node itself, or a Pod on its own network."""

    address: Address
    node: str
    port: int | None = None
    on_host: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One flow as it is expected to go.

    ``requested`` is where it is sent: with ``translator``, the node whose load balancer has to translate it, the address
    of a Service or NodePort; else that of the one end in ``backends``.
    """

    protocol: Protocol
    source: End
    requested: Address
    requested_port: int | None
    backends: tuple[End, ...]
    translator: str = ""
    owners: Mapping[Address, str] = field(default_factory=dict)
    """Nodes by their addresses, and by other addresses that stand for them (source VIPs, gateways)."""
    encapsulated: bool | None = None
    """Whether Pods' packets cross between nodes inside VXLAN or GENEVE; ``None`` where facts do not tell."""
    vni: int | None = None
    source_kept: bool | None = None
    """Whether the backend has to see the source's own address; ``None`` if either is fine."""
    size: int = 0
    """Bytes of payload that one packet of the flow carries; 0 where it is small."""
    tries: int = 0
    """Number of requests, if the flow is about losses; 0 for a single request."""
    silence: float = 0.0
    """Seconds for which its connection was silent before the capture; 0 if it was not."""
    documented: str = ""
    """The documented limitation by which no answer is expected; empty if one is."""

    @property
    def translated(self) -> bool:
        """Whether a node has to translate the destination."""
        return bool(self.translator)

    def backend(self, address: Address) -> End | None:
        """Return the backend at an address."""
        return next((end for end in self.backends if end.address == address), None)
