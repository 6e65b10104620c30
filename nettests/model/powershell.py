"""PowerShell's command line, as nodes and probe images have it, and how a script shows that it came to its end. Pure.

With ``-Command`` the exit code is that of the last command alone, an error inside a function of a module ends nothing, and
short outputs of processes may be lost (about_PowerShell_exe; PowerShell#3629; hcsshim before 0.12, fixed by 5eb195256).
So a script that reads a node stops at its first error and prints ``END`` last: output without it was cut short.
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
"""Errors end the script; no progress is shown, which a process without a console would print to stderr as CLIXML; without a
console its encoding may not be set."""
_LAST = f"; '{END}'"
# sample: #< CLIXML⏎<Objs Version="1.1.0.1" xmlns="…"><Obj S="progress" RefId="0">…</Obj></Objs>
_CLIXML = re.compile(r"#< CLIXML\s*<Objs .*?</Objs>", re.DOTALL)


def powershell(script: str) -> NodeArgv:
    """Return the argv of a script, which stays readable as the last word; ``ChangedByCmdError`` as of ``node_argv``.

    Its pipes and ``&`` are safe from ``cmd`` in the quotes that a script with blanks gets; it writes ``[char]34`` for its own.
    """
    return node_argv(*POWERSHELL, script)


def to_the_end(script: str) -> NodeArgv:
    """Return the argv of a script that stops at its first error, and prints ``END`` last."""
    return powershell(f"{BEGIN}; {script}{_LAST}")


def as_json(objects: str, depth: int) -> str:
    """Return the script that prints the objects of a pipeline as one JSON array, whether there is none, one or several."""
    return f"ConvertTo-Json -InputObject @({objects}) -Depth {depth} -Compress"


def first_use(words: Sequence[str]) -> float:
    """Return how many seconds longer a command may take where PowerShell has no cache of modules yet.

    Its first command then takes 13 s and not half of one (Microsoft, "WMF 5.1 engine improvements"), and others beside it.
    """
    return FIRST_USE_SECONDS if words[0] == POWERSHELL[0] else 0.0


def whole_output(words: Sequence[str], output: str) -> str | None:
    """Return a command's output without its end mark; ``None`` where it has to have one and has none."""
    if not words[-1].endswith(_LAST):
        return output
    # sample: [{"Name":"nat"}]⏎[[end]]⏎
    body, mark, rest = output.rpartition(END)
    return body if mark and not rest.strip() and body[-1:] in {"", "\n"} else None


def read_shown(text: str) -> Any:
    """Return what ConvertTo-Json shows, with every list as an array; ``ValueError`` for what is no JSON.

    Progress records and the mark of an encoding are no part of it.
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
