"""Known questions are asked in as few processes as there are batches, by shell text that a real shell runs."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nettests.model.calibration import Calibration, Instrument
from nettests.model.windows_programs import ROOT
from nettests.model.words import OS, Family, VantageKind
from nettests.parse.doubts import State, known_answers
from nettests.parse.known_answers import ROWS
from nettests.probes.known_questions import Batch, Place, batches

PING = """#!/bin/sh
for host; do :; done
if [ "$host" = 127.0.0.1 ]; then echo "64 bytes from $host: icmp_seq=1 ttl=64 time=0.05 ms"; exit 0; fi
echo "1 packets transmitted, 0 received, 100% packet loss"; echo "noise" >&2; exit 1
"""


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder of programs that answer as those of an image do."""
    (tmp_path / "ping").write_text(PING)
    (tmp_path / "ping").chmod(0o700)
    return tmp_path


def run(batch: Batch, tools: Path) -> Calibration:
    """Run a batch in the shell of this machine."""
    words = ("/bin/sh", *batch.words[1:])
    done = subprocess.run(
        words, capture_output=True, text=True, env={"PATH": str(tools)}, check=False
    )
    return Calibration(
        node="n",
        vantage="pod",
        os=OS.LINUX,
        probe="p",
        questions=batch.questions,
        command=batch.words,
        exit_code=done.returncode,
        stdout=done.stdout,
        stderr=done.stderr,
    )


def place(**changes: Any) -> Place:
    """Return a Linux Pod whose ping is calibrated."""
    of = Place(
        node="n",
        vantage=VantageKind.POD,
        os=OS.LINUX,
        probe="p",
        instruments=frozenset({Instrument.EXEC, Instrument.PING}),
    )
    return replace(of, **changes)


ON_WINDOWS = place(
    os=OS.WINDOWS, vantage=VantageKind.NODE, instruments=frozenset(Instrument) - {Instrument.DIAL}
)


def test_a_shell_asks_all_questions_and_keeps_their_streams_and_codes_apart(tools: Path) -> None:
    """Each tool's answer is read by itself, and the last code is the one that is due."""
    _, shell = batches(place())
    answers = {answer.name: answer for answer in known_answers(run(shell, tools))}
    assert set(answers) == {"exec/arguments", "ping/itself", "ping/nobody", "exec/exit-code"}
    assert {answer.state for answer in answers.values()} == {State.UNDERSTOOD}
    assert "noise" in answers["ping/nobody"].text
    assert "noise" not in answers["ping/itself"].text


def test_a_tool_that_is_missing_is_absent(tools: Path) -> None:
    """The shell says so by its code."""
    (tools / "ping").unlink()
    _, shell = batches(place())
    states = {answer.name: answer.state for answer in known_answers(run(shell, tools))}
    assert states == {
        "exec/arguments": State.UNDERSTOOD,
        "ping/itself": State.ABSENT,
        "ping/nobody": State.ABSENT,
        "exec/exit-code": State.UNDERSTOOD,
    }


@pytest.mark.parametrize("of", [place(), replace(ON_WINDOWS, vantage=VantageKind.POD)])
def test_what_no_check_needs_is_not_asked(of: Place) -> None:
    """Two processes in any case: one of a program that does not exist, and one shell."""
    missing, shell = batches(replace(of, instruments=frozenset({Instrument.EXEC})))
    assert len(missing.words) == 1
    assert [asked.name for asked in shell.questions] == ["exec/arguments", "exec/exit-code"]
    assert "ping" not in shell.words[-1]


@pytest.mark.parametrize("instrument", [one for one in Instrument if one is not Instrument.PKTMON])
def test_each_instrument_has_questions_and_each_question_its_row(instrument: Instrument) -> None:
    """What is asked can be read; HNS is asked by the script of PowerShell, and no node's pktmon."""
    asking = frozenset({Instrument.EXEC, Instrument.POWERSHELL, instrument})
    _, shell = batches(replace(ON_WINDOWS, instruments=asking, families=tuple(Family)))
    rows = [ROWS[asked.name] for asked in shell.questions]
    assert instrument in {row.instrument for row in rows}
    assert len(rows) == len({asked.name for asked in shell.questions})


def test_cmd_gets_no_sign_that_one_before_it_would_act_on() -> None:
    """hcsshim starts HostProcess commands by `cmd /c`: in a word with blanks it leaves all alone but these."""
    _, shell = batches(replace(ON_WINDOWS, families=tuple(Family), address="fd00::1"))
    assert not set(shell.words[-1].replace(ROOT, "")) & set('%"\n')
    assert " " in shell.words[-1]


def test_a_script_is_spelled_for_cmd() -> None:
    """Its pipes reach PowerShell, and are no pipes of cmd."""
    _, shell = batches(ON_WINDOWS)
    assert not re.search(r"(?<!\^)[|<>]", shell.words[-1].replace("1>&2", ""))


def test_a_dial_is_asked_of_the_probe_itself() -> None:
    """By curl, as the probe's own request: its answer is read like that of a check."""
    _, shell = batches(place(instruments=frozenset({Instrument.EXEC, Instrument.DIAL})))
    (opened, closed) = (asked for asked in shell.questions if asked.name.startswith("dial/"))
    assert opened.words[0] == closed.words[0] == "GET"
    assert f"'http://127.0.0.1:8080{opened.words[1]}'" in shell.words[-1]
