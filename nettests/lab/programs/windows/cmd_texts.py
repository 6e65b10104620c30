"""What ``cmd.exe`` says: its own messages, which Windows keeps in the language of the system.

``say`` writes one; a fault (``other-cmd-text``) replaces them all by words that nobody has seen.
"""

from enum import Enum

from nettests.lab.interfaces import Process
from nettests.lab.programs.terminal import encode


class Text(Enum):
    """The messages, in English; ``{}`` is what they are about."""

    NOT_RECOGNIZED = (
        "'{}' is not recognized as an internal or external command,\n"
        "operable program or batch file.\n"
    )
    NO_PATH = "The system cannot find the path specified.\n"
    NO_FILE = "The system cannot find the file specified.\n"
    IN_USE = "The process cannot access the file because it is being used by another process.\n"
    DENIED = "Access is denied.\n"
    COPIED = "        {} file(s) copied.\n"
    NOT_FOUND = "Could Not Find {}\n"
    NO_VARIABLE = "Environment variable {} not defined\n"
    TOO_LONG = "The command line is too long.\n"


def say(process: Process, text: Text, about: object = "") -> bytes:
    """Return a message as it is written."""
    sample = process.machine.troubles.cmd_text or text.value
    return encode(process, sample.replace("{}", str(about)))
