"""Many readings of a Windows node by one process, and each reading's own output in it. Pure.

Between a rule's readings and ``configuration``, which takes them: PowerShell alone takes seconds to
start. Marks surround each output as in calibrations (``known_questions``). A reading that failed is
taken again by a process of its own, because one process has one stream for all errors.
"""

import re
from collections.abc import Iterator, Sequence

from nettests.model.calibration import begins, ended
from nettests.model.channel import ExecAnswer
from nettests.model.powershell import BEGIN, POWERSHELL
from nettests.model.windows_programs import ChangedByCmdError
from nettests.model.words import OS
from nettests.probes.known_questions import by_cmd, by_shell, in_sections
from nettests.rules.readings import ToolOutput

Row = tuple[tuple[str, ...], tuple[ToolOutput, ...]]
"""The argv of a process, and the readings that it takes."""


def rows(readings: Sequence[ToolOutput]) -> Iterator[Row]:
    """Yield the processes that take as many of these readings as one command line has room for.

    Not yielded is what ``cmd`` would change: words with blanks need quotes, ``!`` is expanded.
    """
    fitting = tuple(
        each
        for each in readings
        if _by_powershell(each) or not any(re.search(r"[\s!]", word) for word in each.words)
    )
    if len(fitting) < 2:
        return
    try:
        yield by_shell(OS.WINDOWS, *_lines(fitting)), fitting
    except ChangedByCmdError:
        half = len(fitting) // 2
        yield from rows(fitting[:half])
        yield from rows(fitting[half:])


def answers(readings: Sequence[ToolOutput], stdout: str) -> Iterator[tuple[str, ExecAnswer]]:
    """Yield the name and answer of each reading, unless it failed and has errors elsewhere."""
    for number, each in enumerate(readings):
        # sample: ~0~⏎Microsoft Windows [Version 10.0.20348.3207]⏎~0.0~⏎~1~⏎[]⏎[[end]]⏎~1.0~
        mark = rf"~{number}~ *\r?\n(.*?)~{number}\.(-?\d+)~"
        match = re.search(mark, stdout, re.DOTALL)
        if match and (match[2] == "0" or each.words[-1] == "2>&1"):
            yield each.name, ExecAnswer(exit_code=int(match[2]), stdout=match[1], stderr="")


def _by_powershell(reading: ToolOutput) -> bool:
    return reading.words[:-1] == POWERSHELL and not re.search("[!%]", reading.words[-1])


def _lines(readings: Sequence[ToolOutput]) -> Iterator[str]:
    scripts: dict[int, str] = {}
    for number, each in enumerate(readings):
        if _by_powershell(each):
            scripts[number] = each.words[-1].removeprefix(f"{BEGIN}; ")
        else:
            yield f"echo {begins(number)}"
            yield by_cmd(each.words, on_node=True)
            yield f"echo {ended(number, '!errorlevel!')}"
    if scripts:
        yield by_cmd((*POWERSHELL, in_sections(scripts)), on_node=True)
