"""How often a check is run, and when its controls are: real dials to servers on loopback."""

import json
import time
from dataclasses import replace

import pytest

from nettests.model.channel import ChannelError, HttpAnswer
from nettests.model.check import Check, Control
from nettests.model.expectation import Expected
from nettests.model.payload import ONE_MIB, SIXTY_FOUR_KIB
from nettests.model.words import Distribution, Outcome, Protocol, Question, Resolver, TargetKind
from nettests.probes.attempts import Attempts
from nettests.probes.pace import BURST
from tests.probes.conftest import Bench
from tests.probes.made import action, check
from tests.probes.netexec import REFUSED as SAID_BY
from tests.probes.netexec import DialChannel

PROBE = "probe-windows-1-1"
REACH = action(PROBE, TargetKind.POD_IP)
VANTAGE = Control(
    proves="vantage", action=action(PROBE, TargetKind.POD_IP, pod="server-windows-1-1", on="w1")
)
TARGET = Control(proves="target", action=action("probe-linux-1-1", TargetKind.POD_IP))
REFUSED = HttpAnswer(status=200, body=json.dumps({"errors": [f"dial tcp: {SAID_BY[1]}"]}))
TIMED_OUT = HttpAnswer(status=200, body=json.dumps({"errors": ["dial tcp: i/o timeout"]}))


def purposes(bench: Bench, id: str = "flow/a/b") -> list[str]:  # noqa: A002
    """Return what was tested, in order, without what was tested only to know that servers listen."""
    return [raw.purpose for raw in bench.raws(id)]


def test_a_positive_answer_is_probed_three_times_and_alternates(bench: Bench) -> None:
    """Three successes in a row, by turns for who answers and whom it saw; controls stay by itself."""
    probed = check(REACH, VANTAGE, TARGET)
    bench.observe(probed)
    assert purposes(bench) == ["check"] * 3
    assert [raw.context["request"] for raw in bench.raws()] == ["hostname", "clientip", "hostname"]
    seen = bench.seen(probed)
    assert (seen.outcome, seen.backends) == (Outcome.CONNECTED, ("server-linux-1-1",))
    assert seen.server_saw == bench.dialling[PROBE].address
    assert bench.done(probed.id) == {"record": "done", "check": probed.id, "answers": 3}


def test_udp_is_probed_the_same_way(bench: Bench) -> None:
    """A UDP check sees who replied and whom it saw."""
    probed = check(action(PROBE, TargetKind.POD_IP, Protocol.UDP))
    bench.observe(probed)
    seen = bench.seen(probed)
    assert (seen.outcome, seen.server_saw) == (Outcome.REPLIED, bench.dialling[PROBE].address)


def test_a_negative_answer_is_a_sandwich(bench: Bench) -> None:
    """Negative, then every control, then negative again, all in the same window."""
    probed = check(action(PROBE, TargetKind.NODE_IP), VANTAGE, TARGET)  # nothing listens there
    bench.observe(probed)
    assert purposes(bench) == ["check", "control:vantage", "control:target", "check"]
    seen = bench.seen(probed)
    assert seen.outcome is Outcome.REFUSED
    assert seen.agreed
    assert [control.ok for control in seen.controls] == [True, True]


def test_a_control_gets_a_second_try(bench: Bench) -> None:
    """A control that fails once is retried, so that one lost packet does not spoil a check."""
    lost = iter([TIMED_OUT])
    victim = str(bench.pods["server-windows-1-1"].addresses[0])
    converged = 3  # the servers were queried before, to know that they listen

    def hook(path: str) -> HttpAnswer | None:
        probed = [item for item in bench.dialling[PROBE].probed if victim in item]
        return next(lost, None) if victim in path and len(probed) > converged else None

    bench.dialling[PROBE].hook = hook
    probed = check(action(PROBE, TargetKind.NODE_IP), VANTAGE)
    bench.observe(probed)
    assert purposes(bench) == ["check", "control:vantage", "control:vantage", "check"]
    assert bench.seen(probed).controls[0].ok


def test_attempts_that_disagree_are_all_kept(bench: Bench) -> None:
    """One failure among successes is probed on, and stays visible as a disagreement."""
    answers = iter([TIMED_OUT])

    def hook(path: str) -> HttpAnswer | None:
        return next(answers, None) if "port=10250" in path else None

    address = str(bench.facts.node("n1").addresses[0])
    question = action(PROBE, TargetKind.NODE_IP)
    bench.dialling[PROBE].hook = hook
    probed = check(question, VANTAGE)
    from tests.probes.netexec import Server

    with Server("kubelet", address, ports=(10251, 10250, 10252)):
        bench.observe(probed)
    assert purposes(bench) == ["check", "control:vantage", "check", "check", "check"]
    assert not bench.seen(probed).agreed


def test_a_port_that_is_dead_is_probed_in_a_row_with_controls_of_its_own(bench: Bench) -> None:
    """One port answers and one refuses: each is probed often enough, and controls request what failed."""
    address = str(bench.services["svc-server-linux-1-1"].addresses[0])
    target = str(bench.pods["server-windows-1-1"].addresses[0])

    def hook(path: str) -> HttpAnswer | None:
        return REFUSED if f"host={address}" in path and "port=82" in path else None

    bench.dialling[PROBE].hook = hook
    probed = check(action(PROBE, TargetKind.SERVICE_CLUSTERIP), VANTAGE)
    bench.observe(probed)
    raws = bench.raws(probed.id)
    assert [(raw.purpose, raw.context["port"]) for raw in raws] == [
        ("check", "80"),
        ("check", "82"),
        ("control:vantage", "18082"),
        ("check", "82"),
        ("check", "80"),
        ("check", "80"),
    ]
    assert f"host={target}" in raws[2].command[-1]
    seen = bench.seen(probed)
    assert [(one.port, one.outcome) for one in seen.differing_ports] == [
        (80, Outcome.CONNECTED),
        (82, Outcome.REFUSED),
    ]


def test_a_distribution_opens_new_connections_from_distinct_ports(bench: Bench) -> None:
    """Every connection names its backend, and the last ones prove that ports differ."""
    question = action(
        PROBE, TargetKind.SERVICE_CLUSTERIP, question=Question.DISTRIBUTE, connections=32
    )
    probed = check(question)
    bench.observe(probed)
    raws = bench.raws(probed.id)
    assert [raw.context["request"] for raw in raws] == ["hostname"] * 32 + ["clientip"] * 4
    clients = bench.servers["svc-server-linux-1-1"].seen
    assert len(set(clients)) > len(clients) * 7 / 8  # the kernel may give a port again
    seen = bench.seen(probed)
    assert seen.trusted
    assert seen.distribution is Distribution.ONE_BACKEND


def test_a_distribution_always_probes_its_controls(bench: Bench) -> None:
    """One backend proves nothing unless several could have answered: controls come first."""
    spread = replace(REACH, question=Question.DISTRIBUTE, connections=5)
    control = Control(proves="target", action=spread)
    question = action(
        PROBE, TargetKind.SERVICE_CLUSTERIP, question=Question.DISTRIBUTE, connections=4
    )
    probed = check(question, control)
    bench.observe(probed)
    assert purposes(bench) == ["control:target"] * 5 + ["check"] * 8
    assert not bench.seen(probed).controls[0].ok


def test_a_name_that_is_missing_is_probed_twice(bench: Bench) -> None:
    """NXDOMAIN is negative: it comes twice, with the controls between."""
    question = action(
        PROBE,
        TargetKind.SERVICE_PARTIAL_NAME,
        name_form="{service}.{namespace}",
        question=Question.RESOLVE,
        resolver=Resolver.SYSTEM,
    )
    probed = check(question, VANTAGE)
    bench.observe(probed)
    assert purposes(bench) == ["check", "control:vantage", "check"]
    assert bench.seen(probed).outcome is Outcome.NXDOMAIN


def test_a_name_that_is_due_to_be_missing_is_looked_up_once_by_a_member(bench: Bench) -> None:
    """Its name server said what is expected; other nodes ask the same."""
    question = action(
        PROBE,
        TargetKind.SERVICE_PARTIAL_NAME,
        name_form="{service}.{namespace}",
        question=Question.RESOLVE,
        resolver=Resolver.SYSTEM,
    )
    missing = Expected(outcome=Outcome.NXDOMAIN)
    probed = replace(check(question, VANTAGE, id="flow/a/b#n1"), claim=missing)
    bench.observe(probed)
    assert [raw.purpose for raw in bench.raws(probed.id)] == ["check", "control:vantage"]
    assert bench.seen(probed).outcome is Outcome.NXDOMAIN


@pytest.mark.parametrize("answer", [TIMED_OUT, None])
def test_resolution_is_positive_whatever_the_server_does(
    bench: Bench, answer: HttpAnswer | None
) -> None:
    """A name that resolved is resolved, even where nothing answers behind it."""
    address = str(bench.services["svc-server-linux-1-1"].addresses[0])
    question = action(
        PROBE,
        TargetKind.SERVICE_FQDN,
        name_form=address,  # stands for a name that the resolver knows
        question=Question.RESOLVE,
        resolver=Resolver.SYSTEM,
    )
    bench.dialling[PROBE].hook = lambda _: answer
    probed = check(question)
    bench.observe(probed)
    assert purposes(bench) == ["check"] * 3
    assert bench.seen(probed).outcome is Outcome.RESOLVED


def test_a_channel_error_is_retried_over_the_next_channel(bench: Bench) -> None:
    """The first channel fails, the second carries the question; the journal says both."""

    def broken(path: str) -> HttpAnswer | None:
        raise ChannelError("503 error trying to reach service")

    bench.dialling[PROBE].hook = broken
    bench.extra_channels = (DialChannel(PROBE, bench.dialling[PROBE].address, name="exec"),)
    probed = check(REACH)
    bench.observe(probed)
    assert [(raw.channel, raw.error) for raw in bench.raws(probed.id)] == [("exec", None)] * 3
    assert bench.seen(probed).outcome is Outcome.CONNECTED
    assert any("503 error trying" in event["text"] for event in bench.records("event"))


def test_no_channel_means_no_trust(bench: Bench) -> None:
    """When every channel fails the record carries the errors, and the check is not run on."""

    def broken(path: str) -> HttpAnswer | None:
        raise ChannelError("gone")

    bench.dialling[PROBE].hook = broken
    probed = check(REACH, TARGET)
    bench.observe(probed)
    (raw,) = bench.raws(probed.id)
    assert raw.error == "pod-proxy: gone"
    assert not bench.seen(probed).trusted


def test_a_lost_exit_code_is_tried_once_more_and_never_trusted(bench: Bench) -> None:
    """exec has no other channel: it is tried twice, and then nothing is known."""
    bench.processes[PROBE].down = True
    probed = check(action(PROBE, TargetKind.POD_IP, Protocol.ICMP, question=Question.PING))
    bench.observe(probed)
    (raw,) = bench.raws(probed.id)
    assert raw.error == "exec lost its exit code"
    assert len(bench.processes[PROBE].ran) == 2


def test_one_ping_is_enough(bench: Bench) -> None:
    """ping sends three echoes itself: one positive run is an answer."""
    probed = check(action(PROBE, TargetKind.POD_IP, Protocol.ICMP, question=Question.PING))
    bench.observe(probed)
    assert len(bench.raws(probed.id)) == 1
    assert bench.seen(probed).outcome is Outcome.REPLIED


class Kernel:
    """Refuses by ICMP as Linux does: one a second for each destination, a few at once; then it is silent."""

    def __init__(self) -> None:
        self.tokens, self.last = float(BURST), time.monotonic()
        self.probed = self.silent = 0

    def __call__(self, path: str) -> HttpAnswer | None:
        if "protocol=udp" not in path:
            return None
        self.probed += 1
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
    question = action(PROBE, TargetKind.NODE_IP, Protocol.UDP)
    return replace(
        check(question, id=f"flow/{number}"), claim=Expected(outcome=Outcome.REFUSED), controls=()
    )


def test_refusals_by_icmp_are_not_requested_faster_than_a_kernel_tells_them(bench: Bench) -> None:
    """Four checks target eight times for what a kernel tells six times at once: nobody hears silence."""
    bench.dialling[PROBE].hook = kernel = Kernel()
    probed = [refused_over_udp(number) for number in range(4)]
    bench.observe(*probed)
    assert (kernel.probed, kernel.silent) == (8, 0)
    assert {bench.seen(one).outcome for one in probed} == {Outcome.REFUSED}
    assert all(bench.seen(one).agreed for one in probed)


def test_a_silence_that_the_limit_explains_is_retried(bench: Bench) -> None:
    """What others were refused at the same time used the limit up: the record says so, and the check retry."""
    bench.dialling[PROBE].hook = kernel = Kernel()
    others = [
        check(action(PROBE, TargetKind.NODE_IP, Protocol.UDP), id=f"other/{number}")
        for number in range(4)
    ]
    probed = refused_over_udp(0)
    observer = bench.observer([*others, probed])
    for one in others:
        Attempts().carry_out(observer.sender, one)
    assert kernel.silent > 0, "the others did not use the limit up"
    Attempts().carry_out(observer.sender, probed)
    seen = bench.seen(probed)
    assert (seen.outcome, seen.agreed) == (Outcome.REFUSED, True)


def test_one_large_transfer_is_enough(bench: Bench) -> None:
    """A transfer of 1 MiB is hundreds of packets in a row; one of 64 KiB is tried as often as any question."""
    body = json.dumps({"responses": ["server-linux-1-1"]})
    bench.dialling[PROBE].hook = lambda _: HttpAnswer(status=200, body=body)
    large = check(replace(REACH, size=ONE_MIB), id="flow/large")
    usual = check(replace(REACH, size=SIXTY_FOUR_KIB), id="flow/usual")
    bench.observe(large, usual)
    assert len(purposes(bench, "flow/large")) == 1
    assert len(purposes(bench, "flow/usual")) == 3
