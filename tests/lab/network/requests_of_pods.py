"""What tests require of a client in the lab; shared by the test's process and the isolated child."""

from dataclasses import dataclass

POD_PORT = 8080
PATIENCE = 1.5
"""Seconds until silence counts as ``timed out``; answers take well under a millisecond."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One attempt: ``source`` is a pod, a node, ``outside-client`` …; ICMP has no port."""

    source: str
    address: str
    port: int = POD_PORT
    protocol: str = "tcp"
    source_port: int = 0
    size: int = 0
    """Bytes of a datagram's payload; a short word if 0."""
