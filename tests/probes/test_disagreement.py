"""Answers that disagree where a client has sent the question again and again: more of them tell nothing new."""

import json
import time
from itertools import count

import pytest

from nettests.model.channel import HttpAnswer
from nettests.model.check import Control
from nettests.model.words import TargetKind
from nettests.probes import pending
from nettests.probes.attempts import Attempts
from tests.probes.conftest import Bench
from tests.probes.made import action, check

PROBE = "probe-windows-1-1"
NAME = "svc.example"
CONNECTED = HttpAnswer(status=200, body=json.dumps({"responses": ["server-linux-1-1"]}))
TIMED_OUT = HttpAnswer(status=200, body=json.dumps({"errors": ["dial tcp: i/o timeout"]}))
ALIVE = Control(proves="target", action=action(PROBE, TargetKind.POD_IP))


@pytest.mark.parametrize(("patient", "attempts"), [(0.05, 3), (9.0, 6)], ids=["gave up", "at once"])
def test_answers_that_disagree_are_enough_where_one_took_a_resolvers_patience(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, patient: float, attempts: int
) -> None:
    """It is flaky already, and the next answer may take as long; what fails at once is probed until it is believed."""
    monkeypatch.setattr(pending, "RESOLVER_SECONDS", patient)
    numbers = count(1)

    def hook(path: str) -> HttpAnswer | None:
        if f"host={NAME}&" not in path:
            return None
        if next(numbers) == 3:  # the second at port 80
            time.sleep(0.1)
            return TIMED_OUT
        return CONNECTED

    bench.dialling[PROBE].hook = hook
    probed = check(action(PROBE, TargetKind.SERVICE_FQDN, name_form=NAME), ALIVE)
    Attempts().carry_out(bench.observer([probed]).sender, probed)
    seen = bench.seen(probed)
    assert not seen.agreed
    assert len(seen.attempts) == attempts
