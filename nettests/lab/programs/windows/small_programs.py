"""Small Windows programs: ``hostname``, ``whoami``, ``where``, ``fsutil volume diskfree``, and ``cmd /c`` with ver, set, exit, type or a CNI plugin."""

import re
from collections.abc import Sequence

from nettests.lab.interfaces import Process
from nettests.lab.programs.terminal import err, out
from nettests.lab.programs.windows.disk import delete_files, print_about, type_files

_FREE_BYTES, _DRIVE_BYTES = 103_079_215_104, 136_365_211_648
_CONTAINER_USER = r"user manager\containeradministrator"
# sample: exit 7
_EXIT = re.compile(r"exit ([0-9]{1,9})")
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


async def cmd(process: Process, words: Sequence[str]) -> int:
    """Run ``cmd /c`` with ver, set, exit, type, del or a CNI plugin; other text is refused, never interpreted."""
    text = " ".join(words[1:]).strip().lower()
    if words[:1] and words[0].lower() == "/c" and text == "ver":
        machine = process.machine
        await out(process, f"\nMicrosoft Windows [Version 10.0.{machine.build}.{machine.patch}]\n")
        return 0
    if words[:1] and words[0].lower() == "/c" and text == "set":
        for name, value in sorted(process.environment.items(), key=lambda pair: pair[0].lower()):
            await out(process, f"{name}={value}\n")
        return 0
    if words[:1] and words[0].lower() == "/c" and (ending := _EXIT.fullmatch(text)):
        return int(ending[1])
    if words[:1] and words[0].lower() == "/c" and words[1:2] and words[1].lower() == "type":
        return await type_files(process, words[2:])
    if words[:1] and words[0].lower() == "/c" and words[1:2] and words[1].lower() == "del":
        return await delete_files(process, words[2:])
    if words[:1] and words[0].lower() == "/c" and words[1:2] and words[1].lower().endswith(".exe"):
        return await print_about(process, words[1], words[2:])
    await err(
        process,
        "The lab's cmd runs nothing but 'ver', 'set', 'exit', 'type', 'del' and CNI plugins.\n",
    )
    return 1


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


async def print_places(process: Process, names: Sequence[str], present: Sequence[str]) -> int:
    """Answer ``where``: a path for each name found; exit 1 when one was not."""
    for name in present:
        file = name if name.lower().endswith(".exe") else f"{name}.exe"
        await out(process, f"C:\\Windows\\System32\\{file}\n")
    if len(present) == len(names) and names:
        return 0
    await err(process, "INFO: Could not find files for the given pattern(s).\n")
    return 1
