"""Trains of short questions: real dials to servers on loopback, until there were enough or a loss shows."""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.model.channel import HttpAnswer
from nettests.model.check import Check, Control
from nettests.model.journal_records import Done
from nettests.model.measured import tries_without_loss
from nettests.model.words import Outcome, Protocol, Question, TargetKind
from nettests.parse.lost_packets import BESIDE
from nettests.parse.observe import observation_of
from nettests.parse.overload import REFERENCE
from nettests.probes.trains import FEW, UNCLEAR_TRIES, longest_train, rounds
from tests.probes.conftest import Bench
from tests.probes.made import action, check

PROBE = "probe-windows-1-1"
TARGET = Control(proves="target", action=action("probe-linux-1-1", TargetKind.POD_IP))
LOST = "read udp 10.244.3.5:5->10.244.1.5:18081: i/o timeout"


def counting(tries: int, protocol: Protocol = Protocol.UDP) -> Check:
    """Return a check that counts what is lost of so many tries."""
    probed = action(PROBE, TargetKind.POD_IP, protocol)
    return check(replace(probed, question=Question.LOSS, connections=tries), TARGET)


def lengths(bench: Bench, probed: Check) -> list[int]:
    """Return how many tries each train of a check had, in order."""
    trains = [raw for raw in bench.raws(probed.id) if raw.purpose == "check"]
    found = [re.search(r"tries=(\d+)", raw.command[-1]) for raw in trains]
    return [int(one[1]) for one in found if one]


@given(st.integers(0, 2000), st.sampled_from([Protocol.UDP, Protocol.TCP]))
def test_rounds_hold_as_many_tries_as_were_wanted(tries: int, protocol: Protocol) -> None:
    """Each round has a few trains of bounded length, and together they have all tries and no more."""
    found = list(rounds(tries, protocol))
    assert sum(map(sum, found)) == tries
    assert all(len(trains) <= BESIDE + 1 for trains in found)
    assert all(1 <= length <= longest_train(protocol) for trains in found for length in trains)


@given(st.integers(1, 200), st.integers(1, 30))
def test_trains_over_a_slow_path_are_short_and_more(tries: int, longest: int) -> None:
    """No train has more tries than its channel can wait for, and four run beside each other."""
    found = list(rounds(tries, Protocol.UDP, longest))
    assert sum(map(sum, found)) == tries
    assert max(map(max, found)) <= longest
    assert all(len(trains) == FEW for trains in found[:-1])


@given(st.integers(600, 1400))
def test_echoes_are_many_in_a_request_once_little_was_lost(tries: int) -> None:
    """Hundreds of echoes are sent in a score of requests, and no long train before many short ones came back."""
    found = list(rounds(tries, Protocol.UDP))
    assert sum(map(len, found)) <= 12 + tries / 60
    for number, trains in enumerate(found):
        before = sum(map(sum, found[:number]))
        assert max(trains) <= max(1, before)


@pytest.mark.parametrize(
    ("protocol", "outcome"), [(Protocol.UDP, Outcome.REPLIED), (Protocol.TCP, Outcome.CONNECTED)]
)
def test_a_path_in_order_is_tried_to_the_end(
    bench: Bench, protocol: Protocol, outcome: Outcome
) -> None:
    """Where nothing is lost every try is sent, without controls, and the estimate says of how many."""
    answered_by(bench, every=1000, protocol=protocol)
    probed = counting(60, protocol)
    bench.observe(probed)
    assert sum(lengths(bench, probed)) == 60
    seen = bench.seen(probed)
    assert (seen.outcome, seen.agreed) == (outcome, True)
    assert seen.loss is not None
    assert (seen.loss.sent, seen.loss.lost, seen.loss.proven) == (60, 0, False)
    purposes = {raw.purpose for raw in bench.raws(probed.id)}
    assert purposes - {REFERENCE} == {"check"}


def losing(every: int) -> Iterator[str]:
    """Yield for each try whether it is lost."""
    count = 0
    while True:
        count += 1
        yield LOST if count % every == 0 else ""


def answered_by(bench: Bench, every: int, protocol: Protocol = Protocol.UDP) -> None:
    """Let one of so many tries of the probe's trains be lost, and all others come back at once."""
    lost = losing(every)

    def hook(path: str) -> HttpAnswer | None:
        if f"protocol={protocol}" not in path or "request=hostname" not in path:
            return None
        tries = int(re.findall(r"tries=(\d+)", path)[0])
        told = [next(lost) for _ in range(tries)]
        errors = [one for one in told if one]
        body = {"responses": ["server-linux-1-1"] * (tries - len(errors)), "errors": errors}
        return HttpAnswer(
            status=200, body=json.dumps({key: found for key, found in body.items() if found})
        )

    bench.dialling[PROBE].hook = hook


def test_nothing_more_is_sent_once_a_loss_is_proven(bench: Bench) -> None:
    """Two of four lost tries prove a loss: the long trains, whose tries would each be waited for, are not sent."""
    answered_by(bench, every=2)
    probed = counting(600)
    bench.observe(probed)
    assert lengths(bench, probed) == [1] * 4
    seen = bench.seen(probed)
    assert seen.loss is not None
    assert (seen.loss.lost, seen.loss.proven, seen.outcome) == (2, True, Outcome.REPLIED)


@pytest.mark.parametrize(
    ("every", "sent"), [(460, 900), (2000, tries_without_loss())], ids=["one lost", "none lost"]
)
def test_a_single_lost_try_is_counted_and_proves_nothing(
    bench: Bench, every: int, sent: int
) -> None:
    """One of many is in the estimate, and all that was to be sent is sent; without one, half of it is enough."""
    answered_by(bench, every=every)
    probed = counting(900)
    bench.observe(probed)
    seen = bench.seen(probed)
    assert seen.loss is not None
    assert (seen.loss.sent, seen.loss.lost, seen.loss.proven) == (sent, sent // every, False)


def test_a_dead_path_is_tried_four_times_beside_its_controls(bench: Bench) -> None:
    """Where nothing is answered the first round is all, and the controls tell whose fault it is."""
    answered_by(bench, every=1)
    probed = counting(600)
    bench.observe(probed)
    assert lengths(bench, probed) == [1] * 4
    seen = bench.seen(probed)
    assert seen.outcome is Outcome.TIMED_OUT
    assert [control.ok for control in seen.controls] == [True]


def test_a_refusal_ends_the_trains(bench: Bench) -> None:
    """Another answer than silence is no loss: it is what the check observed."""
    probed = counting(600, Protocol.TCP)
    probed = replace(
        probed, action=replace(probed.action, target=action(PROBE, TargetKind.NODE_IP).target)
    )
    bench.observe(probed)
    assert lengths(bench, probed) == [1] * 4
    seen = bench.seen(probed)
    assert (seen.outcome, seen.loss) == (Outcome.REFUSED, None)


def test_a_path_that_takes_its_time_is_tried_eighty_times(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a second a try ends no count before it says something, and hundreds of them are not waited for."""
    monkeypatch.setattr("nettests.probes.trains.SLOW_SECONDS", 0.0)
    probed = counting(600)
    bench.observe(probed)
    assert 80 <= sum(lengths(bench, probed)) < 600
    raws = bench.raws(probed.id)
    assert observation_of(probed, Done(check=probed.id, answers=len(raws)), raws).trusted


def test_trains_that_a_busy_probe_may_have_delayed_are_followed_by_others(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of a round wait a second while the probe is slow itself; eighty tries in order after them say that it was."""
    # A machine with other work lets a train wait a second, too; not two.
    monkeypatch.setattr("nettests.parse.lost_packets.SYN_AGAIN", (2.0, 3.0))
    slow = [True, True]

    def hook(path: str) -> HttpAnswer | None:
        if "port=8080" in path:
            time.sleep(0.3)
            return HttpAnswer(status=200, body='{"responses": ["probe-windows-1-1"]}')
        if "tries=4" in path and slow:
            slow.pop()
            time.sleep(2.2)
        return None

    bench.dialling[PROBE].hook = hook
    probed = counting(36, Protocol.TCP)
    bench.observe(probed)
    further = lengths(bench, probed)[12:]
    assert further in ([4] * 8 * 2, [4] * 8 * 3)  # those of the same round that did not wait count
    raws = bench.raws(probed.id)
    assert observation_of(probed, Done(check=probed.id, answers=len(raws)), raws).trusted


def test_trains_that_stay_unclear_say_nothing_of_the_path(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A probe that is slow itself each time, beside connections that wait: neither a loss nor its absence is shown."""
    monkeypatch.setattr("nettests.parse.lost_packets.SYN_AGAIN", (0.4, 3.0))

    def hook(path: str) -> HttpAnswer | None:
        if "port=8080" in path:
            time.sleep(0.3)
            return HttpAnswer(status=200, body='{"responses": ["probe-windows-1-1"]}')
        if "tries=4" in path and next(turn) % 4 == 0:
            time.sleep(0.6)
        return None

    turn = count()
    bench.dialling[PROBE].hook = hook
    probed = counting(36, Protocol.TCP)
    bench.observe(probed)
    assert lengths(bench, probed) == [1] * 4 + [4] * 8 * (1 + UNCLEAR_TRIES)
    raws = bench.raws(probed.id)
    seen = observation_of(probed, Done(check=probed.id, answers=len(raws)), raws)
    assert not seen.trusted
    assert "took a second longer than others beside them" in (seen.distrust or "")


def test_tries_that_a_busy_probe_makes_slow_are_sent_all_the_same(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the probe is as late for itself, the path may be in order: eighty tries are sent, and say something."""
    monkeypatch.setattr("nettests.probes.trains.SYN_AGAIN", (0.0, 3.0))
    probed = counting(600)
    bench.observe(probed)
    assert sum(lengths(bench, probed)) == 80
    raws = bench.raws(probed.id)
    assert len({raw.attempt for raw in raws if raw.purpose == "check"}) == len(
        lengths(bench, probed)
    )
    assert observation_of(probed, Done(check=probed.id, answers=len(raws)), raws).trusted


def test_a_train_that_waited_after_a_slow_start_is_followed_too(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of the tries is sent once a probe is slow no more; a train among them that waits is no pass either."""
    monkeypatch.setattr("nettests.probes.trains.SYN_AGAIN", (0.0, 3.0))
    waits = [True]

    def hook(path: str) -> HttpAnswer | None:
        if "port=8080" in path:
            time.sleep(0.3)
            return HttpAnswer(status=200, body='{"responses": ["probe-windows-1-1"]}')
        if "tries=12" in path and waits:
            waits.pop()
            time.sleep(1.5)
        return None

    bench.dialling[PROBE].hook = hook
    probed = counting(80, Protocol.TCP)
    bench.observe(probed)
    assert sum(lengths(bench, probed)) >= 80 + 2 * 32
    assert lengths(bench, probed)[-8:] == [4] * 8


def test_tries_over_a_late_path_are_few(bench: Bench) -> None:
    """Where the probe answers for itself at once, four late tries and the one that is compared are enough."""

    def hook(path: str) -> HttpAnswer | None:
        if "port=8080" in path:
            return HttpAnswer(status=200, body='{"responses": ["probe-windows-1-1"]}')
        time.sleep(1.1)
        return None

    bench.dialling[PROBE].hook = hook
    probed = counting(600)
    bench.observe(probed)
    assert lengths(bench, probed) == [1] * 5


def test_tries_of_which_some_are_late_are_sent_all_the_same(bench: Bench) -> None:
    """A path that is late for most tries and prompt for others is not late as a whole: eight of them are too few."""
    turn = count()

    def hook(path: str) -> HttpAnswer | None:
        if "port=8080" in path:
            return HttpAnswer(status=200, body='{"responses": ["probe-windows-1-1"]}')
        if "tries=1&" in f"{path}&":
            time.sleep(1.1 if next(turn) % 4 else 0.8)
        return None

    bench.dialling[PROBE].hook = hook
    probed = counting(80, Protocol.TCP)
    bench.observe(probed)
    raws = bench.raws(probed.id)
    assert sum(lengths(bench, probed)) == 80
    assert observation_of(probed, Done(check=probed.id, answers=len(raws)), raws).trusted
