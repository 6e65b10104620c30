"""How often a check is asked, and when its controls are: real dials to servers on loopback."""

import json
import time
from dataclasses import replace

import pytest

from nettests.model.channel import ChannelError, HttpAnswer
from nettests.model.check import Check, Control
from nettests.model.expectation import Expected
from nettests.model.words import Distribution, Outcome, Protocol, Question, Resolver, TargetKind
from nettests.probes.attempts import Attempts
from nettests.probes.pace import BURST
from tests.probes.conftest import Stage
from tests.probes.made import ask, check
from tests.probes.netexec import REFUSED as SAID_BY
from tests.probes.netexec import DialChannel

PROBE = "probe-windows-1-1"
REACH = ask(PROBE, TargetKind.POD_IP)
VANTAGE = Control(
    proves="vantage", ask=ask(PROBE, TargetKind.POD_IP, pod="server-windows-1-1", on="w1")
)
TARGET = Control(proves="target", ask=ask("probe-linux-1-1", TargetKind.POD_IP))
REFUSED = HttpAnswer(status=200, body=json.dumps({"errors": [f"dial tcp: {SAID_BY[1]}"]}))
TIMED_OUT = HttpAnswer(status=200, body=json.dumps({"errors": ["dial tcp: i/o timeout"]}))


def purposes(stage: Stage, id: str = "flow/a/b") -> list[str]:  # noqa: A002
    """Return what was asked, in order, without what was asked only to know that servers listen."""
    return [raw.purpose for raw in stage.raws(id)]


def test_a_positive_answer_is_asked_three_times_and_alternates(stage: Stage) -> None:
    """Three successes in a row, by turns for who answers and whom it saw; controls stay unasked."""
    asked = check(REACH, VANTAGE, TARGET)
    stage.observe(asked)
    assert purposes(stage) == ["check"] * 3
    assert [raw.context["request"] for raw in stage.raws()] == ["hostname", "clientip", "hostname"]
    seen = stage.seen(asked)
    assert (seen.outcome, seen.backends) == (Outcome.CONNECTED, ("server-linux-1-1",))
    assert seen.server_saw == stage.dialling[PROBE].address
    assert stage.done(asked.id) == {"record": "done", "check": asked.id, "answers": 3}


def test_udp_is_asked_the_same_way(stage: Stage) -> None:
    """A UDP check sees who replied and whom it saw."""
    asked = check(ask(PROBE, TargetKind.POD_IP, Protocol.UDP))
    stage.observe(asked)
    seen = stage.seen(asked)
    assert (seen.outcome, seen.server_saw) == (Outcome.REPLIED, stage.dialling[PROBE].address)


def test_a_negative_answer_is_a_sandwich(stage: Stage) -> None:
    """Negative, then every control, then negative again, all in the same window."""
    asked = check(ask(PROBE, TargetKind.NODE_IP), VANTAGE, TARGET)  # nothing listens there
    stage.observe(asked)
    assert purposes(stage) == ["check", "control:vantage", "control:target", "check"]
    seen = stage.seen(asked)
    assert seen.outcome is Outcome.REFUSED
    assert seen.agreed
    assert [control.ok for control in seen.controls] == [True, True]


def test_a_control_gets_a_second_try(stage: Stage) -> None:
    """A control that fails once is asked again, so that one lost packet does not spoil a check."""
    lost = iter([TIMED_OUT])
    victim = str(stage.pods["server-windows-1-1"].addresses[0])
    converged = 3  # the servers were asked before, to know that they listen

    def hook(path: str) -> HttpAnswer | None:
        asked = [item for item in stage.dialling[PROBE].asked if victim in item]
        return next(lost, None) if victim in path and len(asked) > converged else None

    stage.dialling[PROBE].hook = hook
    asked = check(ask(PROBE, TargetKind.NODE_IP), VANTAGE)
    stage.observe(asked)
    assert purposes(stage) == ["check", "control:vantage", "control:vantage", "check"]
    assert stage.seen(asked).controls[0].ok


def test_attempts_that_disagree_are_all_kept(stage: Stage) -> None:
    """One failure among successes is asked on, and stays visible as a disagreement."""
    answers = iter([TIMED_OUT])

    def hook(path: str) -> HttpAnswer | None:
        return next(answers, None) if "port=10250" in path else None

    address = str(stage.facts.node("n1").addresses[0])
    question = ask(PROBE, TargetKind.NODE_IP)
    stage.dialling[PROBE].hook = hook
    asked = check(question, VANTAGE)
    from tests.probes.netexec import Server

    with Server("kubelet", address, ports=(10251, 10250, 10252)):
        stage.observe(asked)
    assert purposes(stage) == ["check", "control:vantage", "check", "check", "check"]
    assert not stage.seen(asked).agreed


def test_a_port_that_is_dead_is_asked_in_a_row_with_controls_of_its_own(stage: Stage) -> None:
    """One port answers and one refuses: each is asked often enough, and controls ask for what failed."""
    address = str(stage.services["svc-server-linux-1-1"].addresses[0])
    target = str(stage.pods["server-windows-1-1"].addresses[0])

    def hook(path: str) -> HttpAnswer | None:
        return REFUSED if f"host={address}" in path and "port=82" in path else None

    stage.dialling[PROBE].hook = hook
    asked = check(ask(PROBE, TargetKind.SERVICE_CLUSTERIP), VANTAGE)
    stage.observe(asked)
    raws = stage.raws(asked.id)
    assert [(raw.purpose, raw.context["port"]) for raw in raws] == [
        ("check", "80"),
        ("check", "82"),
        ("control:vantage", "18082"),
        ("check", "82"),
        ("check", "80"),
        ("check", "80"),
    ]
    assert f"host={target}" in raws[2].command[-1]
    seen = stage.seen(asked)
    assert [(one.port, one.outcome) for one in seen.divided] == [
        (80, Outcome.CONNECTED),
        (82, Outcome.REFUSED),
    ]


def test_a_distribution_opens_new_connections_from_distinct_ports(stage: Stage) -> None:
    """Every connection names its backend, and the last ones prove that ports differ."""
    question = ask(
        PROBE, TargetKind.SERVICE_CLUSTERIP, question=Question.DISTRIBUTE, connections=32
    )
    asked = check(question)
    stage.observe(asked)
    raws = stage.raws(asked.id)
    assert [raw.context["request"] for raw in raws] == ["hostname"] * 32 + ["clientip"] * 4
    clients = stage.servers["svc-server-linux-1-1"].seen
    assert len(set(clients)) > len(clients) * 7 / 8  # the kernel may give a port again
    seen = stage.seen(asked)
    assert seen.trusted
    assert seen.distribution is Distribution.ONE_BACKEND


def test_a_distribution_always_asks_its_controls(stage: Stage) -> None:
    """One backend proves nothing unless several could have answered: controls come first."""
    spread = replace(REACH, question=Question.DISTRIBUTE, connections=5)
    control = Control(proves="target", ask=spread)
    question = ask(PROBE, TargetKind.SERVICE_CLUSTERIP, question=Question.DISTRIBUTE, connections=4)
    asked = check(question, control)
    stage.observe(asked)
    assert purposes(stage) == ["control:target"] * 5 + ["check"] * 8
    assert not stage.seen(asked).controls[0].ok


def test_a_name_that_is_missing_is_asked_twice(stage: Stage) -> None:
    """NXDOMAIN is negative: it comes twice, with the controls between."""
    question = ask(
        PROBE,
        TargetKind.SERVICE_PARTIAL_NAME,
        name_form="{service}.{namespace}",
        question=Question.RESOLVE,
        resolver=Resolver.SYSTEM,
    )
    asked = check(question, VANTAGE)
    stage.observe(asked)
    assert purposes(stage) == ["check", "control:vantage", "check"]
    assert stage.seen(asked).outcome is Outcome.NXDOMAIN


@pytest.mark.parametrize("answer", [TIMED_OUT, None])
def test_resolution_is_positive_whatever_the_server_does(
    stage: Stage, answer: HttpAnswer | None
) -> None:
    """A name that resolved is resolved, even where nothing answers behind it."""
    address = str(stage.services["svc-server-linux-1-1"].addresses[0])
    question = ask(
        PROBE,
        TargetKind.SERVICE_FQDN,
        name_form=address,  # stands for a name that the resolver knows
        question=Question.RESOLVE,
        resolver=Resolver.SYSTEM,
    )
    stage.dialling[PROBE].hook = lambda _: answer
    asked = check(question)
    stage.observe(asked)
    assert purposes(stage) == ["check"] * 3
    assert stage.seen(asked).outcome is Outcome.RESOLVED


def test_a_channel_error_is_asked_again_over_the_next_channel(stage: Stage) -> None:
    """The first channel fails, the second carries the question; the journal says both."""

    def broken(path: str) -> HttpAnswer | None:
        raise ChannelError("503 error trying to reach service")

    stage.dialling[PROBE].hook = broken
    stage.extra_channels = (DialChannel(PROBE, stage.dialling[PROBE].address, name="exec"),)
    asked = check(REACH)
    stage.observe(asked)
    assert [(raw.channel, raw.error) for raw in stage.raws(asked.id)] == [("exec", None)] * 3
    assert stage.seen(asked).outcome is Outcome.CONNECTED
    assert any("503 error trying" in event["text"] for event in stage.records("event"))


def test_no_channel_means_no_trust(stage: Stage) -> None:
    """When every channel fails the record carries the errors, and the check is not asked on."""

    def broken(path: str) -> HttpAnswer | None:
        raise ChannelError("gone")

    stage.dialling[PROBE].hook = broken
    asked = check(REACH, TARGET)
    stage.observe(asked)
    (raw,) = stage.raws(asked.id)
    assert raw.error == "pod-proxy: gone"
    assert not stage.seen(asked).trusted


def test_a_lost_exit_code_is_tried_once_more_and_never_trusted(stage: Stage) -> None:
    """exec has no other channel: it is tried twice, and then nothing is known."""
    stage.processes[PROBE].down = True
    asked = check(ask(PROBE, TargetKind.POD_IP, Protocol.ICMP, question=Question.PING))
    stage.observe(asked)
    (raw,) = stage.raws(asked.id)
    assert raw.error == "exec lost its exit code"
    assert len(stage.processes[PROBE].ran) == 2


def test_one_ping_is_enough(stage: Stage) -> None:
    """ping sends three echoes itself: one positive run is an answer."""
    asked = check(ask(PROBE, TargetKind.POD_IP, Protocol.ICMP, question=Question.PING))
    stage.observe(asked)
    assert len(stage.raws(asked.id)) == 1
    assert stage.seen(asked).outcome is Outcome.REPLIED


class Kernel:
    """Refuses by ICMP as Linux does: one a second for each destination, a few at once; then it is silent."""

    def __init__(self) -> None:
        self.tokens, self.last = float(BURST), time.monotonic()
        self.asked = self.silent = 0

    def __call__(self, path: str) -> HttpAnswer | None:
        if "protocol=udp" not in path:
            return None
        self.asked += 1
        now = time.monotonic()
        self.tokens = min(BURST, self.tokens + now - self.last)
        self.last = now
        if self.tokens < 1:
            self.silent += 1
            return TIMED_OUT
        self.tokens -= 1
        return REFUSED


def refused_over_udp(number: int) -> Check:
    """Return a check that all is well with if nobody is there."""
    question = ask(PROBE, TargetKind.NODE_IP, Protocol.UDP)
    return replace(
        check(question, id=f"flow/{number}"), claim=Expected(outcome=Outcome.REFUSED), controls=()
    )


def test_refusals_by_icmp_are_not_asked_for_faster_than_a_kernel_tells_them(stage: Stage) -> None:
    """Four checks ask eight times for what a kernel tells six times at once: nobody hears silence."""
    stage.dialling[PROBE].hook = kernel = Kernel()
    asked = [refused_over_udp(number) for number in range(4)]
    stage.observe(*asked)
    assert (kernel.asked, kernel.silent) == (8, 0)
    assert {stage.seen(one).outcome for one in asked} == {Outcome.REFUSED}
    assert all(stage.seen(one).agreed for one in asked)


def test_a_silence_that_the_limit_explains_is_asked_again(stage: Stage) -> None:
    """What others were refused at the same time used the limit up: the record says so, and the check asks again."""
    stage.dialling[PROBE].hook = kernel = Kernel()
    others = [
        check(ask(PROBE, TargetKind.NODE_IP, Protocol.UDP), id=f"other/{number}")
        for number in range(4)
    ]
    asked = refused_over_udp(0)
    observer = stage.observer([*others, asked])
    for one in others:
        Attempts().carry_out(observer.asker, one)
    assert kernel.silent > 0, "the others did not use the limit up"
    Attempts().carry_out(observer.asker, asked)
    seen = stage.seen(asked)
    assert (seen.outcome, seen.agreed) == (Outcome.REFUSED, True)
