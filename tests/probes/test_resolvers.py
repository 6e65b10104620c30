"""Whether a resolver that is silent to one question has answered another one meanwhile."""

from nettests.model.channel import HttpAnswer
from nettests.model.words import TargetKind
from nettests.probes.pending import Resolvers
from tests.probes.conftest import Bench
from tests.probes.made import action, check

PROBE = "probe-windows-1-1"
CONNECTED = HttpAnswer(status=200, body='{"responses": ["server-linux-1-1"]}')
DENIED = HttpAnswer(status=200, body='{"errors": ["lookup x on 10.96.0.10:53: no such host"]}')


def test_an_answer_counts_from_its_time_on() -> None:
    """What was answered before a question was sent tells nothing of it, and an older answer nothing newer."""
    resolvers = Resolvers()
    assert not resolvers.answered(PROBE, since=1)
    resolvers.note_answer(PROBE, 5)
    resolvers.note_answer(PROBE, 4)
    assert resolvers.answered(PROBE, since=5)
    assert not resolvers.answered(PROBE, since=5.1)
    assert not resolvers.answered("another", since=1)


def test_only_a_name_that_led_somewhere_is_an_answer_of_a_resolver(bench: Bench) -> None:
    """An address needs none, and a name that is denied may be what a dead upstream brings."""
    by_address = action(PROBE, TargetKind.POD_IP)
    by_name = action(PROBE, TargetKind.SERVICE_FQDN, name_form="svc.example")
    sender = bench.observer([]).sender
    for probed, answer, known in (
        (by_address, CONNECTED, False),
        (by_name, DENIED, False),
        (by_name, CONNECTED, True),
    ):
        bench.dialling[PROBE].hook = lambda _, answer=answer: answer
        sender.send(check(probed).id, "check", 1, probed)
        assert sender.resolvers.answered(PROBE, since=0) is known
