"""Readings of a Windows node in one process: what fits into a row, and each one's own output in it."""

import pytest

from nettests.model.channel import ExecAnswer
from nettests.model.powershell import BEGIN, to_the_end
from nettests.model.windows_programs import CMD, LONGEST, node_argv
from nettests.probes.configuration import answers, rows
from nettests.rules import RULES
from nettests.rules.readings import OfPeers, ToolOutput

VERSION = ToolOutput(name="version", words=node_argv(*CMD, "ver"), keep=str)
PLUGIN = ToolOutput(name="plugin", words=node_argv(*CMD, r"C:\bin\plugin.exe", "2>&1"), keep=str)
LIST = ToolOutput(name="list", words=to_the_end("@(1,2) | Sort-Object"), keep=str)
QUOTED = ToolOutput(name="quoted", words=node_argv("reg.exe", "query", r"HKLM\Some Key"), keep=str)


def every_reading() -> tuple[ToolOutput, ...]:
    """Return the tools that all rules together run on a node."""
    reads = (reading for rule in RULES.values() for reading in rule.reads)
    tools = (each.of if isinstance(each, OfPeers) else each for each in reads)
    return tuple({each.name: each for each in tools if isinstance(each, ToolOutput)}.values())


def test_all_readings_of_all_rules_fit_into_few_processes() -> None:
    """A row is as long as a command line may be: a node needs one process, or two, and each reading stands in one."""
    made = list(rows(every_reading()))
    assert len(made) <= 2
    assert all(len(" ".join(words)) <= LONGEST for words, _ in made)
    taken = [each.name for _, readings in made for each in readings]
    assert len(taken) == len(set(taken))
    left = [each for each in every_reading() if each.name not in taken]
    assert all(any(" " in word for word in each.words) for each in left)


def test_scripts_of_powershell_share_one_start() -> None:
    """It starts once for all scripts, whose operators the outer cmd leaves to it, and each stops at its own error."""
    ((words, readings),) = rows((LIST, VERSION, LIST))
    assert readings == (LIST, VERSION, LIST)
    assert words[-1].count("powershell.exe") == 1
    assert words[-1].count(BEGIN) == 1
    assert "^| Sort-Object" in words[-1]
    assert words[-1].index("ver") < words[-1].index("powershell.exe")


@pytest.mark.parametrize("readings", [(), (LIST,), (QUOTED, QUOTED), (QUOTED, VERSION)])
def test_nothing_is_put_together_that_gains_nothing_or_needs_quotes(
    readings: tuple[ToolOutput, ...],
) -> None:
    """One reading has its own process anyway, and quotes do not survive cmd within cmd."""
    assert list(rows(readings)) == []


def test_each_reading_has_its_own_output() -> None:
    """What stands between its marks, whichever way lines end, and with the mark that a script prints last."""
    stdout = "~1~ \r\nWindows 10\r\n~1.0~\r\n~0~\r\n[1]\r\n[[end]]\r\n~0.0~\r\n"
    assert dict(answers((LIST, VERSION), stdout)) == {
        "list": ExecAnswer(exit_code=0, stdout="[1]\r\n[[end]]\r\n", stderr=""),
        "version": ExecAnswer(exit_code=0, stdout="Windows 10\r\n", stderr=""),
    }


def test_a_reading_that_failed_is_taken_again_unless_all_it_said_is_there() -> None:
    """Its errors went to a stream that others share, except if it merges both streams itself."""
    stdout = "~0~\n~0.1~\n~1~\nno such file\n~1.1~\n"
    assert dict(answers((VERSION, PLUGIN), stdout)) == {
        "plugin": ExecAnswer(exit_code=1, stdout="no such file\n", stderr="")
    }


@pytest.mark.parametrize("stdout", ["", "~0~\nWindows", "Windows\n~0.0~\n"])
def test_output_that_was_cut_off_answers_nothing(stdout: str) -> None:
    """Both marks have to be there."""
    assert dict(answers((VERSION,), stdout)) == {}
