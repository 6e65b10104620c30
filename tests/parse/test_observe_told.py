"""What an observation tells of answers, controls, sources and backends, word for word."""

from dataclasses import replace

import pytest

from nettests.model.journal_records import Done
from nettests.model.observation import Attempt, ControlResult, Observation, Raw
from nettests.model.service import Change, ServiceSettings
from nettests.model.words import (
    Distribution,
    Outcome,
    Protocol,
    Question,
    SourceSeen,
)
from nettests.parse import observation_of, observe
from nettests.parse.observe import SEVERAL
from tests.parse.raws import raw
from tests.parse.test_observe import ASK, COUNT, NODE, check, distributed, fails, says


def test_a_record_of_a_check_that_is_done_adds_what_its_answers_do_not_tell() -> None:
    """A Service that was late, a packet that was sent again, and why nothing of it can be trusted."""
    answers = [says("server-1")]
    probed = check()
    assert observation_of(probed, Done(check=probed.id), answers) == observe(probed, answers)
    done = Done(check=probed.id, late="it was late", resent="it was resent")
    seen = observation_of(probed, done, answers)
    assert seen == replace(observe(probed, answers), late="it was late", resent="it was resent")
    distrusted = observation_of(probed, replace(done, distrust="node n was not Ready"), answers)
    assert distrusted == replace(seen, trusted=False, distrust="node n was not Ready")


def test_how_a_control_ended_is_told() -> None:
    """By the positive answer if there is one, else by the last; over many connections by who answered."""
    answers = [
        fails(),
        says("server-1", purpose="control:vantage"),
        fails(number=2, purpose="control:vantage"),
        fails("connection refused", purpose="control:target"),
        fails(number=2, purpose="control:target"),
    ]
    vantage, target, path = observe(check("vantage", "target", "path"), answers).controls
    assert (vantage.proves, vantage.ok, vantage.detail) == (
        "vantage",
        True,
        "connected: answered: server-1",
    )
    assert (target.proves, target.ok) == ("target", False)
    assert target.detail == "timed_out: dial tcp 10.1.1.1:80: i/o timeout"
    assert (path.proves, path.ok, path.detail) == ("path", False, "it was not run")
    one = check("target", question=Question.DISTRIBUTE)
    control = replace(one.controls[0], action=replace(one.action, question=Question.DISTRIBUTE))
    spread = [
        says("server-1", purpose="control:target"),
        says("server-2", 2, purpose="control:target"),
        fails(number=3, purpose="control:target"),
    ]
    (several,) = observe(replace(one, controls=(control,)), [fails(), *spread]).controls
    assert (several.proves, several.ok) == ("target", True)
    assert several.detail == "2 backends answered 3 connections"


def test_all_that_is_known_stands_in_an_observation() -> None:
    """Every part of it, from answers that came in another order than they were probed."""
    later = says("10.244.3.2:4001", 2, started=5.0, elapsed=0.3, channel="exec")
    first = says("server-1", started=4.0, elapsed=0.2)
    proof = says("server-2", purpose="control:target")
    port = replace(later, context={**later.context, "port": "18080"})
    assert observe(check("target"), [port, proof, first]) == Observation(
        check="f/a/b/other-node/tcp",
        outcome=Outcome.CONNECTED,
        agreed=True,
        attempts=(
            Attempt(
                number=1,
                outcome=Outcome.CONNECTED,
                detail="answered: server-1",
                started=4.0,
                elapsed=0.2,
                channel="pod-proxy",
                backend="server-1",
            ),
            Attempt(
                number=2,
                outcome=Outcome.CONNECTED,
                detail="answered: 10.244.3.2:4001",
                started=5.0,
                elapsed=0.3,
                channel="exec",
                server_saw="10.244.3.2",
                source_port=4001,
                port=18080,
            ),
        ),
        controls=(ControlResult(proves="target", ok=True, detail="connected: answered: server-2"),),
        source_seen=SourceSeen.CLIENT_POD,
        server_saw="10.244.3.2",
        backends=("server-1",),
        channel="exec",
    )


def test_of_several_sources_and_backends_each_is_told_once() -> None:
    """In the order in which they were seen; the last source stands for the observation."""
    texts = ("server-2", "10.244.3.2:1", "server-1", "172.30.0.13:2", "server-2", "10.244.3.2:3")
    seen = observe(check(), [says(text, number) for number, text in enumerate(texts, 1)])
    assert seen.backends == ("server-2", "server-1")
    assert seen.sources_seen == (SourceSeen.CLIENT_POD, SourceSeen.CLIENT_NODE)
    assert (seen.source_seen, seen.server_saw) == (SourceSeen.CLIENT_POD, "10.244.3.2")
    one = observe(check(), [says("10.244.3.2:1"), says("10.244.3.2:2", 2)])
    assert one.sources_seen == ()


@pytest.mark.parametrize(
    ("raws", "why"),
    [
        ([], "nothing was probed"),
        ([says("server-1"), replace(says("x", 2), error="it was cut")],
         "attempt 2: control channel pod-proxy: it was cut"),
    ],
)  # fmt: skip
def test_why_an_observation_is_not_trusted_is_told(raws: list[Raw], why: str) -> None:
    """Which attempt it was, and what of it."""
    seen = observe(check(), raws)
    assert (seen.check, seen.distrust) == (check().id, why)


@pytest.mark.parametrize(
    ("proofs", "why"),
    [
        ([], "nothing proves that node-windows-1-1 runs on its node"),
        ([replace(fails(purpose="origin"), error="it was cut")],
         "nothing proves that node-windows-1-1 runs on its node"),
        ([says("10.244.3.2:9", purpose="origin", probe="p")],
         "p is not on its node: a target saw 10.244.3.2, the node has 172.30.0.13,10.244.3.1"),
    ],
)  # fmt: skip
def test_where_a_node_vantage_is_not_is_told(proofs: list[Raw], why: str) -> None:
    """Whom the target saw, and what the node has; that its addresses are not known, where they are not."""
    assert observe(check(source=NODE), [*proofs, says("server-1")]).distrust == why
    nowhere = says("10.244.3.2:9", purpose="origin", probe="p")
    unknown = replace(nowhere, context={"request": "clientip"})
    seen = observe(check(source=NODE), [unknown, says("server-1")])
    assert seen.distrust == "p is not on its node: a target saw 10.244.3.2, the node has none"


def test_why_a_distribution_is_not_trusted_is_told() -> None:
    """Too few connections, or too many at one port: with the numbers."""
    few = distributed(["server-1"] * (COUNT - 1))
    assert few.distrust == "31 of 32 connections said which backend answered"
    kept = distributed(["server-1"] * COUNT, [1, 1, 2, 3])
    assert kept.distrust == "1 of 4 connections repeated a source port: they were not new"
    assert distributed(["server-1"] * COUNT, [*range(7), 0]).trusted
    nothing = distributed(["server-1"] * COUNT, [])
    assert nothing.distrust == (
        "no connection told its client's port: nothing shows that they were new"
    )


def test_a_change_that_rules_did_not_follow_is_told() -> None:
    """Which it was: other backends than those of now, or none at all."""

    def behind(name: str | None) -> str | None:
        target = replace(ASK.target, former=("server-0",))
        context = {"behind": name} if name is not None else {}
        answer = says("server-1")
        answer = replace(answer, context={**answer.context, **context})
        return observe(check(target=target), [answer]).stale

    assert behind(None) is None
    assert behind("server-2") is None
    assert behind("server-0") == (
        "the Service was recreated in front of server-0, and its rules did not follow"
    )
    assert behind("") == ("the Service was left without endpoints, and its rules did not follow")


def test_what_did_not_come_of_a_change_is_told_in_the_words_of_who_made_it() -> None:
    """Where the backend alone does not say it, whoever is behind the Service; of the last question, as any."""
    words = "Service twin over the same endpoints was deleted, and this one lost server-2"
    answer = says("server-1")
    told = replace(
        answer, context={**answer.context, "behind": "server-2", "changed": words}, attempt=2
    )
    assert observe(check(), [answer, told]).stale == words
    assert observe(check(), [replace(told, attempt=1), replace(answer, attempt=2)]).stale is None


def test_a_control_for_a_name_holds_where_the_name_resolves() -> None:
    """Whatever came of dialling what it resolved to."""
    one = check("target", question=Question.RESOLVE, protocol=Protocol.UDP)
    control = replace(one.controls[0], action=replace(one.action, question=Question.RESOLVE))
    refused = fails("connect: connection refused", purpose="control:target")
    missing = raw("dial", status=400, stdout="host and/or port param are invalid. no such host")
    (seen,) = observe(replace(one, controls=(control,)), [missing, refused]).controls
    assert (seen.ok, seen.detail.partition(":")[0]) == (True, "resolved")


def test_a_silence_is_kept_back_only_where_the_kernel_had_no_refusal_left() -> None:
    """Of a refusal and a silence both count, unless the record says that refusals were spent meanwhile."""
    refused = fails("connect: connection refused")
    silent = fails(number=2)
    both = observe(check(), [refused, silent])
    assert (both.agreed, both.outcome) == (False, Outcome.TIMED_OUT)
    spent = replace(silent, context={**silent.context, "icmp": "spent"})
    one = observe(check(), [refused, spent])
    assert (one.agreed, one.outcome) == (True, Outcome.REFUSED)
    kept = replace(refused, context={**refused.context, "icmp": "spent"})
    assert not observe(check(), [kept, silent]).agreed


def test_ports_that_differ_are_told_also_where_a_server_told_whom_it_saw() -> None:
    """One source contradicts nothing; two are a disagreement of another kind."""

    def at(port: int, answer: Raw) -> Raw:
        return replace(answer, context={**answer.context, "port": str(port)})

    lost = [at(82, fails(number=number)) for number in (3, 4)]
    told = [at(80, says("10.244.3.2:1")), at(80, says("10.244.3.2:2", 2))]
    assert [one.port for one in observe(check(), [*told, *lost]).differing_ports] == [80, 82]
    other = [told[0], at(80, says("172.30.0.13:2", 2))]
    assert observe(check(), [*other, *lost]).differing_ports == ()


def left_out(*backends: str) -> Observation:
    """Return the observation of connections beside one whose silence an overloaded probe explains."""
    one = check(question=Question.DISTRIBUTE, connections=COUNT)
    answers = [says(name, number) for number, name in enumerate(backends, 1)]
    ports = [says(f"10.244.3.2:{4000 + n}", COUNT + n) for n in range(1, 9)]
    return observe(one, [*answers, fails(number=99), *ports], overloaded=(99,))


def test_a_distribution_is_read_from_what_is_told() -> None:
    """A silence that is left out hides neither a distribution nor a deviation from it."""
    kept = left_out(*["server-1"] * (COUNT - 1))
    assert (kept.distribution, kept.agreed, kept.distrust) == (Distribution.ONE_BACKEND, True, None)
    lost = left_out(*["server-1"] * (COUNT - 2), "server-2")
    assert (lost.distribution, lost.agreed, lost.distrust) == (
        Distribution.SEVERAL_BACKENDS,
        True,
        None,
    )
    assert left_out(*["server-1"] * (COUNT - 2)).distrust == (
        f"{COUNT - 2} of {COUNT} connections said which backend answered"
    )


def test_two_backends_are_several_whatever_else_was_silent() -> None:
    """That there is but one takes all connections; that there are two takes two."""
    few = distributed(["server-1", "server-2"])
    assert (few.distribution, few.trusted) == (Distribution.SEVERAL_BACKENDS, True)
    beside = distributed(["server-1"] * 3 + ["server-2"], [1], fails(number=99))
    assert beside.distribution is Distribution.SEVERAL_BACKENDS
    assert not beside.agreed


@pytest.mark.parametrize(
    ("behind", "told"),
    [
        (
            "server-0",
            "the Service was left with server-0 as endpoints in place, and its rules did not follow",
        ),
        (
            SEVERAL,
            f"the Service was left with {SEVERAL} as endpoints in place, and its rules did not follow",
        ),
        ("", "the Service was left without endpoints in place, and its rules did not follow"),
    ],
)
def test_a_change_in_place_is_told_as_one(behind: str, told: str) -> None:
    """A Service that stays while its endpoints change is not said to be recreated."""
    settings = ServiceSettings(label="changed", change=Change.ENDPOINTS)
    target = replace(ASK.target, former=("server-0",), settings=settings)
    answer = says("server-1")
    answer = replace(answer, context={**answer.context, "behind": behind})
    assert observe(check(target=target), [answer]).stale == told
    recreated = replace(target, settings=replace(settings, change=Change.RECREATED))
    assert " in place" not in (observe(check(target=recreated), [answer]).stale or "")


def test_how_late_all_answers_were_is_read_from_the_record_of_a_check() -> None:
    """Documents and verdicts are made of what the record says of delays."""
    done = Done(check="f", slow="every answer took 2 s", resent="attempt 1", late="Service s")
    seen = observation_of(check(), done, [says("server-1")])
    assert (seen.slow, seen.resent, seen.late) == (done.slow, done.resent, done.late)


def test_nothing_is_known_where_every_attempt_was_overloaded() -> None:
    """What is left out says nothing, and then there is no outcome."""
    seen = observe(check(), [says("server-1")], overloaded=(1,))
    assert seen.outcome is Outcome.PROBE_FAILED
