"""Whether a program ran at all: error texts of runtimes and of ``cmd`` for failed starts. Pure.

A missing program is a start error where the runtime starts programs itself, and exit code 1 or 9009
with a text of ``cmd`` on a Windows node (``model.windows_programs``). English texts are matched;
translated ones are recognised by their shape: the sentence of ``CreateProcess``, the quoted program
name. Sources: runc; containerd ``internal/cri/server/container_execsync.go``; hcsshim
``internal/hcs``, ``internal/jobcontainers``; posted texts (containerd/containerd#6300,
kubernetes/website#29924, kubernetes/kubernetes#90802, #120113, microsoft/hcsshim#1128).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nettests.model.channel import MISSING, UNSTARTED
from nettests.model.windows_programs import ROOT
from nettests.parse.reading import one_line


@dataclass(frozen=True, slots=True)
class NotRun:
    """A program that did not run, and the text that says so."""

    text: str
    missing: bool
    """Whether the program or its folder is missing; otherwise the runtime could not start it."""

    def of(self, program: str, where: str) -> str:
        """Return a sentence that names the program and the Pod in which it should run."""
        return f"{program} {MISSING if self.missing else UNSTARTED} {where}: {self.text}"


# sample: curl.exe is missing in node-windows-1-1: 'curl.exe' is not recognized as an internal or external command, …
_SENTENCE = re.compile(rf"^\S+ (?:{MISSING}|{UNSTARTED}) \S+: ")

_NOT_FOUND = re.compile(
    # samples: exec: "ping": executable file not found in $PATH, exec: "/x": stat /x: no such file or directory
    r"executable file not found|no such file or directory"
    # sample: hcs::System::CreateProcess 54: The system cannot find the file specified.: unknown; in other versions … path specified.
    r"|cannot find the (?:file|path) specified|\b0x8007000[23]\b"
    # sample: failed to get application name from commandline "x": failed to find executable "x": unknown
    r"|failed to find executable"
    # sample: failed to start host process: exec: "C:\\C\\test\\agnhost": file does not exist
    r'|exec: "[^"]*": file does not exist'
)
_START_ERROR = re.compile(
    # samples: failed to start exec "5a": hcs::System::CreateProcess 5a: …, failed to create user process token: failed to logon user: …
    r"CreateProcess\b|failed to start exec|failed to create user process token|failed to get application name"
    r"|failed to start host process|unable to start container process"
)
_SYSTEM_SENTENCE = re.compile(r"CreateProcess\b.*?: (?P<sentence>[^:]+)(?:: unknown)?\s*$", re.DOTALL)  # fmt: skip
_ENGLISH = re.compile(r"\b(?:the|is|was|not|access|denied|parameter|incorrect|failed|0x\w+)\b", re.IGNORECASE)  # fmt: skip
"""Words that mark an English system sentence, which ``_NOT_FOUND`` decides; translations have none of them."""
_CMD_ENDS_WITH = frozenset({1, 9009})
"""cmd's exit codes for a program that it does not find: with ``/c``, and in a batch file."""
_NO_FOLDER = "The system cannot find the path specified."


def of_error(message: str) -> NotRun | None:
    """Return the failed start that a runtime's error reports; ``None`` if it reports none."""
    started = _START_ERROR.search(message) is None
    if _NOT_FOUND.search(message):
        return NotRun(one_line(message), missing=True)
    if started:
        return None
    sentence = _SYSTEM_SENTENCE.search(message)
    translated = sentence is not None and _ENGLISH.search(sentence["sentence"]) is None
    return NotRun(one_line(message), missing=translated)


def of_answer(
    words: Sequence[str], exit_code: int | None, stdout: str, stderr: str
) -> NotRun | None:
    """Return the failed start that an answer of ``cmd`` reports: exit code 1 or 9009, one text."""
    streams = [text.strip() for text in (stdout, stderr) if text.strip()]
    if exit_code not in _CMD_ENDS_WITH or len(streams) != 1 or not words:
        return None
    # What cmd should start is the word after ``cmd /c``.
    by_cmd = len(words) > 2 and re.fullmatch(r"cmd(?:\.exe)?", words[0]) and words[1] == "/c"
    text, program = one_line(streams[0]), words[2] if by_cmd else words[0]
    by_path = words[0] == program and "\\" in program
    if _quoted(program).search(text) or (by_path and text == _NO_FOLDER):
        return NotRun(text, missing=True)
    return None


def is_sentence(text: str) -> bool:
    """Whether a text was made by ``NotRun.of``."""
    return _SENTENCE.match(text) is not None


def _quoted(program: str) -> re.Pattern[str]:
    """Return a pattern of the quoted program name, whole or up to its first ``/``."""
    # samples: 'curl.exe' is not recognized …, Der Befehl "curl.exe" ist entweder …, 'C:\hpc' is not recognized …
    names = {program, program.split("/", maxsplit=1)[0] or program}
    written = "|".join(
        re.escape(name).replace(re.escape(ROOT), r"[A-Za-z]:\\[^'\"]*?") for name in names
    )
    return re.compile(rf"^[^'\"«„“‘]{{0,80}}['\"«„“‘]\s?(?:{written})\s?['\"»“”’]", re.IGNORECASE)
