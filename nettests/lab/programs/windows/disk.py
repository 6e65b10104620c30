"""``cmd /c type FILE …``, ``del``, CNI plugins and ``tasklist``: what the node's components left on it."""

import fnmatch
from collections.abc import Sequence

from nettests.lab.interfaces import Disk, Process
from nettests.lab.programs.terminal import err, out
from nettests.lab.programs.windows import texts

_FIRST_PROCESS = 2804


async def type_files(process: Process, paths: Sequence[str]) -> int:
    """Print files; with wildcards or several paths their names go to standard error, as cmd does."""
    disk = _disk(process)
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
            await err(process, f"{texts.of(process.machine.locale).system(2)}\n")
            code = 1
    return code


async def delete_files(process: Process, words: Sequence[str]) -> int:
    """Delete files (``del /q FILE …``); 0 also where one is not there, as with cmd."""
    disk, language = _disk(process), texts.of(process.machine.locale)
    for path in (word for word in words if not word.startswith("/")):
        wanted = path.replace("/", "\\").lower()
        gone = [name for name in disk.files if name.lower() == wanted]
        for name in gone:
            del disk.files[name]
        if not gone:
            await err(process, f"{language.say('cmd', 'not_found', path=path)}\n")
    return 0


async def print_about(process: Process, path: str, words: Sequence[str]) -> int:
    """Call a CNI plugin without input: it prints its version, to standard error unless that is redirected."""
    by_path = {name.lower(): text for name, text in _disk(process).programs.items()}
    write = out if list(words) == ["2>&1"] else err
    text = by_path.get(path.replace("/", "\\").lower())
    await write(
        process, f"{texts.of(process.machine.locale).system(3)}\n" if text is None else text
    )
    return 1 if text is None else 0


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
