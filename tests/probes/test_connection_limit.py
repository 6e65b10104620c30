"""Many connections: real dials to servers on loopback, until there were enough or there are no more."""

import json
import re
from collections.abc import Callable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from nettests.model.channel import HttpAnswer
from nettests.model.check import Check, Control
from nettests.model.measured import FlowCount
from nettests.model.words import CheckClass, Outcome, Question, TargetKind
from nettests.parse.lost_packets import BESIDE
from nettests.parse.many_flows import AT_LAST
from nettests.probes.connection_limit import LENGTH, rounds
from nettests.probes.observer import one_after_the_other
from tests.probes.conftest import Bench
from tests.probes.made import action, check

PROBE = "probe-windows-1-1"
TARGET = Control(proves="target", action=action("probe-linux-1-1", TargetKind.POD_IP))
LOST = "dial tcp 10.244.1.5:18080: i/o timeout"
NO_PORT = (
    "dial tcp 10.244.1.5:18080: connectex: Only one usage of each socket address "
    "(protocol/network address/port) is normally permitted."
)


def many(connections: int) -> Check:
    """Return a check that makes so many connections."""
    probed = action(PROBE, TargetKind.POD_IP)
    return check(replace(probed, question=Question.FLOWS, connections=connections), TARGET)


def failing(bench: Bench, fails: Callable[[int], bool], error: str = LOST) -> list[int]:
    """Let the probe's connections fail by their number; return the list of how many each train has."""
    made = iter(range(1, 100_000))
    trains: list[int] = []

    def hook(path: str) -> HttpAnswer | None:
        tries = int(re.findall(r"tries=(\d+)", path)[0])
        if "request=hostname" not in path or not probed_by_check(path):
            return None
        trains.append(tries)
        errors = [error for _ in range(tries) if fails(next(made))]
        body = {"responses": ["server-linux-1-1"] * (tries - len(errors)), "errors": errors}
        return HttpAnswer(status=200, body=json.dumps({k: v for k, v in body.items() if v}))

    def probed_by_check(path: str) -> bool:
        return "port=18080" in path

    bench.dialling[PROBE].hook = hook
    return trains


def lengths(bench: Bench, probed: Check) -> list[int]:
    """Return how many connections each train of a check had, in order."""
    own = [raw for raw in bench.raws(probed.id) if raw.purpose == "check"]
    return [int(re.findall(r"tries=(\d+)", raw.command[-1])[0]) for raw in own]


@given(st.integers(1, 3000))
def test_rounds_hold_as_many_connections_as_were_wanted(connections: int) -> None:
    """The first is alone, and each further round has a few trains of bounded length."""
    found = list(rounds(connections))
    assert found[0] == (1,)
    assert sum(map(sum, found)) == connections
    assert all(len(trains) <= BESIDE + 1 for trains in found)
    assert all(1 <= length <= LENGTH for trains in found for length in trains)


def test_all_connections_of_a_path_in_order_are_made(bench: Bench) -> None:
    """Each is answered, no control is run, and the figure says of how many."""
    probed = many(150)
    bench.observe(probed)
    seen = bench.seen(probed)
    assert (seen.outcome, seen.agreed) == (Outcome.CONNECTED, True)
    assert seen.flows == FlowCount(wanted=150, tried=150, connected=150, before=150, ran_out=False)
    assert {raw.purpose for raw in bench.raws(probed.id)} == {"check"}


def test_what_runs_out_is_told_by_a_last_train_alone(bench: Bench) -> None:
    """From a number on none connects: once more alone, then the controls, and nothing after that."""
    trains = failing(bench, lambda number: number > 100)
    probed = many(2000)
    bench.observe(probed)
    seen = bench.seen(probed)
    assert seen.outcome is Outcome.TIMED_OUT
    assert seen.flows is not None
    assert (seen.flows.connected, seen.flows.ran_out, seen.loss) == (100, True, None)
    assert 1 <= seen.flows.before <= 100  # side by side, in whatever order they came
    assert lengths(bench, probed)[-1] == AT_LAST
    assert sum(trains) < 200


def test_ports_that_are_taken_are_an_outcome_of_their_own(bench: Bench) -> None:
    """What the client's system says of its own ports is no silence of the path."""
    failing(bench, lambda number: number > 9, NO_PORT)
    probed = many(500)
    bench.observe(probed)
    seen = bench.seen(probed)
    assert seen.outcome is Outcome.NO_PORT
    assert seen.flows is not None
    assert seen.flows.ran_out


def test_single_lost_connections_are_a_loss_and_no_end(bench: Bench) -> None:
    """Where others connect after them nothing ran out; a proven loss ends it, as nothing more would show."""
    failing(bench, lambda number: number % 20 == 0)
    probed = many(2000)
    bench.observe(probed)
    seen = bench.seen(probed)
    assert seen.flows is not None
    assert (seen.outcome, seen.flows.ran_out) == (Outcome.CONNECTED, False)
    assert seen.loss is not None
    assert seen.loss.proven
    assert seen.flows.tried < 200


def test_a_dead_path_is_tried_once_more_and_did_not_run_out(bench: Bench) -> None:
    """Where nothing ever connected, no number was reached."""
    failing(bench, lambda _: True)
    probed = many(2000)
    bench.observe(probed)
    seen = bench.seen(probed)
    assert lengths(bench, probed) == [1, AT_LAST]
    assert seen.flows is not None
    assert (seen.outcome, seen.flows.ran_out) == (Outcome.TIMED_OUT, False)


def test_what_looks_for_a_limit_comes_last_one_of_a_probe_at_a_time() -> None:
    """Changes are none of these; first all that share many Services together, then connections, of different probes side by side."""
    change = replace(
        check(action(PROBE, TargetKind.POD_IP)), id="a", check_class=CheckClass.DISRUPTIVE
    )
    shared = [
        replace(check(action(probe, TargetKind.POD_IP, question=Question.SCALE)), id=f"s{number}")
        for number, probe in enumerate((PROBE, PROBE, "probe-linux-1-1"))
    ]
    one, other = replace(many(5), id="f1"), replace(many(5), id="f2")
    elsewhere = replace(
        check(action("probe-linux-1-1", TargetKind.POD_IP, question=Question.FLOWS)), id="f3"
    )
    groups = one_after_the_other([one, *shared, other, change, elsewhere], captures=4)
    assert [[one.id for one in group] for group in groups] == [
        ["s0", "s1", "s2"],
        ["f1", "f3"],
        ["f2"],
    ]


def test_connections_of_different_nodes_are_captured_side_by_side() -> None:
    """At most so many at once, and never two on one node."""
    ends = (("a", "b"), ("b", "c"), ("c", "d"), ("e", "e"), ("f", "g"))
    checks = [
        replace(
            one,
            id=f"{source}{target}",
            action=replace(
                one.action,
                question=Question.WITNESS,
                source=replace(one.action.source, node=source),
                target=replace(one.action.target, node=target),
            ),
        )
        for one in (many(5),)
        for source, target in ends
    ]
    groups = [[check.id for check in group] for group in one_after_the_other(checks, captures=3)]
    assert groups == [["ab", "cd", "ee"], ["bc", "fg"]]
