"""A captured connection as two witnesses saw it: an answer or facts, and a packet capture.

``parse.witness`` creates the values for ``Question.WITNESS``, ``judge`` judges them. Neither
witness is trusted more than the other: a disagreement is reported.
"""

from dataclasses import dataclass
from enum import StrEnum


class Subject(StrEnum):
    """The subject on which two witnesses are compared."""

    SOURCE = "source address"
    """The client that the server saw, and the source of the packets that reached its node."""
    NAT = "OutBoundNAT"
    """The client that an external server saw, and the source with which packets left the node."""
    REPLY = "way of the reply"
    """With DSR, or if the source address is kept, the reply goes to the client that was seen."""
    ENCAPSULATION = "encapsulation"
    """The network plugin's configured encapsulation, and the packets between the nodes."""
    DESTINATION = "destination"
    """With the annotation preserve-destination: the destination of packets at a silent backend."""
    TUNNEL = "tunnel"
    """For unanswered connections: encapsulated packets leaving one node and reaching the other."""
    MAC = "MAC address"
    """l2bridge sends its Pods' packets with the node's own address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Witnessed:
    """What both witnesses show about one subject, with their names."""

    subject: Subject
    witness: str
    """The witness other than the capture: ``the server``, ``flannel's backend host-gw``."""
    says: str
    capture: str
    """Where the capture ran: ``win-1, uplink``."""
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
