"""What was run is not run again, what the budget does not reach is said, and a fault that changed is new."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import pytest

from nettests.lab.errors import LabError
from nettests.lab.selftest import running
from nettests.lab.selftest.matrix import Exit
from nettests.lab.selftest.runs import Run, from_json, read
from nettests.lab.selftest.selftest import ALWAYS, Kept, Plan, Selftest, Store, judged
from tests.lab.selftest.made import HEALTHY, PROFILE, fault, inject, run

FIRST, SECOND = fault(name="first"), fault(name="second")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A selftest that has done the first of two faults."""
    store = Store(tmp_path / "selftest")
    store.make()
    store.keep_healthy(PROFILE, HEALTHY)
    store.keep(PROFILE, FIRST, Kept(run=run("pod-to-pod-ip/a")))
    return store


@pytest.fixture(autouse=True)
def no_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here may need a lab."""

    @contextmanager
    def refused(profile: str, switched: object = ()) -> Iterator[None]:
        assert not profile, f"a lab of {profile} was requested"
        yield

    monkeypatch.setattr(running, "lab", refused)


def plan(*faults: object, budget: float = 0) -> Plan:
    """Return a plan."""
    return Plan(profiles=(PROFILE,), faults=faults, budget=budget)  # type: ignore[arg-type]


def carried_out(of: Plan, store: Store) -> list[str]:
    """Carry a plan out and return what it told; its clock runs a second at each look."""
    told: list[str] = []
    ticks = iter(range(10_000))
    Selftest(of, store, told.append, clock=lambda: float(next(ticks))).carry_out()
    return told


def test_what_is_done_needs_no_lab(store: Store) -> None:
    """A selftest that is complete is judged at once."""
    of = plan(FIRST, budget=1000)
    assert carried_out(of, store) == []
    found = judged(of, store)
    assert [one.word for one in found.judged] == ["detected"]
    assert found.exit is Exit.DETECTED


def test_a_spent_budget_leaves_the_rest_not_run(store: Store) -> None:
    """No lab is begun; the matrix says which faults are missing."""
    of = plan(FIRST, SECOND, budget=0)
    carried_out(of, store)
    found = judged(of, store)
    assert [one.word for one in found.judged] == ["detected", "not run"]
    assert found.exit is Exit.UNFINISHED


def test_the_rest_is_what_a_new_start_needs_a_lab_for(store: Store) -> None:
    """With time left the second fault is tried."""
    with pytest.raises(AssertionError, match="a lab of"):
        carried_out(plan(FIRST, SECOND, budget=1000), store)


def test_a_fault_that_is_put_in_force_otherwise_is_another(store: Store) -> None:
    """What was kept of it says nothing of it; what must turn may change without a new run."""
    stricter = fault(name="first", may=())
    assert store.fault(PROFILE, stricter) is not None
    milder = fault(name="first", injections=inject("packet-loss", node="win-2", rate=0.5))
    assert store.fault(PROFILE, milder) is None


def test_a_profile_that_was_not_healthy_is_tried_again(store: Store) -> None:
    """It may have been a bad moment; until then nothing is judged by it."""
    store.keep_healthy(PROFILE, run("names/a"))
    with pytest.raises(AssertionError, match="a lab of"):
        carried_out(plan(FIRST, budget=1000), store)


def test_a_file_that_is_none_of_ours_is_an_error(store: Store) -> None:
    """It names the file and what to do."""
    (store.path / PROFILE / "first.json").write_text("{")
    with pytest.raises(LabError, match=r"first\.json is not what a selftest wrote"):
        store.fault(PROFILE, FIRST)


def test_runs_survive_being_written() -> None:
    """As JSON and back a run is the same."""
    made = run("pod-to-pod-ip/a")
    assert from_json(json.loads(json.dumps(asdict(made)))) == made


def test_results_are_read_as_the_harness_publishes_them() -> None:
    """What was skipped never ran; nodes, protocol, Service and incidents are taken over."""
    end = {"node": "win-1", "service": "svc-a"}
    check = {"id": "a/b", "flow": "a", "verdict": "fail", "protocol": "udp", "placement": None}
    results = {
        "run": {"error": None},
        "checks": [
            {**check, "source": {"node": None}, "target": end},
            {"id": "c", "flow": "c", "verdict": "skipped"},
        ],
        "incidents": [{"cause": "it", "traits": {"node": "win-1"}, "checks": ["a/b"]}],
    }
    found = read(results, seconds=1, exit_code=1)
    (one,) = found.red
    assert (one.source, one.target, one.protocol, one.service) == ("", "win-1", "udp", "svc-a")
    assert found.incidents[0].words == "it win-1"


def test_a_fault_of_a_class_runs_its_own_flows_with_the_class(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the fault and after it, whatever else is run; one that enables other classes is another fault."""
    ran: list[tuple[tuple[str, ...], tuple[str, ...]]] = []

    def noted(*_: object, flows: tuple[str, ...], enable: tuple[str, ...], **__: object) -> Run:
        ran.append((flows, enable))
        return HEALTHY

    @contextmanager
    def nothing(*_: object) -> Iterator[None]:
        yield

    monkeypatch.setattr(running, "lab", nothing)
    monkeypatch.setattr(running, "broken", nothing)
    monkeypatch.setattr(running, "run", noted)
    costly = fault(name="third", enable=("costly",))
    carried_out(plan(costly, budget=1000), store)
    flows = ALWAYS
    assert ran == [(flows, ("costly",)), (flows[:4], ("costly",))]
    assert store.fault(PROFILE, costly) is not None
    assert store.fault(PROFILE, fault(name="third")) is None
