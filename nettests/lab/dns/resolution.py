"""What resolving a name in a container ends with: addresses, or a failure that says which kind.

The vocabulary shared by the resolver manners (``linux``, ``windows``) and the programs that word their
results. ``NO_SUCH_HOST`` (the server said NXDOMAIN) and ``TIMED_OUT`` (no server answered) are never
merged: programs and their readers tell them apart.
"""

import ipaddress
from dataclasses import dataclass
from enum import StrEnum

from nettests.lab.dns.exchange import NoAnswerError
from nettests.lab.interfaces import ResolverConfig


class Failure(StrEnum):
    """Why a name did not resolve."""

    NO_SUCH_HOST = "no such host"
    NO_DATA = "no data"
    TIMED_OUT = "timed out"
    NO_SERVER = "no server"
    """The server's port refused, or its address could not be reached."""
    SERVER_FAILURE = "server failure"
    """The server answered SERVFAIL or REFUSED."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The addresses of a name, in the order the server gave them; ``canonical`` is the final name."""

    canonical: str
    addresses: tuple[str, ...]
    ttl: int = 0


class ResolutionError(Exception):
    """The name did not resolve; ``server`` is ``address:port`` of the last server queried, or empty."""

    def __init__(
        self, failure: Failure, name: str, *, server: str = "", cause: NoAnswerError | None = None
    ) -> None:
        super().__init__(f"{name}: {failure}")
        self.failure = failure
        self.name = name
        self.server = server
        self.cause = cause


def from_literal(name: str) -> Resolved | None:
    """Return the address itself when ``name`` is an IPv4 or IPv6 literal."""
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return None
    return Resolved(canonical=str(address), addresses=(str(address),))


def from_hosts(config: ResolverConfig, name: str) -> Resolved | None:
    """Return what the hosts file says of ``name``, compared without case; IPv4 first."""
    wanted = name.rstrip(".").lower()
    addresses = [
        address
        for address, names in config.hosts
        if wanted in (host_name.lower() for host_name in names)
    ]
    if not addresses:
        return None
    return Resolved(
        canonical=name, addresses=tuple(sorted(addresses, key=lambda text: ":" in text))
    )
