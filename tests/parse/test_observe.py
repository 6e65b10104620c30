"""Merging a check's raw answers into one observation that can be trusted, or not."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from nettests.model.check import Action, Check, Control, Target, Vantage
from nettests.model.expectation import Expected
from nettests.model.observation import Observation, Raw
from nettests.model.service import ByHand, ServiceSettings
from nettests.model.words import (
    Distribution,
    Outcome,
    Placement,
    Protocol,
    Question,
    Resolver,
    SourceSeen,
    TargetKind,
    VantageKind,
)
from nettests.parse import observe
from tests.parse.raws import raw

CONTEXT = {
    "client-pod": "10.244.3.2",
    "client-node": "172.30.0.13,10.244.3.1",
    "target-node": "172.30.0.14",
    "source-vip": "10.244.3.9",
}
ASK = Action(
    source=Vantage(kind=VantageKind.POD, probe="probe-windows-1-1"),
    target=Target(kind=TargetKind.SERVICE_CLUSTERIP, backends=("server-1", "server-2")),
    protocol=Protocol.TCP,
)


def check(*proves: str, **changes: Any) -> Check:
    """Return a check that probes ``ASK`` with changes, and controls that prove what is named."""
    action = replace(ASK, **changes)
    return Check(
        id="f/a/b/other-node/tcp",
        flow="f",
        title="a → b",
        action=action,
        placement=Placement.OTHER_NODE,
        claim=Expected(outcome=Outcome.CONNECTED),
        controls=tuple(
            Control(proves=one, action=replace(action, question=Question.REACH)) for one in proves
        ),
        sources=(),
    )


def says(text: str, number: int = 1, purpose: str = "check", **changes: Any) -> Raw:
    """Return an answer of ``/dial`` that brought ``text``, requested whatever it looks like."""
    request = "clientip" if ":" in text else "hostname"
    return raw(
        "dial",
        attempt=number,
        purpose=purpose,
        status=200,
        stdout=f'{{"responses":["{text}"]}}',
        context={**CONTEXT, "request": request},
        **changes,
    )


def fails(text: str = "i/o timeout", number: int = 1, purpose: str = "check") -> Raw:
    """Return an answer of ``/dial`` that met an error."""
    body = f'{{"errors":["dial tcp 10.1.1.1:80: {text}"]}}'
    return raw("dial", attempt=number, purpose=purpose, status=200, stdout=body, context=CONTEXT)


@pytest.mark.parametrize(
    ("address", "seen"),
    [
        ("10.244.3.2", SourceSeen.CLIENT_POD),
        ("172.30.0.13", SourceSeen.CLIENT_NODE),
        ("10.244.3.1", SourceSeen.CLIENT_NODE),
        ("172.30.0.14", SourceSeen.TARGET_NODE),
        ("10.244.3.9", SourceSeen.SOURCE_VIP),
        ("198.51.100.20", SourceSeen.OTHER),
    ],
)
def test_the_address_that_was_seen_gets_its_name(address: str, seen: SourceSeen) -> None:
    """Whose address the server saw follows from the addresses recorded with the answer."""
    observation = observe(check(), [says("server-1"), says(f"{address}:4000", 2)])
    assert (observation.source_seen, observation.server_saw) == (seen, address)
    assert observation.backends == ("server-1",)
    assert observation.agreed
    assert observation.trusted


def test_on_one_node_the_clients_node_comes_first() -> None:
    """Where the source's node is also the target's, its address is the client's node."""
    same = says("172.30.0.13:1")
    same = replace(same, context={**same.context, "target-node": "172.30.0.13"})
    assert observe(check(), [same]).source_seen is SourceSeen.CLIENT_NODE


def test_a_node_vantages_pod_is_its_node() -> None:
    """A pod on the host's network has the node's address: the server saw the node."""
    host = says("172.30.0.13:1")
    host = replace(host, context={**host.context, "client-pod": "172.30.0.13"})
    proof = says("172.30.0.13:9", purpose="origin")
    assert observe(check(source=NODE), [proof, host]).source_seen is SourceSeen.CLIENT_NODE
    assert observe(check(), [host]).source_seen is SourceSeen.CLIENT_POD


def test_attempts_that_disagree_are_said_to() -> None:
    """One failure among successes leaves no agreement; the outcome is the last one's."""
    observation = observe(check(), [fails(), says("server-1", 2), says("server-1", 3)])
    assert not observation.agreed
    assert observation.outcome is Outcome.CONNECTED
    assert observation.trusted


def test_different_sources_are_no_agreement() -> None:
    """Seen under the pod's address once and the node's once: the attempts disagree."""
    observation = observe(check(), [says("10.244.3.2:1"), says("172.30.0.13:2", 2)])
    assert not observation.agreed


@pytest.mark.parametrize(
    "raws",
    [
        [],
        [replace(says("server-1"), error="connection reset")],
        [says("server-1"), replace(says("server-1", 2), error="connection reset")],
        [says("server-1"), raw("dial", attempt=2, status=502, stdout="Bad Gateway")],
        [says("server-1", purpose="control:vantage")],
    ],
    ids=[
        "nothing",
        "channel error",
        "channel error later",
        "no answer of the probe",
        "controls only",
    ],
)
def test_what_cannot_be_trusted(raws: Sequence[Raw]) -> None:
    """No usable answer, or one that the channel spoiled, makes the whole observation untrusted."""
    observation = observe(check(), raws)
    assert not observation.trusted
    assert observation.distrust


NODE = Vantage(kind=VantageKind.NODE, probe="node-windows-1-1")


@pytest.mark.parametrize(
    ("proofs", "trusted"),
    [
        ([], False),
        ([says("172.30.0.13:9", purpose="origin")], True),
        ([says("10.244.3.2:9", purpose="origin")], False),
        ([fails(purpose="origin")], True),
        ([fails(purpose="origin"), says("172.30.0.13:9", purpose="origin")], True),
        ([says("172.30.0.13:9", purpose="origin"), fails(purpose="origin")], True),
        ([says("172.30.0.13:9", purpose="origin"), says("10.244.3.2:9", purpose="origin")], False),
    ],
    ids=[
        "no proof",
        "the node",
        "a pod",
        "no answer",
        "at the second try",
        "before one that failed",
        "the last one counts",
    ],
)
def test_a_node_vantage_has_to_prove_its_origin(proofs: list[Raw], *, trusted: bool) -> None:
    """A target that answers has to see an address of the node; a pod's own address means the wrong place."""
    observation = observe(check(source=NODE), [*proofs, says("server-1")])
    assert observation.trusted is trusted


def test_a_pod_vantage_needs_no_proof() -> None:
    """Only node vantages prove their origin."""
    assert observe(check(), [says("server-1")]).trusted


def resolved(*texts: str) -> Observation:
    """Return the observation of a name that the system's resolver was queried for."""
    action = {"question": Question.RESOLVE, "resolver": Resolver.SYSTEM, "protocol": Protocol.UDP}
    return observe(check(**action), [raw("dial", status=400, stdout=text) for text in texts])


def test_a_name_alone_is_resolved_or_not() -> None:
    """The system resolver's answer is read from what dialling the name says."""
    missing = "host and/or port param are invalid. lookup a.b on 10.96.0.10:53: no such host\n"
    assert resolved(missing, missing).outcome is Outcome.NXDOMAIN
    action = check(question=Question.RESOLVE, protocol=Protocol.UDP)
    assert observe(action, [fails("connect: connection refused")]).outcome is Outcome.RESOLVED


def test_controls_are_read_by_what_they_prove() -> None:
    """One positive answer holds a control; one that was never run does not hold."""
    both = check("vantage", "target")
    observation = observe(
        both,
        [
            fails(),
            fails(purpose="control:vantage"),
            says("server-1", 2, purpose="control:vantage"),
        ],
    )
    assert [(one.proves, one.ok) for one in observation.controls] == [
        ("vantage", True),
        ("target", False),
    ]


@pytest.mark.parametrize(
    ("text", "holds"),
    [("no such host", True), ("i/o timeout", False)],
)
def test_a_name_that_nothing_has_shows_by_a_denial_that_its_server_is_there(
    text: str, holds: bool
) -> None:
    """Silence shows nothing, and a denial of a name that somebody has shows no server either."""
    denied = check("vantage", question=Question.RESOLVE, protocol=Protocol.UDP)
    (control,) = denied.controls
    probed = replace(control.action, question=Question.RESOLVE)
    for kind, wanted in ((TargetKind.NO_NAME, holds), (TargetKind.KUBERNETES_SERVICE, False)):
        action = replace(probed, target=Target(kind=kind))
        one = replace(denied, controls=(replace(control, action=action),))
        said = f"host and/or port param are invalid. lookup a.b on 10.0.0.2:53: {text}\n"
        answer = raw("dial", status=400, stdout=said, purpose="control:vantage")
        seen = observe(one, [fails(), answer])
        assert [shown.ok for shown in seen.controls] == [wanted]


def test_controls_are_not_missing_beside_a_positive_result() -> None:
    """Controls are run beside negative results only, so none is missing beside a positive one."""
    assert observe(check("vantage", "target"), [says("server-1")]).controls == ()


COUNT = 32


def distributed(
    names: Sequence[str], ports: Sequence[int] = range(4000, 4008), *extra: Raw
) -> Observation:
    """Return the observation of many connections, some of which requested the client's port."""
    answers = [says(name, number) for number, name in enumerate(names, 1)]
    answers += [says(f"10.244.3.2:{port}", COUNT + n) for n, port in enumerate(ports, 1)]
    return observe(check(question=Question.DISTRIBUTE, connections=COUNT), [*answers, *extra])


def test_one_backend_and_several() -> None:
    """The distribution is that of all connections together."""
    assert distributed(["server-1"] * COUNT).distribution is Distribution.ONE_BACKEND
    spread = distributed(["server-1"] * (COUNT - 1) + ["server-2"])
    assert spread.distribution is Distribution.SEVERAL_BACKENDS
    assert spread.trusted


def test_fewer_connections_than_probed_are_not_trusted() -> None:
    """A distribution of 31 connections is none of 32."""
    assert not distributed(["server-1"] * (COUNT - 1)).trusted


@pytest.mark.parametrize(
    ("ports", "trusted"),
    [([4000] * 8, False), ([1, 1, 2, 2, 3, 3, 4, 4], False), ([1, 2, 3, 4, 5, 6, 7, 7], True)],
    ids=["one connection", "pairs", "two ports met by chance"],
)
def test_a_kept_connection_is_not_counted_twice(ports: list[int], *, trusted: bool) -> None:
    """Repeated source ports mean that connections were not new; a single meeting may be chance."""
    assert distributed(["server-1"] * COUNT, ports).trusted is trusted


def test_one_backend_over_connections_of_unknown_ports_is_not_trusted() -> None:
    """A connection that was kept open meets one backend too; several backends prove themselves."""
    kept = distributed(["server-1"] * COUNT, [])
    assert not kept.trusted
    assert "nothing shows that they were new" in (kept.distrust or "")
    assert distributed(["server-1"] * (COUNT - 1) + ["server-2"], []).trusted


def test_failures_among_connections_leave_no_distribution() -> None:
    """Where some connections fail the attempts disagree, and no distribution is claimed."""
    observation = distributed(["server-1"] * COUNT, [1], fails(number=99))
    assert observation.distribution is None
    assert not observation.agreed


def several_control(backends: Sequence[str]) -> bool:
    """Return whether the control over many connections holds when these backends answered."""
    one = check("target", question=Question.DISTRIBUTE, connections=COUNT)
    control = replace(one.controls[0], action=replace(one.action, question=Question.DISTRIBUTE))
    answers = [says(name, n, purpose="control:target") for n, name in enumerate(backends, 1)]
    affine = [says("server-1", n) for n in range(1, COUNT + 1)]
    return observe(replace(one, controls=(control,)), [*answers, *affine]).controls[0].ok


def test_affinity_means_something_only_where_several_backends_can_be_reached() -> None:
    """The control of a distribution holds when two different backends answered."""
    assert several_control(["server-1", "server-2"])
    assert not several_control(["server-1", "server-1"])


@pytest.mark.parametrize(
    ("stdout", "unexpected_addresses"),
    [
        ("Name:\tweb\nAddress: 10.96.0.7\n", ()),
        ("Name:\tweb\nAddress: 203.0.113.9\n", ("203.0.113.9",)),
        ("Name:\tweb\nAddress: 10.96.0.7\nAddress: 203.0.113.9\n", ("203.0.113.9",)),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_a_name_that_leads_elsewhere_is_noticed(
    stdout: str, unexpected_addresses: tuple[str, ...], *, known: bool
) -> None:
    """What a name resolves to is compared with the target's addresses, where those were recorded."""
    context = {**CONTEXT, "resolved": "10.96.0.7,fd00::7"} if known else CONTEXT
    answer = raw("nslookup", stdout=stdout, exit_code=0, context=context)
    observation = observe(check(question=Question.RESOLVE), [answer])
    assert observation.outcome is Outcome.RESOLVED
    assert observation.unexpected_addresses == (unexpected_addresses if known else ())


MIXED_TARGET_PORTS = ServiceSettings(label="two", by_hand=ByHand.MIXED_TARGET_PORTS)


def mixed_target_ports(*raws: Raw) -> Observation:
    """Return what connections tell of a Service whose backends serve at different target ports."""
    one = check(question=Question.DISTRIBUTE, connections=COUNT)
    target = replace(one.action.target, settings=MIXED_TARGET_PORTS)
    return observe(replace(one, action=replace(one.action, target=target)), raws)


def test_refusals_among_answers_are_an_answer_where_numbers_differ() -> None:
    """Answered and refused connections together are one trusted observation there."""
    seen = mixed_target_ports(
        says("server-1", 1), fails("connect: connection refused", number=2), says("server-1", 3)
    )
    assert seen.distribution is Distribution.SOME_REFUSED
    assert seen.outcome is Outcome.CONNECTED
    assert seen.agreed
    assert seen.trusted


def test_refusals_alone_or_silence_are_no_such_answer() -> None:
    """All refused is refused, and a time-out among answers leaves them disagreeing."""
    refused = mixed_target_ports(*(fails("connect: connection refused", number=n) for n in (1, 2)))
    assert (refused.outcome, refused.distribution) == (Outcome.REFUSED, None)
    silent = mixed_target_ports(says("server-1", 1), fails("i/o timeout", number=2))
    assert not silent.agreed
    assert silent.distribution is None


def test_refusals_among_answers_are_a_disagreement_everywhere_else() -> None:
    """Where all backends serve at one number nothing explains that some connections are refused."""
    seen = observe(check(), [says("server-1"), fails("connect: connection refused", number=2)])
    assert not seen.agreed
    assert seen.distribution is None
    assert seen.outcome is Outcome.REFUSED


def test_a_few_answers_are_no_distribution() -> None:
    """Which backends share connections is said only of a check that sent it with many."""
    assert observe(check(), [says("server-1"), says("server-1", 2)]).distribution is None


SPENT = {**CONTEXT, "icmp": "spent"}


def silent(number: int, *, spent: bool) -> Raw:
    """Return a silence; the probe may have been refused as often as a kernel tells it."""
    return replace(fails(number=number), context=SPENT if spent else CONTEXT)


def test_a_silence_that_the_limit_of_icmp_explains_contradicts_no_refusal() -> None:
    """Beside refusals it is none of the attempts that are compared; it stays in the evidence."""
    refused = "connect: connection refused"
    raws = [fails(refused), silent(2, spent=True), replace(fails(refused, 3), context=SPENT)]
    seen = observe(check(protocol=Protocol.UDP), [replace(raw, client_os="linux") for raw in raws])
    assert (seen.outcome, seen.agreed, len(seen.attempts)) == (Outcome.REFUSED, True, 3)


@pytest.mark.parametrize("first", ["connect: connection refused", "i/o timeout"])
def test_another_silence_is_one(first: str) -> None:
    """One that no limit explains contradicts a refusal; and silences alone stay silences."""
    explained = first == "i/o timeout"
    raws = [replace(fails(first), context=SPENT), silent(2, spent=explained)]
    seen = observe(check(protocol=Protocol.UDP), [replace(raw, client_os="linux") for raw in raws])
    assert (seen.outcome, seen.agreed) == (Outcome.TIMED_OUT, explained)


def test_all_sources_are_told_where_servers_saw_several() -> None:
    """One source alone is the observation's; several are told beside the last one."""
    both = observe(check(), [says("10.244.3.2:4000"), says("172.30.0.13:4001", 2)])
    assert both.sources_seen == (SourceSeen.CLIENT_POD, SourceSeen.CLIENT_NODE)
    assert observe(check(), [says("10.244.3.2:4000")] * 2).sources_seen == ()
