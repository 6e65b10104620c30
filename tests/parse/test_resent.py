"""An answer that took as long as a lost packet takes, while all else came at once."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from nettests.model.check import Action, Check, Target, Vantage
from nettests.model.expectation import Expected
from nettests.model.observation import Raw
from nettests.model.service import ByHand, ServiceSettings
from nettests.model.words import (
    OS,
    Outcome,
    Placement,
    Protocol,
    Question,
    TargetKind,
    VantageKind,
)
from nettests.parse.late_answers import resent
from nettests.parse.overload import Carried

MEANWHILE = [Carried(10.3, 0.02), Carried(10.6, 0.03)]
"""What the same probe answered while the slow attempt, from 10.0 on, was on its way."""


def check(protocol: Protocol = Protocol.TCP, kind: TargetKind = TargetKind.POD_IP) -> Check:
    """Return a check from a pod."""
    source = Vantage(kind=VantageKind.POD, probe="probe-windows-1-1", os=OS.WINDOWS)
    return Check(
        id="f",
        flow="f",
        title="f",
        action=Action(source=source, target=Target(kind=kind), protocol=protocol),
        placement=Placement.OTHER_NODE,
        claim=Expected(outcome=Outcome.CONNECTED),
        controls=(),
        sources=(),
    )


def answers(*elapsed: float, body: str = '{"responses":["server-1"]}') -> list[Raw]:
    """Return positive answers of a dial that took so long; the first begins at 10.0."""
    return [
        Raw(
            check="f",
            purpose="check",
            attempt=number,
            tool="dial",
            client_os="windows",
            probe="probe-windows-1-1",
            channel="port-forward",
            command=("GET", "/dial"),
            started=10.0 + 20 * (number - 1),
            elapsed=seconds,
            status=200,
            stdout=body,
            context={"request": "hostname"},
        )
        for number, seconds in enumerate(elapsed, 1)
    ]


@pytest.mark.parametrize("seconds", [1.0, 1.04, 3.02])
def test_a_lost_syn_is_told(seconds: float) -> None:
    """One second, or three, where the others take milliseconds, is a SYN that was sent again."""
    told = resent(check(), answers(seconds, 0.02, 0.03), MEANWHILE)
    assert told is not None
    assert told.startswith(f"attempt 1 took {seconds:.2f} s, as long as a lost SYN takes")
    assert "the probe was not busy: meanwhile it answered other requests (2)" in told


def test_a_payload_that_took_a_second_is_no_lost_syn() -> None:
    """How long half a MiB takes is a matter of both ends: three that take a second in turn happen on a busy node."""
    small = check()
    payload = replace(small, action=replace(small.action, size=2**20))
    assert resent(small, answers(1.07, 0.01, 0.01), MEANWHILE) is not None
    assert resent(payload, answers(1.07, 0.01, 0.01), MEANWHILE) is None


def answered_by(*backends: tuple[str, float]) -> list[Raw]:
    """Return answers of several backends, each with its name and seconds."""
    told = answers(*(seconds for _, seconds in backends))
    said = [json.dumps({"responses": [name]}) if name else "" for name, _ in backends]
    clients = '{"responses":["10.244.3.7:51611"]}'
    return [
        replace(
            raw, stdout=text or clients, context={"request": "hostname" if text else "clientip"}
        )
        for raw, text in zip(told, said, strict=True)
    ]


NEAR, FAR = "server-near", "server-far"


@pytest.mark.parametrize(
    ("backends", "is_told"),
    [
        ([(NEAR, 0.01), (NEAR, 0.01), (FAR, 1.15), (NEAR, 0.01), (FAR, 1.3)], False),
        ([(NEAR, 0.01), (NEAR, 0.01), (FAR, 1.15), (NEAR, 0.01), (FAR, 0.02)], True),
        ([(NEAR, 0.01), (NEAR, 0.01), (FAR, 1.15), (NEAR, 0.01)], False),
        ([(NEAR, 0.01), (NEAR, 0.01), ("", 1.15), ("", 0.01)], False),
    ],
    ids=["it is far away", "it is near otherwise", "it answered once", "nobody knows who it was"],
)
def test_one_of_several_backends_is_compared_with_itself(
    backends: list[tuple[str, float]], *, is_told: bool
) -> None:
    """What is far away answers late each time: no packet was lost."""
    target = Target(kind=TargetKind.SERVICE_CLUSTERIP, service="servers", backends=(NEAR, FAR))
    several = replace(check(), action=replace(check().action, target=target))
    late = Carried(50.3, 0.02)  # while the third attempt was on its way
    assert (resent(several, answered_by(*backends), [late]) is not None) is is_told


def test_a_lost_query_is_told() -> None:
    """Names take five seconds longer where the first query was lost."""
    by_name = check(Protocol.UDP, TargetKind.SERVICE_FQDN)
    told = resent(by_name, answers(5.03, 0.02, 0.03), MEANWHILE)
    assert told is not None
    assert "query to the name server" in told
    assert resent(check(Protocol.UDP), answers(5.03, 0.02, 0.03), MEANWHILE) is None


@pytest.mark.parametrize("seconds", [1.02, 3.03])
def test_a_refusal_of_windows_is_no_lost_packet(seconds: float) -> None:
    """The name resolved at once; a refused SYN is sent twice more before the client hears of it."""
    by_name = check(Protocol.TCP, TargetKind.HEADLESS_NAME)
    resolving = replace(by_name, action=replace(by_name.action, question=Question.RESOLVE))
    text = "dial tcp 10.244.4.8:18080: connectex: No connection could be made because the target machine actively refused it."
    refused = json.dumps({"errors": [f'Get "http://10.244.4.8:18080/hostname": {text}']})
    waited, *prompt = [replace(raw, client_os=OS.WINDOWS) for raw in answers(seconds, 0.02, 0.03)]
    assert resent(resolving, [replace(waited, stdout=refused), *prompt], MEANWHILE) is None
    assert resent(resolving, [waited, *prompt], MEANWHILE) is not None


def test_a_silent_server_is_no_lost_query() -> None:
    """A name that resolved at once, to a server that then let its client wait for five seconds."""
    by_name = check(Protocol.UDP, TargetKind.HEADLESS_NAME)
    resolving = replace(by_name, action=replace(by_name.action, question=Question.RESOLVE))
    text = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    silent = json.dumps({"errors": [f'Get "http://10.244.4.8:18080/hostname": {text}']})
    waited, *prompt = answers(5.03, 0.02, 0.03)
    assert resent(resolving, [replace(waited, stdout=silent), *prompt], MEANWHILE) is None
    assert resent(resolving, [waited, *prompt], MEANWHILE) is not None


@pytest.mark.parametrize(
    ("seconds", "others", "why"),
    [
        ((1.02, 0.9, 1.4), MEANWHILE, "nothing comes at once there: it is slow, and lost nothing"),
        ((1.02, 0.02, 0.03), [], "nothing shows that the channel carried anything meanwhile"),
        ((1.02, 0.02, 0.03), [Carried(10.1, 0.8)], "the channel itself was slow"),
        (
            (1.02, 0.02, 0.03),
            [Carried(9.9, 1.0)],
            "what began before and ended within tells nothing",
        ),
        ((1.7, 0.6, 0.55), MEANWHILE, "the others take as long as machines do that are busy"),
        ((0.4, 0.02, 0.03), MEANWHILE, "no packet is sent again so soon"),
        ((1.02,), MEANWHILE, "there is nothing to compare it with"),
    ],
)
def test_slowness_alone_is_no_loss(
    seconds: Sequence[float], others: Sequence[Carried], why: str
) -> None:
    """A slow channel, node or target is not told as a lost packet."""
    assert resent(check(), answers(*seconds), others) is None, why


def test_datagrams_are_not_sent_again() -> None:
    """Nobody repeats a UDP question by itself."""
    assert resent(check(Protocol.UDP), answers(1.02, 0.02, 0.03), MEANWHILE) is None


def test_only_answers_count() -> None:
    """What failed is judged by its failure; controls have their own time."""
    failed = answers(1.02, 0.02, 0.03, body='{"errors":["i/o timeout"]}')
    assert resent(check(), failed, MEANWHILE) is None
    controls = [replace(raw, purpose="control:vantage") for raw in answers(1.02, 0.02, 0.03)]
    assert resent(check(), controls, MEANWHILE) is None


@pytest.mark.parametrize(
    ("seconds", "is_told"),
    [
        (0.99, False),
        (1.0, True),
        (1.25, True),
        (1.26, True),
        (2.4, True),
        (3.25, True),
        (3.26, True),
    ],
)
def test_a_resent_packet_takes_its_time_and_what_a_busy_machine_adds(
    seconds: float, *, is_told: bool
) -> None:
    """From the second after which a SYN is sent again, whatever else delays it: nothing delayed the answers beside it."""
    told = resent(check(), answers(seconds, 0.02, 0.03), [Carried(10.3, 0.02)])
    assert (told is not None) is is_told


def test_two_answers_are_enough_to_compare() -> None:
    """One that was late and one that was not; of as many that were late as were not, one is told."""
    assert resent(check(), answers(1.02, 0.02), MEANWHILE) is not None
    assert resent(check(), answers(1.02, 0.5), MEANWHILE) is not None
    assert resent(check(), answers(1.02, 0.51), MEANWHILE) is None
    assert resent(check(), answers(1.02, 1.02, 0.02, 0.02), MEANWHILE) is not None
    assert resent(check(), answers(1.02, 1.02, 0.02), MEANWHILE) is None


@pytest.mark.parametrize(
    ("other", "counts"),
    [
        (Carried(10.3, 0.25), True),
        (Carried(10.3, 0.26), False),
        (Carried(10.0, 0.02), False),
        (Carried(10.9, 0.02), True),
        (Carried(10.9, 0.2), False),
        (Carried(10.75, 0.25), False),
        (Carried(12.0, 0.01), False),
        (Carried(9.0, 0.01), False),
        (Carried(9.99, 0.02), False),
    ],
)
def test_what_else_was_answered_began_and_ended_within(other: Carried, *, counts: bool) -> None:
    """It has to lie wholly in the time of the late answer, from 10.0 to 11.0, and to have come at once."""
    assert (resent(check(), answers(1.0, 0.02), [other]) is not None) is counts


def test_what_shows_that_a_packet_was_lost_is_told() -> None:
    """The time, what takes so long, the middle of the other answers, and how many questions were answered."""
    assert resent(check(), answers(1.02, 0.02, 0.03, 0.04), MEANWHILE) == (
        "attempt 1 took 1.02 s, as long as a lost SYN takes, and the others 30 ms; "
        "the probe was not busy: meanwhile it answered other requests (2)"
    )


@pytest.mark.parametrize(
    ("kind", "seconds", "what"),
    [
        (TargetKind.SERVICE_FQDN, 5.0, "query to the name server"),
        (TargetKind.SERVICE_FQDN, 3.1, "SYN"),
        (TargetKind.POD_IP, 3.1, "SYN"),
    ],
)
def test_of_a_name_the_time_tells_what_was_lost(
    kind: TargetKind, seconds: float, what: str
) -> None:
    """Before five seconds no query is sent again, only a SYN."""
    told = resent(check(kind=kind), answers(seconds, 0.02, 0.02), MEANWHILE)
    assert told is not None
    assert f"as long as a lost {what} takes" in told


def test_one_backend_needs_no_name() -> None:
    """Whoever answered, it was the same one; of two nobody knows."""
    for backends, is_told in ((("a",), True), ((), True), (("a", "b"), False)):
        target = Target(kind=TargetKind.SERVICE_CLUSTERIP, service="s", backends=backends)
        one = replace(check(), action=replace(check().action, target=target))
        nameless = [
            replace(raw, stdout='{"responses":["10.244.3.7:5"]}', context={"request": "clientip"})
            for raw in answers(1.02, 0.02)
        ]
        assert (resent(one, nameless, MEANWHILE) is not None) is is_told


@pytest.mark.parametrize("changes", [{"error": "cut"}, {"tool": "ping"}])
def test_what_no_tcp_client_answered_is_not_compared(changes: dict[str, Any]) -> None:
    """A channel's error is no answer, and echoes are sent once."""
    told = [replace(raw, **changes) for raw in answers(1.02, 0.02, 0.03)]
    assert resent(check(), told, MEANWHILE) is None
    mixed = [*answers(1.02, 0.02)[:1], *told[1:]]
    assert resent(check(), mixed, MEANWHILE) is None


BIND = "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10#53\n\nName:\tweb.demo.svc\nAddress: 10.96.247.61\n\n"
MICROSOFT = (
    "Server:  UnKnown\nAddress:  10.96.0.10\n\nName:    web.demo.svc\nAddress:  10.96.247.61\n\n"
)
SILENT = "DNS request timed out.\n    timeout was 2 seconds.\n"


def looked_up(stdout: str, *, system: OS = OS.LINUX, elapsed: float = 0.2) -> list[Raw]:
    """Return the one answer of nslookup, which began at 10.0."""
    return [
        replace(
            answers(elapsed)[0],
            tool="nslookup",
            client_os=system.value,
            command=("nslookup", "web.demo.svc"),
            status=None,
            exit_code=0,
            stdout=stdout,
            context={},
        )
    ]


@pytest.mark.parametrize(
    ("raws", "is_told"),
    [
        (looked_up(f";; communications error to 10.96.0.10#53: timed out\n{BIND}"), True),
        (
            looked_up(
                f";; Connection to 10.96.0.10#53(10.96.0.10) for a.b failed: host unreachable.\n{BIND}"
            ),
            True,
        ),
        (
            looked_up(
                f";; communications error to 10.96.0.10#53: timed out\n{BIND}", system=OS.WINDOWS
            ),
            True,
        ),
        (looked_up(BIND), False),
        (looked_up(BIND, elapsed=5.2), True),
        (looked_up(BIND, elapsed=6.08), True),
        (looked_up(BIND, elapsed=10.4), True),
        (looked_up(BIND, elapsed=15.2), True),
        (looked_up(BIND, elapsed=3.0), False),
        (
            looked_up(
                MICROSOFT.replace("\n\nName", f"\n\n{SILENT}\nName"), system=OS.WINDOWS, elapsed=2.1
            ),
            True,
        ),
        (looked_up(SILENT + MICROSOFT, system=OS.WINDOWS, elapsed=4.1), False),
        (looked_up(";; connection timed out; no servers could be reached\n", elapsed=5.2), False),
    ],
    ids=[
        "it says so",
        "a failed connection, and another",
        "it says so on Windows",
        "at once",
        "five seconds",
        "and a second to start",
        "two lost in a row",
        "three lost in a row",
        "slow",
        "Microsoft's says so",
        "the server's own name",
        "not found",
    ],
)
def test_a_query_that_nslookup_sent_again_is_told(raws: list[Raw], *, is_told: bool) -> None:
    """It probes a second time by itself: what it prints tells, and else how long it took."""
    by_name = check(Protocol.UDP, TargetKind.SERVICE_FQDN)
    resolving = replace(by_name, action=replace(by_name.action, question=Question.RESOLVE))
    assert (resent(resolving, raws, MEANWHILE) is not None) is is_told


def test_a_slow_command_alone_is_no_lost_query() -> None:
    """Five seconds, and nothing else that the probe carried out meanwhile."""
    by_name = check(Protocol.UDP, TargetKind.SERVICE_FQDN)
    assert resent(by_name, looked_up(BIND, elapsed=5.2), []) is None


def test_a_refusal_and_an_echo_are_no_answers_that_were_resent() -> None:
    """Who refuses may do so late; ping counts its echoes itself."""
    text = "dial tcp 10.1.1.1:80: connectex: No connection could be made because the target machine actively refused it."
    refused = answers(1.02, 0.02, 0.03, body=json.dumps({"errors": [text]}))
    assert resent(check(), refused, MEANWHILE) is None
    reply = "Reply from 10.244.2.5: bytes=32 time<1ms TTL=126\n"
    echoes = [
        replace(raw, tool="ping", stdout=reply, exit_code=0, command=("ping", "10.244.2.5"))
        for raw in answers(1.02, 0.02, 0.03)
    ]
    assert resent(check(), echoes, MEANWHILE) is None


def test_a_refused_syn_that_windows_sent_again_is_not_lost() -> None:
    """Of backends of which one refuses, a Windows client reaches the other at its second or third SYN (seen on a lab)."""
    settings = ServiceSettings(label="mixed", by_hand=ByHand.MIXED_TARGET_PORTS)
    plain = check(kind=TargetKind.SERVICE_CLUSTERIP)
    mixed = replace(
        plain, action=replace(plain.action, target=replace(plain.target, settings=settings))
    )
    assert resent(plain, answers(1.05, 0.06, 0.06), MEANWHILE) is not None
    assert resent(mixed, answers(1.05, 0.06, 0.06), MEANWHILE) is None


def test_an_answer_that_is_late_among_late_ones_is_no_lost_syn() -> None:
    """A probe whose answers are late for the most part is overloaded, though some came at once (seen on a busy machine)."""
    late = [Carried(10.1, 0.8), Carried(9.5, 1.4), Carried(10.4, 0.9)]
    assert resent(check(), answers(1.05, 0.14, 0.14), [*MEANWHILE, *late]) is None
    silent = [replace(one, answered=False) for one in late]
    assert resent(check(), answers(1.05, 0.14, 0.14), [*MEANWHILE, *silent]) is not None
