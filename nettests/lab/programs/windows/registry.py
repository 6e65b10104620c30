"""``reg.exe query KEY [/s]``: keys of a Windows node's registry, as its components left them, or of a container's own.

Nothing is written.
"""

from collections.abc import Sequence

from nettests.lab.interfaces import Process, ResolverConfig
from nettests.lab.programs.terminal import err, out

Values = tuple[tuple[str, str, str], ...]
_TCPIP = r"HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters"
_ROOTS = {"hklm": "hkey_local_machine"}
_ABSENT = "ERROR: The system was unable to find the specified registry key or value.\n"
_INVALID = 'ERROR: Invalid syntax.\nType "REG QUERY /?" for usage.\n'
_NO_NAME = "(Default)"


async def run(process: Process, words: Sequence[str]) -> int:
    """Print the values of a key and the keys below it, with ``/s`` the values of these too; 1 where there is none."""
    options = [word.lower() for word in words[2:]]
    if not words[1:] or words[0].lower() != "query" or options not in ([], ["/s"]):
        await err(process, _INVALID)
        return 1
    root, _, rest = words[1].lower().partition("\\")
    wanted = f"{_ROOTS.get(root, root)}\\{rest}"
    node = process.machine.node
    registry = _of_tcpip(process.machine.resolver)
    if node is not None:
        registry = {_TCPIP: _ALWAYS} | dict(node.disk.registry)
    inner = [key for key in registry if key.lower().startswith(f"{wanted}\\")]
    printed = [key for key in registry if key.lower() == wanted] + (inner if options else [])
    for key in printed:
        await out(process, f"\n{key}\n")
        for name, kind, data in registry[key]:
            await out(process, f"    {name or _NO_NAME}    {kind}    {data}\n")
    if not options:
        for key in _children(inner, wanted):
            await out(process, f"{key}\n")
    if not printed and not inner:
        await err(process, _ABSENT)
    return 0 if printed or inner else 1


_ALWAYS: Values = (("DataBasePath", "REG_EXPAND_SZ", r"%SystemRoot%\System32\drivers\etc"),)


def _of_tcpip(resolver: ResolverConfig) -> dict[str, Values]:
    """Return what HNS leaves of a network endpoint's DNS settings in the registry of its container."""
    searches: Values = ()
    if resolver.searches:
        searches = (("SearchList", "REG_SZ", ",".join(resolver.searches)),)
    return {_TCPIP: (*_ALWAYS, *searches)}


def _children(keys: Sequence[str], parent: str) -> list[str]:
    """Return the keys one level below another, also those that only hold others."""
    depth = parent.count("\\") + 2
    return list(dict.fromkeys("\\".join(key.split("\\")[:depth]) for key in keys))
