"""A captured connection as seen by two witnesses: an answer or facts on one side, a packet capture on the other. Values.

``parse.witness`` makes it for checks of ``Question.WITNESS``, ``judge`` judges it. Neither witness is trusted more
than the other: a disagreement is reported.
"""

from dataclasses import dataclass
from enum import StrEnum


class Subject(StrEnum):
    """The subject on which two witnesses are compared."""

    SOURCE = "source address"
    """The client that the server saw, and the source of the packets that reached its node."""
    NAT = "OutBoundNAT"
    """The client that a server outside saw, and the source with which the packets left the node."""
    REPLY = "way of the reply"
    """With DSR, and wherever the source is kept, the reply goes to the client that the server saw."""
    ENCAPSULATION = "encapsulation"
    """The encapsulation that the network plugin is configured for, and the packets between the nodes."""
    DESTINATION = "destination"
    """What the annotation preserve-destination keeps: whom packets name that reach a backend which does not answer them."""
    TUNNEL = "tunnel"
    """Of a connection without an answer: the encapsulated packets that left the one node, and those the other got."""
    MAC = "MAC address"
    """l2bridge sends its Pods' packets with the node's own address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Witnessed:
    """The statements of both witnesses on one subject, with their names."""

    subject: Subject
    witness: str
    """The witness other than the capture: ``the server``, ``flannel's backend host-gw``."""
    says: str
    capture: str
    """The place of the capture: ``win-1, uplink``."""
    shows: str
    agree: bool

    def __str__(self) -> str:
        """Return both in one sentence."""
        if self.agree:
            return f"{self.subject.value}: {self.says}, as {self.witness} says, and the capture on {self.capture} shows"
        return (
            f"{self.subject.value}: {self.witness} says {self.says}, "
            f"the capture on {self.capture} shows {self.shows}"
        )
