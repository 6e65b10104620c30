"""Small Windows programs: ``hostname``, ``whoami`` and ``fsutil volume diskfree``."""

from collections.abc import Sequence

from nettests.lab.interfaces import Process
from nettests.lab.programs.terminal import err, out

_FREE_BYTES, _DRIVE_BYTES = 103_079_215_104, 136_365_211_648
_CONTAINER_USER = r"user manager\containeradministrator"
_HOST_USER = r"nt authority\system"


async def hostname(process: Process, _words: Sequence[str]) -> int:
    """Print the host name."""
    await out(process, f"{process.machine.hostname}\n")
    return 0


async def whoami(process: Process, _words: Sequence[str]) -> int:
    """Print the account, in lower case as Windows does."""
    machine = process.machine
    default = _HOST_USER if machine.host_process else _CONTAINER_USER
    await out(process, f"{(machine.user or default).lower()}\n")
    return 0


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
