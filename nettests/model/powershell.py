"""PowerShell command lines for nodes and images, and the mark that proves complete output. Pure.

With ``-Command``, the exit code is only that of the last command, an error in a module's function
ends nothing, and short output may be lost (about_PowerShell_exe; PowerShell#3629; hcsshim before
0.12, fixed by 5eb195256). So a script that reads a node stops at its first error and prints ``END``
last: output without it was truncated.
"""

import re
from collections.abc import Sequence
from typing import Any

from nettests.model.json_text import read_json
from nettests.model.windows_programs import NodeArgv, node_argv

POWERSHELL = ("powershell.exe", "-NoProfile", "-NonInteractive", "-Command")
"""No user's profile affects a script, and it never prompts."""
FIRST_USE_SECONDS = 30.0
END = "[[end]]"
BEGIN = (
    "$ErrorActionPreference = 'Stop'; $ProgressPreference = 'SilentlyContinue'; "
    "try { [Console]::OutputEncoding = [Text.UTF8Encoding]::new($false) } catch { }"
)
"""Errors end the script. Progress, which a process without a console would print to stderr as
CLIXML, is off. Without a console, setting the encoding may fail."""
_LAST = f"; '{END}'"
# sample: #< CLIXML⏎<Objs Version="1.1.0.1" xmlns="…"><Obj S="progress" RefId="0">…</Obj></Objs>
_CLIXML = re.compile(r"#< CLIXML\s*<Objs .*?</Objs>", re.DOTALL)


def powershell(script: str) -> NodeArgv:
    """Return the argv of a script, its last word; ``ChangedByCmdError`` as for ``node_argv``.

    A script with blanks gets quotes, in which ``cmd`` ignores pipes and ``&``; for quotes of its
    own it writes ``[char]34``.
    """
    return node_argv(*POWERSHELL, script)


def to_the_end(script: str) -> NodeArgv:
    """Return the argv of a script that stops at its first error, and prints ``END`` last."""
    return powershell(f"{BEGIN}; {script}{_LAST}")


def as_json(objects: str, depth: int) -> str:
    """Return a script that prints a pipeline's objects as one JSON array, even for none or one."""
    return f"ConvertTo-Json -InputObject @({objects}) -Depth {depth} -Compress"


def first_use(words: Sequence[str]) -> float:
    """Return how many seconds longer a command may take while PowerShell has no module cache yet.

    Its first command takes 13 s instead of 0.5 s then (Microsoft, "WMF 5.1 engine improvements"),
    as do concurrent ones.
    """
    return FIRST_USE_SECONDS if words[0] == POWERSHELL[0] else 0.0


def whole_output(words: Sequence[str], output: str) -> str | None:
    """Return the output without its end mark; ``None`` if a required mark is missing."""
    if not words[-1].endswith(_LAST):
        return output
    # sample: [{"Name":"nat"}]⏎[[end]]⏎
    body, mark, rest = output.rpartition(END)
    return body if mark and not rest.strip() and body[-1:] in {"", "\n"} else None


def read_shown(text: str) -> Any:
    """Parse the output of ConvertTo-Json, every list as an array; ``ValueError`` if not JSON.

    Progress records and byte order marks are ignored.
    """
    return _plain(read_json(_CLIXML.sub("", text).strip("\ufeff\r\n\t ")))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    # sample: {"value":  [{"Name":  "nat"}], "Count":  1} (Windows PowerShell, of arrays that have such a property)
    if value.keys() == {"value", "Count"} and isinstance(value["value"], list):
        return _plain(value["value"])
    return {key: _plain(item) for key, item in value.items()}
