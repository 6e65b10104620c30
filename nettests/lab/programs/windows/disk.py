"""``type FILE …`` and ``del`` of cmd, CNI plugins and ``tasklist``: what the node's components left on it; and cmd's own messages.

They are in the language of the system; a fault (``other-cmd-text``) puts words there that nobody knows.
"""

import fnmatch
from collections.abc import Sequence

from nettests.lab.interfaces import Process
from nettests.lab.mounted.files import NO_FILE
from nettests.lab.programs.terminal import encode, err, out
from nettests.lab.programs.windows import texts

_FIRST_PROCESS = 2804
DENIED = 5


def message(process: Process, key: str | int, **values: object) -> bytes:
    """Return one of cmd's own messages by its key, or the system's of an error's number, as it is written."""
    language = texts.of(process.machine.locale)
    text = language.say("cmd", key, **values) if isinstance(key, str) else language.system(key)
    return encode(process, f"{process.machine.troubles.cmd_text or text}\n")


async def complain(process: Process, key: str | int, **values: object) -> None:
    """Write a message to standard error."""
    await process.stderr(message(process, key, **values))


async def type_files(process: Process, paths: Sequence[str]) -> int:
    """Print files; with wildcards or several paths their names go to standard error, as cmd does."""
    disk = process.machine.disk
    several = len(paths) > 1 or any(set(path) & {"*", "?"} for path in paths)
    code = 0
    for path in paths:
        wanted = path.replace("/", "\\").lower()
        names = [name for name in sorted(disk.files) if fnmatch.fnmatchcase(name.lower(), wanted)]
        for name in names:
            if several:
                await err(process, f"\n{name}\n\n\n")
            await out(process, disk.files[name])
        if not names:
            await complain(process, NO_FILE)
            code = 1
    return code


async def delete_files(process: Process, words: Sequence[str]) -> int:
    """Delete files (``del /q FILE …``); 0 also where one is not there, as with cmd."""
    disk = process.machine.disk
    for path in (word for word in words if not word.startswith("/")):
        wanted = path.replace("/", "\\").lower()
        gone = [name for name in disk.files if name.lower() == wanted]
        for name in gone:
            del disk.files[name]
        if not gone:
            await complain(process, "not_found", path=path)
    return 0


async def print_about(process: Process, _words: Sequence[str]) -> int:
    """Call a CNI plugin without input: it prints its version, to standard error."""
    by_path = {name.lower(): text for name, text in process.machine.disk.programs.items()}
    await err(process, by_path[process.argv[0].replace("/", "\\").lower()])
    return 0


async def tasklist(process: Process, words: Sequence[str]) -> int:
    """Print ``tasklist /FO CSV /NH``, which is a process itself; 1 for any other form."""
    if [word.upper() for word in words] != ["/FO", "CSV", "/NH"]:
        await err(process, f"ERROR: Invalid argument/option - '{' '.join(words)}'.\n")
        return 1
    for number, name in enumerate(sorted({*process.machine.disk.processes, "tasklist"})):
        identity = _FIRST_PROCESS + 4 * number
        await out(process, f'"{name}.exe","{identity}","Services","0","43,148 K"\n')
    return 0
