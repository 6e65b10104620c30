"""``netsh int ipv4 show dynamicport`` and ``show excludedportrange``: the node's port ranges."""

import re
from collections.abc import Sequence

from nettests.lab.interfaces import Process
from nettests.lab.programs.terminal import out
from nettests.lab.programs.windows import texts
from nettests.lab.programs.windows.texts import Texts

# Sample: int ipv4 show dynamicport tcp
_DYNAMIC = re.compile(r"int(?:erface)? ipv4 show dynamicport(?:range)? (?:protocol=)?(tcp|udp)")
# Sample: int ipv4 show excludedportrange protocol=tcp
_EXCLUDED = re.compile(r"int(?:erface)? ipv4 show excludedportrange (?:protocol=)?(tcp|udp)")
_REMOTE_MANAGEMENT = {"tcp": (5985, 47001), "udp": ()}
"""WinRM's own reservations."""


async def run(process: Process, words: Sequence[str]) -> int:
    """Print the range requested; 1 for any other command."""
    text, language = " ".join(words).lower(), texts.of(process.machine.locale)
    node = process.machine.node
    hns = node.hns if node is not None else None
    if hns is not None and (match := _DYNAMIC.fullmatch(text)):
        await out(process, _dynamic(language, match[1], hns.dynamic_ports()))
        return 0
    if hns is not None and (match := _EXCLUDED.fullmatch(text)):
        await out(process, _excluded(language, match[1], hns.port_pools(match[1])))
        return 0
    await out(process, f"{language.say('netsh', 'unknown', command=' '.join(words))}\n")
    return 1


def _dynamic(language: Texts, protocol: str, ports: range) -> str:
    return (
        f"\n{language.say('netsh', 'dynamic', protocol=protocol)}\n"
        "---------------------------------\n"
        f"{language.say('netsh', 'start', number=ports.start)}\n"
        f"{language.say('netsh', 'count', number=len(ports))}\n\n"
    )


def _excluded(language: Texts, protocol: str, pools: Sequence[range]) -> str:
    ranges = [range(port, port + 1) for port in _REMOTE_MANAGEMENT[protocol]] + list(pools)
    rows = "".join(
        f"{ports.start:>10}  {ports.stop - 1:>10}      \n" for ports in sorted(ranges, key=min)
    )
    return (
        f"\n{language.say('netsh', 'excluded', protocol=protocol)}\n\n"
        f"{language.say('netsh', 'columns')}\n"
        "----------    --------      \n"
        f"{rows}\n{language.say('netsh', 'administered')}\n\n"
    )
