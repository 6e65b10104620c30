"""What ``cmd.exe`` says in the language of the system; a fault (``other-cmd-text``) puts words there that nobody knows."""

from nettests.lab.interfaces import Process
from nettests.lab.programs.terminal import encode
from nettests.lab.programs.windows import texts

NO_FILE, NO_PATH, DENIED, IN_USE = 2, 3, 5, 32
"""Errors of Win32, whose texts are the system's."""


def message(process: Process, key: str | int, **values: object) -> bytes:
    """Return one of cmd's own messages by its key, or the system's of an error's number, as it is written."""
    language = texts.of(process.machine.locale)
    text = language.say("cmd", key, **values) if isinstance(key, str) else language.system(key)
    return encode(process, f"{process.machine.troubles.cmd_text or text}\n")


async def complain(process: Process, key: str | int, **values: object) -> None:
    """Write a message to standard error."""
    await process.stderr(message(process, key, **values))
