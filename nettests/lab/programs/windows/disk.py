"""``cmd /c type FILE …`` and ``tasklist``: files and processes that the node's components left."""

import fnmatch
from collections.abc import Sequence

from nettests.lab.interfaces import Disk, Process
from nettests.lab.programs.terminal import err, out

_NOT_FOUND = "The system cannot find the file specified.\n"
_FIRST_PROCESS = 2804


async def type_files(process: Process, paths: Sequence[str]) -> int:
    """Print files; with wildcards or several paths their names go to standard error, as cmd does."""
    disk = _disk(process)
    several = len(paths) > 1 or any(set(path) & {"*", "?"} for path in paths)
    code = 0
    for path in paths:
        wanted = path.replace("/", "\\").lower()
        found = [name for name in sorted(disk.files) if fnmatch.fnmatchcase(name.lower(), wanted)]
        for name in found:
            if several:
                await err(process, f"\n{name}\n\n\n")
            await out(process, disk.files[name])
        if not found:
            await err(process, _NOT_FOUND)
            code = 1
    return code


async def tasklist(process: Process, words: Sequence[str]) -> int:
    """Print ``tasklist /FO CSV /NH``; 1 for any other form."""
    if [word.upper() for word in words] != ["/FO", "CSV", "/NH"]:
        await err(process, f"ERROR: Invalid argument/option - '{' '.join(words)}'.\n")
        return 1
    for number, name in enumerate(sorted(_disk(process).processes)):
        identity = _FIRST_PROCESS + 4 * number
        await out(process, f'"{name}.exe","{identity}","Services","0","43,148 K"\n')
    return 0


def _disk(process: Process) -> Disk:
    node = process.machine.node
    return node.disk if node is not None else Disk()
