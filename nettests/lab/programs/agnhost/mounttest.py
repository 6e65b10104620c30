"""``agnhost mounttest``: writes new files and prints the content of files, those of the container's mounts.

Of its flags those that write and read are known, and the one for the type of a file system; owners and modes are not told.
"""

import asyncio

from nettests.lab.interfaces import Process
from nettests.lab.mounted import FileError
from nettests.lab.programs.golang.flags import Flag, Kind, Parsed
from nettests.lab.programs.golang.values import quote
from nettests.lab.topology import OS

NEW_CONTENT = "mount-tester new file\n"
_NEW = ("new_file_0644", "new_file_0660", "new_file_0666", "new_file_0777")
FLAGS = {
    **{name: Flag(Kind.STRING, "") for name in _NEW},
    "fs_type": Flag(Kind.STRING, ""),
    "file_content": Flag(Kind.STRING, ""),
    "file_content_in_loop": Flag(Kind.STRING, ""),
    "retry_time": Flag(Kind.INT, 180),
    "break_on_expected_content": Flag(Kind.BOOL, default=True),
}
_EXT4 = 0xEF53
_LOOP_SECONDS = 2.0


async def run(process: Process, options: Parsed) -> int:
    """Write, then read, as mounttest does; 1 if anything failed."""
    good = True
    if path := options.text("fs_type"):
        good &= await _type(process, path)
    for name in _NEW:
        if path := options.text(name):
            good &= await _new(process, path)
    if path := options.text("file_content"):
        good &= await _read(process, path)
    if path := options.text("file_content_in_loop"):
        good &= await _loop(process, path, options)
    return 0 if good else 1


async def _type(process: Process, path: str) -> bool:
    """Print the type of a file system, which agnhost tells on Linux alone."""
    if process.machine.os is OS.WINDOWS:
        return True
    try:
        in_memory = process.machine.files.in_memory(path)
    except FileError as error:
        await _say(process, f"error from statfs({quote(path)}): {error}")
        return False
    await _say(process, f"mount type of {quote(path)}: {'tmpfs' if in_memory else _EXT4}")
    return True


async def _new(process: Process, path: str) -> bool:
    try:
        process.machine.files.write(path, NEW_CONTENT)
    except FileError as error:
        await _say(process, f"error writing new file {quote(path)}: {error}")
        return False
    return await _read(process, path)


async def _read(process: Process, path: str) -> bool:
    try:
        text = process.machine.files.read(path)
    except FileError as error:
        await _say(process, f"error reading file content for {quote(path)}: {error}")
        return False
    await _say(process, f"content of file {quote(path)}: {text}")
    return True


async def _loop(process: Process, path: str, options: Parsed) -> bool:
    """Read until the content is that of a new file, or the time is over: good if the last reading was."""
    clock = asyncio.get_running_loop().time
    began, good = clock(), True
    while clock() - began < options.number("retry_time"):
        try:
            text = process.machine.files.read(path)
        except FileError as error:
            good = False
            await _say(process, f"Error reading file {path}: {error}, retrying")
        else:
            good = True
            await _say(process, f"content of file {quote(path)}: {text}")
            if options.switch("break_on_expected_content") and text == NEW_CONTENT:
                break
        await asyncio.sleep(_LOOP_SECONDS)
    return good


async def _say(process: Process, text: str) -> None:
    await process.stdout(f"{text}\n".encode())
