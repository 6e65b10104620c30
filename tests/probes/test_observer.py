"""The engine: every check once, concurrently, in its order of readiness, distrusting what it must."""

import ipaddress
import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from nettests.model.channel import HttpAnswer
from nettests.model.words import Outcome, Protocol, Question, TargetKind
from nettests.probes.observer import interleaved
from tests.probes.conftest import Stage
from tests.probes.made import ask, check

PROBE = "probe-windows-1-1"
NODE = "node-windows-1-1"
TIMED_OUT = HttpAnswer(status=200, body=json.dumps({"errors": ["dial tcp: i/o timeout"]}))


def test_every_check_is_asked_once_and_done_once(stage: Stage) -> None:
    """Many concurrent checks: each has exactly its own three answers and one done record."""
    stage.timing = replace(stage.timing, dial=5)  # where cores are slow, sixty at once take longer
    checks = [check(ask(PROBE, TargetKind.POD_IP), id=f"flow/{number}") for number in range(60)]
    stage.observe(*checks)
    assert sorted(record["check"] for record in stage.records("done")) == sorted(
        item.id for item in checks
    )
    assert {len(stage.raws(item.id)) for item in checks} == {3}
    assert ("observe", 60, 60) in stage.told


def test_questions_over_one_probe_are_bounded(stage: Stage) -> None:
    """No more questions than allowed are under way over one probe."""
    stage.timing = replace(stage.timing, per_probe=2)
    now, most, lock = 0, 0, threading.Lock()

    def hook(path: str) -> HttpAnswer | None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.005)
        with lock:
            now -= 1
        return TIMED_OUT

    stage.dialling[PROBE].hook = hook
    stage.observe(*(check(ask(PROBE, TargetKind.NODE_IP), id=f"f/{n}") for n in range(10)))
    assert most == 2


def test_partitions_advance_together() -> None:
    """The probes take turns, so that none waits for another's whole partition."""
    checks = [
        *(check(ask(PROBE, TargetKind.POD_IP), id=f"w{n}") for n in range(3)),
        *(check(ask("probe-linux-1-1", TargetKind.POD_IP), id=f"l{n}") for n in range(2)),
    ]
    assert [item.id for item in interleaved(checks)] == ["w0", "l0", "w1", "l1", "w2"]


@pytest.mark.parametrize(
    ("program", "protocol", "wanted"),
    [
        ("ping", Protocol.ICMP, Question.PING),
        ("powershell", Protocol.TCP, Question.IDLE),
        ("bash", Protocol.TCP, Question.IDLE),
    ],
)
def test_a_missing_capability_is_a_skip_found_out_once(
    stage: Stage, program: str, protocol: Protocol, wanted: Question
) -> None:
    """An image without a program skips its checks with the reason, after one try per probe."""
    stage.processes[PROBE].lacks = frozenset({program})
    question = ask(PROBE, TargetKind.POD_IP, protocol, question=wanted)
    stage.observe(
        check(question, id="a", needs=(program,)), check(question, id="b", needs=(program,))
    )
    reason = f"the image of {PROBE} has no {program}"
    assert [stage.done(id)["skip"] for id in ("a", "b")] == [reason, reason]  # noqa: A001
    assert len(stage.processes[PROBE].ran) == 1
    assert stage.raws() == []


def test_a_capability_that_is_there_is_used(stage: Stage) -> None:
    """With ping the check is asked; the trial is a ping of the probe itself."""
    asked = check(
        ask(PROBE, TargetKind.POD_IP, Protocol.ICMP, question=Question.PING), needs=("ping",)
    )
    stage.observe(asked)
    assert stage.processes[PROBE].ran[0] == ("ping", "-n", "3", "-w", "2000", "127.0.0.1")
    assert stage.seen(asked).outcome is Outcome.REPLIED


def test_a_node_vantage_proves_its_origin_once_for_all_its_checks(stage: Stage) -> None:
    """The target on its own node sees the node's address; every check carries the proof."""
    checks = [check(ask(NODE, TargetKind.POD_IP), id=id) for id in ("a", "b")]  # noqa: A001
    stage.observe(*checks)
    for item in checks:
        first, *rest = stage.raws(item.id)
        assert first.purpose == "origin"
        assert first.stdout.startswith(stage.processes[NODE].address)
        assert {raw.purpose for raw in rest} == {"check"}
        assert stage.seen(item).outcome is Outcome.CONNECTED
    curls = [argv for argv in stage.processes[NODE].ran if argv[-1].endswith("/whoami")]
    assert len(curls) == 1 + 2  # one proof, and one clientip turn in each check


def test_a_host_process_in_the_pod_network_is_not_trusted(stage: Stage) -> None:
    """hostNetwork is silently ignored on Windows: the pod's address tells, and nothing is asked."""
    stage.pods[NODE] = replace(stage.pods[NODE], addresses=(ipaddress.ip_address("10.244.3.77"),))
    asked = check(ask(NODE, TargetKind.POD_IP))
    stage.observe(asked)
    assert stage.done(asked.id)["distrust"] == (
        f"{NODE} runs in the pod network (10.244.3.77), not on node w1"
    )
    assert stage.processes[NODE].ran == []


def test_a_foreign_source_address_is_not_trusted(stage: Stage) -> None:
    """A target that sees somebody else's address disproves the origin."""
    stage.processes[NODE].address = stage.dialling[PROBE].address
    asked = check(ask(NODE, TargetKind.POD_IP))
    stage.observe(asked)
    assert f"saw {stage.dialling[PROBE].address} from {NODE}" in stage.done(asked.id)["distrust"]
    assert [raw.purpose for raw in stage.raws(asked.id)] == ["origin"]


def test_an_origin_that_nobody_can_prove_is_not_trusted(stage: Stage) -> None:
    """When no target answers, there is no proof, and no trust."""
    stage.processes[NODE].down = True
    asked = check(ask(NODE, TargetKind.POD_IP))
    stage.observe(asked)
    assert stage.done(asked.id)["distrust"] == f"no target answered to prove where {NODE} runs"


def test_checks_wait_until_their_service_has_converged(stage: Stage) -> None:
    """A Service that needs a moment is polled first; its check then sees only successes."""
    late = iter([TIMED_OUT] * 2)
    address = str(stage.services["svc-server-linux-1-1"].addresses[0])
    stage.dialling[PROBE].hook = lambda path: next(late, None) if address in path else None
    asked = check(ask(PROBE, TargetKind.SERVICE_CLUSTERIP))
    stage.observe(asked)
    assert {raw.purpose for raw in stage.raws(asked.id)} == {"check"}
    assert stage.seen(asked).outcome is Outcome.CONNECTED
    (record,) = stage.records("convergence")
    assert (record["service"], record["probe"], record["converged"]) == (
        "svc-server-linux-1-1",
        PROBE,
        True,
    )
    assert record["seconds"] > 0


def test_what_never_converges_is_recorded_and_asked_anyway(stage: Stage) -> None:
    """After its deadline the Service's checks are asked: the check says what is wrong, not the wait."""
    address = str(stage.services["svc-server-linux-1-1"].addresses[0])
    stage.dialling[PROBE].hook = lambda path: TIMED_OUT if address in path else None
    asked = check(ask(PROBE, TargetKind.SERVICE_CLUSTERIP))
    stage.observe(asked)
    assert [record["converged"] for record in stage.records("convergence")] == [False]
    assert stage.seen(asked).outcome is Outcome.TIMED_OUT


def test_other_checks_do_not_wait_for_a_slow_service(stage: Stage) -> None:
    """Only the checks that use a Service wait for it."""
    address = str(stage.services["svc-server-linux-1-1"].addresses[0])
    stage.dialling[PROBE].hook = lambda path: TIMED_OUT if address in path else None
    slow = check(ask(PROBE, TargetKind.SERVICE_CLUSTERIP), id="slow")
    quick = check(ask(PROBE, TargetKind.POD_IP), id="quick")
    stage.observe(slow, quick)
    assert [record["check"] for record in stage.records("done")] == ["quick", "slow"]


def test_a_probe_that_cannot_be_asked_spoils_its_own_checks_only(stage: Stage) -> None:
    """A pod that did not come up makes its checks untrusted with its reason; others are asked."""
    stage.problems[PROBE] = "pod probe-windows-1-1 is not Ready: ImagePullBackOff"
    spoilt = check(ask(PROBE, TargetKind.POD_IP), id="spoilt")
    fine = check(ask("probe-linux-1-1", TargetKind.POD_IP), id="fine")
    stage.observe(spoilt, fine)
    assert stage.done("spoilt")["distrust"] == stage.problems[PROBE]
    assert stage.seen(fine).outcome is Outcome.CONNECTED


def test_a_target_that_does_not_stand_spoils_its_checks(stage: Stage) -> None:
    """A question that goes nowhere is not a negative result."""
    del stage.pods["server-linux-1-1"]
    asked = check(ask(PROBE, TargetKind.POD_IP))
    stage.observe(asked)
    assert "server-linux-1-1 does not stand" in stage.done(asked.id)["distrust"]


def test_stopping_ends_soon_and_answers_for_every_check(
    stage: Stage, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """After ``stop`` no further question is asked, and no test is left waiting."""
    stage.timing = replace(stage.timing, per_probe=1)
    release = threading.Event()

    def hook(path: str) -> HttpAnswer | None:
        release.wait(5)
        return TIMED_OUT

    stage.dialling[PROBE].hook = hook
    checks = [check(ask(PROBE, TargetKind.NODE_IP), id=f"f/{number}") for number in range(100)]
    observer = stage.observer(checks)
    thread = threading.Thread(target=observer.run)
    thread.start()
    eventually(lambda: bool(stage.dialling[PROBE].asked))
    observer.stop()
    release.set()
    thread.join(5)
    assert not thread.is_alive()
    assert len(stage.records("done")) == 100
    assert all("stopped" in record["distrust"] for record in stage.records("done"))
    assert len(stage.raws()) < 100


def test_answers_are_in_the_journal_before_anything_reads_them(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parser that fails loses nothing: the raw answer is written already, and no test hangs."""

    def unreadable(*_: object) -> None:
        raise RuntimeError("a bug in a parser")

    monkeypatch.setattr("nettests.probes.attempts.read_answer", unreadable)
    asked = check(ask(PROBE, TargetKind.NODE_IP))  # waits for no server, so nothing else reads
    stage.observe(asked)
    assert len(stage.raws(asked.id)) == 1
    assert stage.done(asked.id)["distrust"] == "nettests failed: RuntimeError: a bug in a parser"
