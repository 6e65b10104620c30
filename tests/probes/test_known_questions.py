"""Known questions are asked in as few processes as there are batches, by shell text that a real shell runs."""

import subprocess
from pathlib import Path

import pytest

from nettests.model.calibration import Calibration, Instrument
from nettests.model.words import OS
from nettests.parse.doubts import State, known_answers
from nettests.probes.known_questions import Batch, batches

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
        asked=batch.asked,
        command=batch.words,
        exit_code=done.returncode,
        stdout=done.stdout,
        stderr=done.stderr,
    )


def test_a_shell_asks_all_questions_and_keeps_their_streams_and_codes_apart(tools: Path) -> None:
    """Each tool's answer is read by itself, and the last code is the one that is due."""
    _, shell = batches(OS.LINUX, frozenset(Instrument))
    answers = {answer.name: answer for answer in known_answers(run(shell, tools))}
    assert set(answers) == {"ping/itself", "ping/nobody", "exec/exit-code"}
    assert {answer.state for answer in answers.values()} == {State.UNDERSTOOD}
    assert "noise" in answers["ping/nobody"].text
    assert "noise" not in answers["ping/itself"].text


def test_a_tool_that_is_missing_is_absent(tools: Path) -> None:
    """The shell says so by its code."""
    (tools / "ping").unlink()
    _, shell = batches(OS.LINUX, frozenset(Instrument))
    states = {answer.name: answer.state for answer in known_answers(run(shell, tools))}
    assert states == {
        "ping/itself": State.ABSENT,
        "ping/nobody": State.ABSENT,
        "exec/exit-code": State.UNDERSTOOD,
    }


@pytest.mark.parametrize("system", list(OS))
def test_what_no_check_needs_is_not_asked(system: OS) -> None:
    """Two processes in any case: one of a program that does not exist, and one shell."""
    missing, shell = batches(system, {Instrument.EXEC})
    assert len(missing.words) == 1
    assert [asked.name for asked in shell.asked] == ["exec/exit-code"]
    assert "ping" not in shell.words[-1]


def test_cmd_gets_no_sign_that_one_before_it_would_act_on() -> None:
    """hcsshim starts HostProcess commands by `cmd /c`: in a word with blanks it leaves all alone but these."""
    _, shell = batches(OS.WINDOWS, frozenset(Instrument))
    assert not set(shell.words[-1]) & set('%"\n')
    assert " " in shell.words[-1]
