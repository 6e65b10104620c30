"""Calibrations run in the background, are written first, and are waited for by the verdicts that need them."""

import threading
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from nettests.model.calibration import Instrument, begins
from nettests.model.channel import ExecAnswer, ProgramMissingError
from nettests.model.cluster_profile import Timing
from nettests.model.journal_records import Calibrated
from nettests.model.words import Protocol, Question, VantageKind
from nettests.parse.known_answers import NO_SUCH_PROGRAM, WORDS_ECHOED
from nettests.probes import places
from nettests.probes.calibrating import place_of
from nettests.probes.sending import Probe
from nettests.session.observing import Calibrating
from tests.facts import cluster_facts
from tests.parse.test_doubts import LOST, REPLY, output, pinging

NAME = "probe-linux-1-1"
FACTS = cluster_facts("linux")
PINGED = (Instrument.EXEC, Instrument.PING)


@dataclass(slots=True)
class Tools:
    """A container whose shell answers from a list, the last one again and again; it waits for ``may_answer``."""

    outputs: list[str]
    may_answer: threading.Event = field(default_factory=threading.Event)
    shells: int = 0
    missing: int = 0

    @property
    def slots(self) -> nullcontext[None]:
        return nullcontext()

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        if argv[0] != "sh":
            self.missing += 1
            raise ProgramMissingError("executable file not found in $PATH")
        self.may_answer.wait()
        output = self.outputs[min(self.shells, len(self.outputs) - 1)]
        self.shells += 1
        stderr = "".join(f"{begins(number)}\n" for number in range(3))
        return ExecAnswer(exit_code=3, stdout=output, stderr=stderr)


def says(first: str, second: str = LOST) -> str:
    """Return the output of a shell that was given words to echo, and two pings."""
    return output((WORDS_ECHOED, 0), (first, 0), (second, 1))


@dataclass(slots=True)
class Stage:
    """The calibrations of one Pod, and what was written."""

    tools: Tools
    written: list[Calibrated] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)
    calibrating: Calibrating = field(init=False)

    def __post_init__(self) -> None:
        self.calibrating = Calibrating(
            write=self.written.append, timing=Timing(), stopped=self.stopped
        )

    def begin(self) -> None:
        opened = {NAME: Probe(name=NAME, execute=self.tools)}
        self.calibrating.begin(places([pinging()], (), opened, FACTS), opened)

    def why(self) -> str:
        """Return why a ping from there is distrusted, once that is known."""
        return self.calibrating.doubts_about(pinging()).why(PINGED, NAME)


def answering(*outputs: str) -> Stage:
    """Return the stage of a container that answers at once."""
    stage = Stage(Tools(list(outputs)))
    stage.tools.may_answer.set()
    stage.begin()
    return stage


def test_a_tool_that_is_understood_is_asked_once() -> None:
    """By two processes, both of them in the journal."""
    stage = answering(says(REPLY))
    assert not stage.why()
    assert [each.calibration.exit_code for each in stage.written] == [None, 3]
    stage.begin()  # another round of a watch
    assert not stage.why()
    assert stage.tools.shells == 1


def test_a_verdict_waits_for_the_calibration() -> None:
    """Until then nothing is known of the tool."""
    stage = Stage(Tools([says(REPLY)]))
    stage.begin()
    verdicts: list[str] = []
    waiting = threading.Thread(target=lambda: verdicts.append(stage.why()))
    waiting.start()
    assert not verdicts
    stage.tools.may_answer.set()
    waiting.join()
    assert verdicts == [""]


def test_an_answer_that_was_lost_is_asked_for_again() -> None:
    """A short output gets lost now and then up to hcsshim 0.11, which says nothing of the tool."""
    stage = answering("", says(REPLY))
    assert not stage.why()
    assert len(stage.written) == 3


def test_a_tool_that_is_never_understood_is_distrusted() -> None:
    """After so many tries, each of them in the journal."""
    stage = answering(says("¡respuesta!"))
    assert "ping on linux-1 is not understood" in stage.why()
    assert stage.tools.shells == 3


def test_what_a_stopped_run_did_not_calibrate_is_not_trusted() -> None:
    """Nothing is begun any more."""
    stage = Stage(Tools([says(REPLY)]))
    stage.stopped.set()
    stage.begin()
    assert "was not calibrated: the run was stopped" in stage.why()
    assert stage.tools.shells == 0


def test_a_probe_is_calibrated_in_what_its_checks_need() -> None:
    """And not at all where it did not come up."""
    dialling = replace(
        pinging(),
        action=replace(pinging().action, question=Question.REACH, protocol=Protocol.TCP),
        controls=(),
    )
    (place,) = places([dialling], (), {NAME: Probe(name=NAME)}, FACTS)
    assert place.instruments == {Instrument.EXEC, Instrument.DIAL}
    assert not places([dialling], (), {}, FACTS)


def test_curl_is_calibrated_where_packets_are_captured() -> None:
    """The captured request is curl's: uncalibrated, each such check of a healthy cluster would be unknown."""
    action = replace(pinging().action, question=Question.WITNESS, protocol=Protocol.TCP)
    captured = replace(pinging(), action=action, controls=())
    (place,) = places([captured], (), {NAME: Probe(name=NAME)}, FACTS)
    assert Instrument.CURL in place.instruments


def test_pods_of_one_node_share_how_a_missing_program_ends() -> None:
    """Kubelet and runtime say so, whatever the Pod: it is asked once, and recorded for each with who was asked."""
    names = (NAME, f"{NAME}-none")
    stage = Stage(Tools([says(REPLY)]))
    stage.tools.may_answer.set()
    opened = {name: Probe(name=name, execute=stage.tools) for name in names}
    node = FACTS.nodes[0]
    stage.calibrating.begin(
        [place_of(name, node, VantageKind.POD, PINGED, FACTS) for name in names], opened
    )
    stage.calibrating.wait()
    missing = {
        record.calibration.probe: record.calibration.context.get("shared")
        for record in stage.written
        if record.calibration.command == (NO_SUCH_PROGRAM,)
    }
    assert missing == {names[0]: None, names[1]: names[0]}
    assert stage.tools.missing == 1
    doubts = stage.calibrating.doubts_about(pinging())
    assert [doubts.why(PINGED, name) for name in names] == ["", ""]


def test_what_a_calibration_has_shown_needs_no_trial() -> None:
    """A ping that was understood is there; of a program that was not asked nothing is known."""
    stage = answering(says(REPLY))
    assert stage.calibrating.works(NAME, "ping")
    assert not stage.calibrating.works(NAME, "nslookup")
    assert not stage.calibrating.works("another", "ping")
    assert not answering(says("?", "?")).calibrating.works(NAME, "ping")
