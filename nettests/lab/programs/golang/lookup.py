"""Go's address resolution: ``host:port`` texts to addresses (``net.SplitHostPort``, ``ResolveTCPAddr``)."""

import ipaddress

from nettests.lab.dns import linux, windows
from nettests.lab.dns.exchange import ResolutionError, Resolved
from nettests.lab.interfaces import Machine
from nettests.lab.programs.golang.failures import NetError, lookup_failed
from nettests.lab.topology import OS

_PORTS = {"domain": 53, "http": 80, "https": 443, "ssh": 22}


def split(text: str) -> tuple[str, str]:
    """Return host and port of ``host:port``; ``NetError`` with Go's text when it is not one."""
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        raise NetError(f"address {text}: missing port in address")
    if host.startswith("["):
        if not host.endswith("]"):
            raise NetError(f"address {text}: missing ']' in address")
        return host[1:-1], port
    if ":" in host:
        raise NetError(f"address {text}: too many colons in address")
    return host, port


def parse_port(text: str) -> int:
    """Return a port given by number or service name; empty is 0."""
    if not text:
        return 0
    if text in _PORTS:
        return _PORTS[text]
    if text.isdecimal():
        number = int(text)
        if number <= 65535:
            return number
        raise NetError(f"address {text}: invalid port")
    raise NetError(f"lookup tcp/{text}: unknown port")


async def resolve_name(machine: Machine, name: str) -> Resolved:
    """Resolve ``name`` as the machine's OS does; ``ResolutionError`` when it does not."""
    if machine.os is OS.WINDOWS:
        return await windows.resolve(machine, name)
    return await linux.resolve(machine, name)


async def resolve_address(machine: Machine, host: str, port: str) -> tuple[str, int]:
    """Return the address Go dials for ``host`` and ``port``: the first IPv4 one, else the first.

    An empty host is the local machine. ``NetError`` when the port or the name is not valid.
    """
    number = parse_port(port)
    if not host:
        return "", number
    try:
        resolved = await resolve_name(machine, host)
    except ResolutionError as error:
        raise lookup_failed(machine, error) from error
    versions = sorted(resolved.addresses, key=lambda text: ipaddress.ip_address(text).version)
    return versions[0], number
