"""Datagrams that get no answer beside others: more of them are sent, until that is one of many or two."""

import json
from collections.abc import Collection
from dataclasses import replace
from itertools import count

import pytest

from nettests.model.channel import HttpAnswer
from nettests.model.check_id import member_id
from nettests.model.words import Protocol, TargetKind
from nettests.parse.lost_packets import ANSWERED
from nettests.probes.attempts import Attempts
from tests.probes.conftest import Bench
from tests.probes.made import action, check

PROBE = "probe-windows-1-1"
LOST = HttpAnswer(status=200, body=json.dumps({"errors": ["read udp: i/o timeout"]}))


def sent(bench: Bench, protocol: Protocol, lost: Collection[int], id_: str = "flow/a/b") -> int:
    """Return how many questions a check sent of which these were lost."""
    numbers = count(1)
    bench.dialling[PROBE].hook = lambda _: LOST if next(numbers) in lost else None
    probed = replace(check(action(PROBE, TargetKind.POD_IP, protocol=protocol)), id=id_)
    Attempts().carry_out(bench.observer([probed]).sender, probed)
    return len([raw for raw in bench.raws(id_) if raw.purpose == "check"])


@pytest.mark.parametrize(
    ("lost", "in_all"),
    [((), 3), ((2,), ANSWERED + 1), ((1,), ANSWERED + 1), ((2, 9), 9), ((1, 2), 2)],
    ids=["none", "the second", "the first", "two, one of them late", "all"],
)
def test_a_lost_datagram_is_followed_up(bench: Bench, lost: Collection[int], in_all: int) -> None:
    """Twelve answers make it one of many; a second loss is what was to be found out."""
    assert sent(bench, Protocol.UDP, lost) == in_all


def test_a_member_follows_its_lost_datagram_up(bench: Bench) -> None:
    """One answer is enough for a member; one lost datagram is not."""
    assert sent(bench, Protocol.UDP, (1,), member_id("flow/a/b", "n1 → n2")) == ANSWERED + 1


def test_a_lost_connection_is_not_followed_up(bench: Bench) -> None:
    """A kernel has sent its SYN again: one that stays silent is a finding by itself."""
    assert sent(bench, Protocol.TCP, (2,)) < ANSWERED
