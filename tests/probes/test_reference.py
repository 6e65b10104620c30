"""A question that was answered late is sent once more, and the probe answers for itself meanwhile."""

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from nettests.model.channel import HttpAnswer
from nettests.model.words import TargetKind
from nettests.parse.late_answers import slow
from nettests.parse.overload import REFERENCE
from nettests.probes import pending
from nettests.probes.attempts import Attempts
from tests.probes.conftest import Bench
from tests.probes.made import action, check
from tests.probes.netexec import DialChannel

PROBE = "probe-windows-1-1"
ITSELF = HttpAnswer(status=200, body='{"responses": ["probe-windows-1-1"]}')
"""What its own server says, which does not stand here."""
PATH = check(action(PROBE, TargetKind.POD_IP))


def delaying(dialling: DialChannel, late: Callable[[str], bool]) -> None:
    """Let the probe's dials to what is late take longer than a SYN waits."""

    def hook(path: str) -> HttpAnswer | None:
        if late(path):
            time.sleep(1.02)
        return ITSELF if "port=8080" in path else None

    dialling.hook = hook


def to_a_server(path: str) -> bool:
    """Whether a server pod is dialled, and not the probe itself."""
    return "port=1808" in path


def test_the_probe_answers_for_itself_while_the_path_is_tried_again(bench: Bench) -> None:
    """Where the path is late and the probe is not, the answers show it."""
    delaying(bench.dialling[PROBE], to_a_server)
    bench.observe(PATH)
    raws = bench.raws(PATH.id)
    assert [raw.purpose for raw in raws].count("check") == 4
    assert sum(raw.purpose == REFERENCE for raw in raws) >= 2
    told = slow(PATH, raws, ())
    assert told is not None
    assert "the probe itself answered" in told


def test_a_probe_that_is_late_itself_shows_nothing_of_the_path(bench: Bench) -> None:
    """Where everything over its channel takes long, its machine may be busy."""
    delaying(bench.dialling[PROBE], lambda _: True)
    bench.observe(PATH)
    raws = bench.raws(PATH.id)
    assert any(raw.purpose == REFERENCE for raw in raws)
    assert slow(PATH, raws, ()) is None


def test_answers_in_time_need_no_reference(bench: Bench) -> None:
    """Nothing is sent beside what comes at once."""
    bench.observe(PATH)
    assert {raw.purpose for raw in bench.raws(PATH.id)} == {"check"}


def test_a_probe_answers_for_itself_before_others_that_wait_for_its_channel(bench: Bench) -> None:
    """Where all paths are late the channel is taken: a reference that waits in its queue comes when all is over."""
    delaying(bench.dialling[PROBE], to_a_server)
    checks = [replace(PATH, id=f"{PATH.id}/{number}") for number in range(16)]
    bench.observe(*checks)
    assert all(slow(one, bench.raws(one.id), ()) for one in checks)


@pytest.mark.parametrize("seconds", [2.1, 0.0], ids=["late", "at once"])
def test_names_that_are_waited_for_are_compared_meanwhile(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """A resolver takes seconds for each answer: no question is sent once more only to compare it."""
    monkeypatch.setattr(pending, "DIAL_PATIENCE", 0.05)
    name = "svc.example"

    def hook(path: str) -> HttpAnswer | None:
        if f"host={name}&" not in path:
            return ITSELF if "port=8080" in path else None
        time.sleep(seconds)
        return HttpAnswer(status=200, body='{"responses": ["server-linux-1-1"]}')

    bench.dialling[PROBE].hook = hook
    named = check(action(PROBE, TargetKind.SERVICE_FQDN, name_form=name))
    Attempts().carry_out(bench.observer([named]).sender, named)
    raws = bench.raws(named.id)
    assert [raw.purpose for raw in raws].count("check") == bench.timing.successes
    told = slow(named, raws, ())
    assert (told is not None) is (seconds > 0)
