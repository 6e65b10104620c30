"""A run traces one check for each incident, within its time, and says what was found or why nothing was."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from nettests.capture.trace_files import NodeCapture
from nettests.capture.tracer import Traced
from nettests.errors import NettestsError
from nettests.model.check import Check
from nettests.model.words import Question, TargetKind, Verdict
from nettests.session import run as whole_run
from nettests.session.judging import Judging
from nettests.session.run import TRACES, representatives, trace_incidents
from nettests.tracing.packet import Frame
from nettests.tracing.path import trace
from tests.probes.made import FACTS, action, check
from tests.tracing.frames import MARK, PATH, WIRE_OUT, captures, packet, scene, seen

ONE = check(action("probe-windows-1-1", TargetKind.POD_IP), id="flow/a/b")
OTHER = replace(ONE, id="flow/c/d")


def traced(one: Check) -> Traced:
    """A trace of a flow that was not translated."""
    whole = captures((PATH[0], seen("win-1", WIRE_OUT, packet())))
    kept = NodeCapture(capture=whole[0], frames=(Frame(time=1.0, data=b"\x45", ethernet=False),))
    found = trace(scene(), MARK, whole, answered=False)
    return Traced(check=one.id, trace=found, captures=(kept,))


def test_each_trace_has_a_folder_and_an_event(tmp_path: Path) -> None:
    """Page, lines and capture file stand below the run's folder; the event says finding, node and page."""
    told: list[str] = []
    trace_incidents(iter([ONE, OTHER]), traced, tmp_path, told.append)
    folders = sorted(path.name for path in (tmp_path / TRACES).iterdir())
    assert len(folders) == 2
    assert {path.name for path in (tmp_path / TRACES / folders[0]).iterdir()} == {
        "trace.html",
        "trace.txt",
        "win-1.pcap",
    }
    assert told[0].startswith("trace of flow/a/b: the packet was not translated")
    assert "on win-1" in told[0]
    assert told[0].endswith("/trace.html")


def test_no_further_trace_is_begun_when_half_the_time_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first incident is always traced; for the next there has to be time."""
    monkeypatch.setattr(whole_run, "TRACING_SECONDS", 1e-9)
    told: list[str] = []
    trace_incidents(iter([ONE, OTHER]), traced, tmp_path, told.append)
    assert len(told) == 1


def test_what_is_silent_for_minutes_is_left_to_a_trace_of_its_own() -> None:
    """A run has seconds for its traces: checks of idle connections have none there."""
    idle = check(action("probe-windows-1-1", TargetKind.POD_IP, question=Question.IDLE))
    verdicts = SimpleNamespace(
        verdicts=lambda: {idle.id: Verdict.FAIL, OTHER.id: Verdict.FAIL},
        expectations={},
        observations={},
    )
    chosen = [*representatives([idle, OTHER], cast("Judging", verdicts), FACTS)]
    assert chosen == [OTHER]


def test_what_cannot_be_traced_is_told(tmp_path: Path) -> None:
    """A refusal is an event with its reason, and ends the tracing."""

    def refused(_one: Check) -> Traced:
        raise NettestsError("level baseline forbids it")

    told: list[str] = []
    trace_incidents(iter([ONE, OTHER]), refused, tmp_path, told.append)
    assert told == ["no trace of flow/a/b: level baseline forbids it"]
    assert not (tmp_path / TRACES).exists()
