"""Small Windows programs: ``hostname``, ``whoami`` and ``fsutil volume diskfree``."""

from collections.abc import Sequence

from nettests.lab.interfaces import Machine, Process
from nettests.lab.programs.terminal import err, out
from nettests.lab.programs.windows import texts
from nettests.lab.programs.windows.broken_tools import OTHER_ACCOUNT, OTHER_NAME

_FREE_BYTES, _DRIVE_BYTES = 103_079_215_104, 136_365_211_648
_CONTAINER_USER = r"User Manager\ContainerAdministrator"
_HOST_USER = r"NT AUTHORITY\SYSTEM"
_UNKNOWN_USER, _UNKNOWN_NAME = r"NT AUTHORITY\Network Service", "somewhere-else"
"""What faults put in their place."""
_SIDS = {"system": "S-1-5-18", "local service": "S-1-5-19", "network service": "S-1-5-20"}
_ANY_SID = "S-1-5-93-2-1"


async def hostname(process: Process, _words: Sequence[str]) -> int:
    """Print the host name."""
    machine = process.machine
    await out(
        process,
        f"{_UNKNOWN_NAME if machine.host_process and OTHER_NAME in machine.troubles.tools else machine.hostname}\n",
    )
    return 0


async def whoami(process: Process, words: Sequence[str]) -> int:
    """Print the account, in lower case as Windows does; with ``/user`` its SID, too."""
    name, sid = account(process.machine)
    name = name.lower()
    if [word.lower() for word in words] == ["/user"]:
        width = max(len(name), len("User Name"))
        rows = (("User Name", "SID"), ("=" * width, "=" * len(sid)), (name, sid))
        lines = "".join(f"{left.ljust(width)} {right}\n" for left, right in rows)
        await out(process, f"\nUSER INFORMATION\n----------------\n\n{lines}")
        return 0
    await out(process, f"{name}\n")
    return 0


def account(machine: Machine) -> tuple[str, str]:
    """Return the account that a process runs as, as its system names it, and its SID."""
    user = machine.user or (_HOST_USER if machine.host_process else _CONTAINER_USER)
    if machine.host_process and OTHER_ACCOUNT in machine.troubles.tools:
        user = _UNKNOWN_USER
    key = user.rpartition("\\")[2].lower()
    names = texts.of(machine.locale).groups["accounts"]
    return str(names.get(key, user)), _SIDS.get(key, _ANY_SID)


async def fsutil(process: Process, words: Sequence[str]) -> int:
    """Print ``fsutil volume diskfree C:``; 1 for anything else."""
    if [word.lower() for word in words] != ["volume", "diskfree", "c:"]:
        await err(process, f"{' '.join(words)} is an invalid parameter.\n")
        return 1
    free, whole = f"{_FREE_BYTES:,} ( 96.0 GB)", f"{_DRIVE_BYTES:,} (127.0 GB)"
    await out(process, f"Total free bytes                : {free}\n")
    await out(process, f"Total bytes                     : {whole}\n")
    await out(process, f"Total quota free bytes          : {free}\n")
    return 0
