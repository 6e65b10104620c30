"""Addresses as sockets and texts: families, IPv4 peers of dual-stack sockets, ``host:port``. Pure."""

import ipaddress
import socket

Peer = tuple[str, int]


def family(address: str) -> socket.AddressFamily:
    """Return the address family of a literal address."""
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def join(host: str, port: int | str) -> str:
    """Return ``host:port``, with brackets around IPv6 (Go's ``net.JoinHostPort``)."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def peer(name: tuple[str, int] | tuple[str, int, int, int]) -> Peer:
    """Return address and port of a socket name; an IPv4-mapped address becomes the IPv4 one."""
    address = ipaddress.ip_address(name[0].partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return str(address.ipv4_mapped), name[1]
    return str(address), name[1]


def text(name: tuple[str, int] | tuple[str, int, int, int]) -> str:
    """Return a socket name as ``address:port``."""
    return join(*peer(name))
