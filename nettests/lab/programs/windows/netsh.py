"""``netsh int ipv4 show dynamicport`` and ``show excludedportrange``: the node's port ranges."""

import re
from collections.abc import Sequence

from nettests.lab.interfaces import Process
from nettests.lab.programs.terminal import out

# Sample: int ipv4 show dynamicport tcp
_DYNAMIC = re.compile(r"int(?:erface)? ipv4 show dynamicport(?:range)? (?:protocol=)?(tcp|udp)")
# Sample: int ipv4 show excludedportrange protocol=tcp
_EXCLUDED = re.compile(r"int(?:erface)? ipv4 show excludedportrange (?:protocol=)?(tcp|udp)")
_REMOTE_MANAGEMENT = {"tcp": (5985, 47001), "udp": ()}
"""WinRM's own reservations."""


async def run(process: Process, words: Sequence[str]) -> int:
    """Print the range requested; 1 for any other command."""
    text = " ".join(words).lower()
    node = process.machine.node
    hns = node.hns if node is not None else None
    if hns is not None and (match := _DYNAMIC.fullmatch(text)):
        await out(process, _dynamic(match[1], hns.dynamic_ports()))
        return 0
    if hns is not None and (match := _EXCLUDED.fullmatch(text)):
        await out(process, _excluded(match[1], hns.port_pools(match[1])))
        return 0
    await out(process, f"The following command was not found: {' '.join(words)}.\n")
    return 1


def _dynamic(protocol: str, ports: range) -> str:
    return (
        f"\nProtocol {protocol} Dynamic Port Range\n"
        "---------------------------------\n"
        f"Start Port      : {ports.start}\n"
        f"Number of Ports : {len(ports)}\n\n"
    )


def _excluded(protocol: str, pools: Sequence[range]) -> str:
    ranges = [range(port, port + 1) for port in _REMOTE_MANAGEMENT[protocol]] + list(pools)
    rows = "".join(
        f"{ports.start:>10}  {ports.stop - 1:>10}      \n" for ports in sorted(ranges, key=min)
    )
    return (
        f"\nProtocol {protocol} Port Exclusion Ranges\n\n"
        "Start Port    End Port      \n"
        "----------    --------      \n"
        f"{rows}\n* - Administered port exclusions.\n\n"
    )
