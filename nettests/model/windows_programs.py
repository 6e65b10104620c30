r"""Programs on Windows nodes: who runs HostProcess containers, how they start and exit. Pure.

hcsshim 0.9 starts a command itself; from 0.10 on, if files can be bound (``bindfltapi.dll``), it
starts ``cmd /c`` with the command, otherwise again the command itself. The image's root is at
``C:\C\<id>``, ``C:\hpc`` and ``C:\hpc\<id>``; hcsshim replaces ``ROOT`` in every command by it, as
text. All commands here mean the same with and without ``cmd``; ``HostStart`` says which applies, from
the answer to ``QUESTION``. Other Windows Pods start processes without ``cmd``.

Sources: microsoft/hcsshim ``internal/jobcontainers`` (``CreateProcess``, ``replaceWithMountPoint``) and ``internal/cmd``
(``escapeArgs``); Microsoft, "cmd"; kubernetes/kubernetes#120113 (cmd starts no file without an extension).
"""

import re
from dataclasses import dataclass
from typing import NewType

from nettests.errors import NettestsError
from nettests.model.facts import Fact, known, unknown
from nettests.model.versions import KubernetesVersion
from nettests.resources import lines_of

NodeArgv = NewType("NodeArgv", tuple[str, ...])
"""A command that may be started on a node; created by ``node_argv``."""

ROOT = "%CONTAINER_SANDBOX_MOUNT_POINT%"
AGNHOST = rf"{ROOT}\agnhost.exe"
START_AGNHOST = (
    *("cmd.exe", "/c", "copy", "/y", rf"{ROOT}\agnhost", AGNHOST, ">nul", "&&"),
    AGNHOST,
)
"""The ``command`` of a container whose ``args`` are agnhost's: the image's own file has no extension.

Whichever ``cmd`` reads ``&&``, one starts agnhost after the other has copied it."""
CMD = ("cmd.exe", "/c")
QUESTION = (*CMD, "echo", ROOT)
LONGEST = 8191
"""Characters of a command line of cmd (Microsoft, "Command prompt line string limitation")."""
OPERATORS = frozenset({">nul", "2>&1", "&&"})
"""Words meant for ``cmd``: if there are two, whichever reads them does what they say."""


class ChangedByCmdError(NettestsError):
    """A command that ``cmd /c`` would not pass on as it is."""


@dataclass(frozen=True, slots=True)
class HostStart:
    """How a node starts programs: the image's root, and whether through ``cmd /c``."""

    root: str
    behind_cmd: bool

    def __str__(self) -> str:
        started = "behind `cmd /c`" if self.behind_cmd else "without `cmd /c`"
        return f"image root {self.root}, commands {started}"


def node_argv(*words: str) -> NodeArgv:
    """Return ``words`` as a command for nodes; ``ChangedByCmdError`` if ``cmd /c`` would change it.

    hcsshim quotes words with blanks; within quotes cmd leaves everything but ``%`` and ``"`` alone.
    """
    if why := _changed(words):
        raise ChangedByCmdError(
            f"`cmd /c` of a Windows node changes {' '.join(words)[:200]!r}: {why}",
            hint="pass it another way: an option for each part of a query (curl -G -d), single quotes in PowerShell",
        )
    return NodeArgv(words)


def _changed(words: tuple[str, ...]) -> str:
    first = words[0]
    if re.search(r"[\s/]", first):
        return f"it takes only a part of {first!r} for the program"
    if "\\" in first and not re.search(r"\.\w+$", first):
        return f"it starts no file without an extension: {first}"
    for word in words:
        if special := re.search(r'[%"\r\n]', word.replace(ROOT, "")):
            return f"{special[0]!r} in {word[:80]!r}"
        bare = word not in OPERATORS if words[:2] == CMD else True
        if bare and not re.search(r"\s", word) and (special := re.search(r"[&|<>^]", word)):
            return f"{special[0]!r} in {word[:80]!r}"
    if (length := len(" ".join(("cmd /c", *words))) + 2 * len(words)) > LONGEST:
        return f"{length} characters are more than {LONGEST}"
    return ""


def host_start(output: str) -> HostStart | None:
    r"""Parse the answer to ``QUESTION``; ``None`` for any other text.

    ``ROOT`` itself is returned by a container that is not a HostProcess container.
    """
    # samples: C:\C\3e5f…, C:\hpc, C:\hpc\3e5f…
    match = re.fullmatch(r"([A-Za-z]:\\(C|hpc)(\\[\w.-]+)?)\\?", output.strip(), re.IGNORECASE)
    if match is None or (match[2].lower() == "c" and not match[3]):
        return None
    return HostStart(match[1], behind_cmd=match[2].lower() == "hpc" and not match[3])


_NTSTATUS = {
    int(code, 16): meaning
    for code, _, meaning in (
        line.partition(" ") for line in lines_of("nettests.model", "ntstatus.txt")
    )
}


def is_crash(code: int | None) -> bool:
    """Whether an exit code is a known NTSTATUS: the system ended the process; ignore its output."""
    return code is not None and code & 0xFFFFFFFF in _NTSTATUS


def exit_code_in_words(code: int) -> str:
    """Return an exit code as text; an NTSTATUS also in hexadecimal, with its name if known."""
    unsigned = code & 0xFFFFFFFF
    name = _NTSTATUS.get(unsigned)
    if name is None and unsigned < 0xC0000000:
        return str(code)
    return f"{code} ({unsigned:#010x}{f' {name}' if name else ''})"


HOST_PROCESS_KUBERNETES = KubernetesVersion(1, 23)
"""HostProcess containers are on by default since beta (KEP-1981)."""
HOST_PROCESS_CONTAINERD = (1, 6)
"""Kubernetes documentation, create-hostprocess-pod: containerd 1.6 or later."""


def host_process(kubelet: KubernetesVersion | None, runtime: str) -> Fact[bool]:
    """Return whether HostProcess containers can run: kubelet 1.23 and containerd 1.6, or later."""
    # sample: "containerd://1.7.20", "containerd://2.1.9+unknown"
    match = re.match(r"containerd://(\d+)\.(\d+)", runtime)
    if kubelet is None:
        return unknown("the kubelet's version is unknown")
    if match is None:
        if runtime.startswith("docker"):
            return known(value=False, origin=f"runtime {runtime}: Docker never had them")
        return unknown(f"the runtime is {runtime!r}")
    enough = kubelet >= HOST_PROCESS_KUBERNETES and (
        (int(match[1]), int(match[2])) >= HOST_PROCESS_CONTAINERD
    )
    return known(value=enough, origin=f"kubelet {kubelet}, {runtime}")
