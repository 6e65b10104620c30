"""The engine: every check once, concurrently, in its order of readiness, distrusting what it must."""

import ipaddress
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from nettests.bounds import Bounds
from nettests.model.channel import HttpAnswer
from nettests.model.check import Action, Case, Check
from nettests.model.dns_names import SERVICE_FQDN
from nettests.model.windows_programs import ROOT
from nettests.model.words import Outcome, Protocol, Question, TargetKind
from nettests.probes.observer import interleaved
from tests.probes.conftest import Bench
from tests.probes.made import action, check

PROBE = "probe-windows-1-1"
NODE = "node-windows-1-1"
TIMED_OUT = HttpAnswer(status=200, body=json.dumps({"errors": ["dial tcp: i/o timeout"]}))


def test_every_check_is_run_once_and_done_once(bench: Bench) -> None:
    """Many concurrent checks: each has exactly its own three answers and one done record."""
    bench.timing = replace(bench.timing, dial=5)  # where cores are slow, sixty at once take longer
    checks = [check(action(PROBE, TargetKind.POD_IP), id=f"flow/{number}") for number in range(60)]
    bench.observe(*checks)
    assert sorted(record["check"] for record in bench.records("done")) == sorted(
        item.id for item in checks
    )
    assert {len(bench.raws(item.id)) for item in checks} == {3}
    assert ("observe", 60, 60) in bench.told


def test_questions_over_one_probe_are_bounded(bench: Bench) -> None:
    """No more questions than allowed are under way over one probe."""
    bench.timing = replace(bench.timing, per_probe=2)
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

    bench.dialling[PROBE].hook = hook
    bench.observe(*(check(action(PROBE, TargetKind.NODE_IP), id=f"f/{n}") for n in range(10)))
    assert most == 2


def member(question: Action, label: str) -> Check:
    """Return a member of a check, as the engine is given it."""
    return check(question, id=f"fleet/windows/windows/tcp#{label}")


def test_a_member_is_run_once_where_it_answers(bench: Bench) -> None:
    """Its node has many others: one answer is enough, and three are wanted of any other check."""
    one = member(action(PROBE, TargetKind.POD_IP), "w1 → w1")
    other = check(action(PROBE, TargetKind.POD_IP))
    bench.observe(one, other)
    assert [len(bench.raws(item.id)) for item in (one, other)] == [1, 3]


def test_a_silent_member_is_repeated_beside_its_controls(bench: Bench) -> None:
    """Trust rules are those of every check: silent twice, with controls of the same window."""
    bench.dialling[PROBE].hook = lambda _: TIMED_OUT
    one = member(action(PROBE, TargetKind.NODE_IP), "w1 → w1")
    bench.observe(one)
    assert len(bench.raws(one.id)) == bench.timing.failures
    assert bench.seen(one).outcome is Outcome.TIMED_OUT


def test_members_begin_at_most_so_many_at_a_time(bench: Bench) -> None:
    """However many pairs there are and however many may be open at a probe, a fleet's load is bounded."""
    bench.timing = replace(bench.timing, per_probe=100)
    now, most, lock = 0, 0, threading.Lock()

    def hook(path: str) -> HttpAnswer | None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.005)
        with lock:
            now -= 1
        return None

    bench.dialling[PROBE].hook = hook
    bench.observe(*(member(action(PROBE, TargetKind.POD_IP), str(n)) for n in range(80)))
    assert 1 < most <= Bounds().checks
    assert len(bench.records("done")) == 80


def test_partitions_advance_together() -> None:
    """The probes take turns, so that none waits for another's whole partition."""
    checks = [
        *(check(action(PROBE, TargetKind.POD_IP), id=f"w{n}") for n in range(3)),
        *(check(action("probe-linux-1-1", TargetKind.POD_IP), id=f"l{n}") for n in range(2)),
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
    bench: Bench, program: str, protocol: Protocol, wanted: Question
) -> None:
    """An image without a program skips its checks with the reason, after one try per probe."""
    bench.processes[PROBE].lacks = frozenset({program})
    question = action(PROBE, TargetKind.POD_IP, protocol, question=wanted)
    bench.observe(
        check(question, id="a", needs=(program,)), check(question, id="b", needs=(program,))
    )
    reason = f"the image of {PROBE} has no {program}"
    assert [bench.done(id)["skip"] for id in ("a", "b")] == [reason, reason]  # noqa: A001
    assert len(bench.processes[PROBE].ran) == 1
    assert bench.raws() == []


def test_a_capability_that_is_there_is_used(bench: Bench) -> None:
    """With ping the check is run; the trial is a ping of the probe itself."""
    probed = check(
        action(PROBE, TargetKind.POD_IP, Protocol.ICMP, question=Question.PING), needs=("ping",)
    )
    bench.observe(probed)
    assert bench.processes[PROBE].ran[0] == ("ping", "-n", "3", "-w", "2000", "127.0.0.1")
    assert bench.seen(probed).outcome is Outcome.REPLIED


def test_a_node_vantage_proves_its_origin_once_for_all_its_checks(bench: Bench) -> None:
    """The target on its own node sees the node's address; every check carries the proof."""
    checks = [check(action(NODE, TargetKind.POD_IP), id=id) for id in ("a", "b")]  # noqa: A001
    bench.observe(*checks)
    for item in checks:
        first, *rest = bench.raws(item.id)
        assert first.purpose == "origin"
        assert first.stdout.startswith(bench.processes[NODE].address)
        assert {raw.purpose for raw in rest} == {"check"}
        assert bench.seen(item).outcome is Outcome.CONNECTED
    curls = [argv for argv in bench.processes[NODE].ran if argv[-1].endswith("/whoami")]
    assert len(curls) == 1 + 2  # one proof, and one clientip turn in each check


def test_a_host_process_in_the_pod_network_is_not_trusted(bench: Bench) -> None:
    """hostNetwork is silently ignored on Windows: the pod's address tells, and nothing is probed."""
    bench.pods[NODE] = replace(bench.pods[NODE], addresses=(ipaddress.ip_address("10.244.3.77"),))
    probed = check(action(NODE, TargetKind.POD_IP))
    bench.observe(probed)
    assert bench.done(probed.id)["distrust"] == (
        f"{NODE} runs in the pod network (10.244.3.77), not on node w1"
    )
    assert bench.processes[NODE].ran == []


def test_a_foreign_source_address_is_not_trusted(bench: Bench) -> None:
    """A target that sees somebody else's address disproves the origin."""
    bench.processes[NODE].address = bench.dialling[PROBE].address
    probed = check(action(NODE, TargetKind.POD_IP))
    bench.observe(probed)
    assert f"saw {bench.dialling[PROBE].address} from {NODE}" in bench.done(probed.id)["distrust"]
    assert [raw.purpose for raw in bench.raws(probed.id)] == ["origin"]


def test_an_origin_that_nobody_can_prove_is_not_trusted(bench: Bench) -> None:
    """When no target answers, and no command does either, there is no proof, and no trust."""
    bench.processes[NODE].down = True
    probed = check(action(NODE, TargetKind.POD_IP))
    bench.observe(probed)
    why = f"no target answered to prove where {NODE} runs: exec lost its exit code"
    assert bench.done(probed.id)["distrust"] == why


def test_a_host_that_reaches_no_pod_is_trusted_as_a_host_process(bench: Bench) -> None:
    """The container shows what it is without the network: that its node reaches no Pod is a finding, not a lost probe."""
    bench.processes[NODE].silent = True
    probed = check(action(NODE, TargetKind.POD_IP))
    bench.observe(probed)
    assert bench.done(probed.id).get("distrust") is None
    assert bench.seen(probed).outcome is Outcome.TIMED_OUT


def test_a_container_that_is_no_host_process_is_not_trusted(bench: Bench) -> None:
    """A Windows kubelet says of any Pod with hostNetwork that it has its node's address."""
    bench.processes[NODE].silent = True
    bench.processes[NODE].root = ROOT
    probed = check(action(NODE, TargetKind.POD_IP))
    bench.observe(probed)
    assert bench.done(probed.id)["distrust"].endswith("and it is no HostProcess container")


def test_checks_wait_until_their_service_has_converged(bench: Bench) -> None:
    """A Service that needs a moment is polled first; its check then sees only successes."""
    late = iter([TIMED_OUT] * 2)
    address = str(bench.services["svc-server-linux-1-1"].addresses[0])
    bench.dialling[PROBE].hook = lambda path: next(late, None) if address in path else None
    probed = check(action(PROBE, TargetKind.SERVICE_CLUSTERIP))
    bench.observe(probed)
    assert {raw.purpose for raw in bench.raws(probed.id)} == {"check"}
    assert bench.seen(probed).outcome is Outcome.CONNECTED
    (record,) = bench.records("convergence")
    assert (record["service"], record["probe"], record["converged"]) == (
        "svc-server-linux-1-1",
        PROBE,
        True,
    )
    assert record["seconds"] > 0


def test_what_never_converges_is_recorded_and_run_anyway(bench: Bench) -> None:
    """After its deadline the Service's checks are run: the check says what is wrong, not the wait."""
    address = str(bench.services["svc-server-linux-1-1"].addresses[0])
    bench.dialling[PROBE].hook = lambda path: TIMED_OUT if address in path else None
    probed = check(action(PROBE, TargetKind.SERVICE_CLUSTERIP))
    bench.observe(probed)
    assert [record["converged"] for record in bench.records("convergence")] == [False]
    assert bench.seen(probed).outcome is Outcome.TIMED_OUT


def test_other_checks_do_not_wait_for_a_slow_service(bench: Bench) -> None:
    """Only the checks that use a Service wait for it."""
    address = str(bench.services["svc-server-linux-1-1"].addresses[0])
    bench.dialling[PROBE].hook = lambda path: TIMED_OUT if address in path else None
    slow = check(action(PROBE, TargetKind.SERVICE_CLUSTERIP), id="slow")
    quick = check(action(PROBE, TargetKind.POD_IP), id="quick")
    bench.observe(slow, quick)
    assert [record["check"] for record in bench.records("done")] == ["quick", "slow"]


def test_a_probe_that_cannot_be_used_spoils_its_own_checks_only(bench: Bench) -> None:
    """A pod that did not come up makes its checks untrusted with its reason; others are probed."""
    bench.problems[PROBE] = "pod probe-windows-1-1 is not Ready: ImagePullBackOff"
    spoilt = check(action(PROBE, TargetKind.POD_IP), id="spoilt")
    fine = check(action("probe-linux-1-1", TargetKind.POD_IP), id="fine")
    bench.observe(spoilt, fine)
    assert bench.done("spoilt")["distrust"] == bench.problems[PROBE]
    assert bench.seen(fine).outcome is Outcome.CONNECTED


@pytest.mark.parametrize(
    ("spec", "standing", "spared"),
    [("{}", True, True), ('{"hostNetwork": true}', True, False), ('{"hostNetwork": true}', False, True)],
    ids=["pod network", "host network", "nothing starts"],
)  # fmt: skip
def test_no_further_pod_is_started_where_none_starts(
    bench: Bench, spec: str, standing: bool, spared: bool
) -> None:
    """It would wait as long for the same result; one with the host's network starts where the node's own Pod did."""
    node = bench.pods[PROBE].node
    bench.barren[node] = f"no Pod of this run in the Pod network started on {node}: no sandbox"
    if not standing:
        for name in [name for name, pod in bench.pods.items() if pod.node == node]:
            del bench.pods[name]
    case = Case(label="plain", object=f'{{"kind": "Pod", "spec": {spec}}}')
    start = action(PROBE, TargetKind.POD_IP, question=Question.START, case=case)
    bench.observe(probed := check(start))
    assert (bench.done(probed.id)["distrust"] == bench.barren[node]) is spared


def test_a_target_that_does_not_stand_spoils_its_checks(bench: Bench) -> None:
    """A question that goes nowhere is not a negative result."""
    del bench.pods["server-linux-1-1"]
    probed = check(action(PROBE, TargetKind.POD_IP))
    bench.observe(probed)
    assert "server-linux-1-1 does not stand" in bench.done(probed.id)["distrust"]


def test_stopping_ends_soon_and_answers_for_every_check(
    bench: Bench, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    """After ``stop`` no further request is sent, and no test is left waiting."""
    bench.timing = replace(bench.timing, per_probe=1)
    release = threading.Event()

    def hook(path: str) -> HttpAnswer | None:
        release.wait(5)
        return TIMED_OUT

    bench.dialling[PROBE].hook = hook
    checks = [check(action(PROBE, TargetKind.NODE_IP), id=f"f/{number}") for number in range(100)]
    observer = bench.observer(checks)
    thread = threading.Thread(target=observer.run)
    thread.start()
    eventually(lambda: bool(bench.dialling[PROBE].probed))
    observer.stop()
    release.set()
    thread.join(5)
    assert not thread.is_alive()
    assert len(bench.records("done")) == 100
    assert all("stopped" in record["distrust"] for record in bench.records("done"))
    assert len(bench.raws()) < 100


def test_answers_are_in_the_journal_before_anything_reads_them(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parser that fails loses nothing: the raw answer is written already, and no test hangs."""

    def unreadable(*_: object) -> None:
        raise RuntimeError("a bug in a parser")

    monkeypatch.setattr("nettests.probes.attempts.read_answer", unreadable)
    probed = check(action(PROBE, TargetKind.NODE_IP))  # waits for no server, so nothing else reads
    bench.observe(probed)
    assert len(bench.raws(probed.id)) == 1
    assert bench.done(probed.id)["distrust"] == "nettests failed: RuntimeError: a bug in a parser"


def test_members_do_not_wait_for_names_that_do_not_resolve(bench: Bench) -> None:
    """No proxy works on names: members begin when Services have converged, however long a DNS is silent."""
    bench.timing = replace(bench.timing, convergence=2, convergence_linux=2)
    bench.dialling[PROBE].hook = lambda path: TIMED_OUT if "svc-server-linux-1-1." in path else None
    fqdn = action(PROBE, TargetKind.SERVICE_FQDN)
    named = check(replace(fqdn, target=replace(fqdn.target, name_form=SERVICE_FQDN)))
    one = member(action(PROBE, TargetKind.POD_IP), "w1 → n1")
    bench.observe(named, one)
    (name,) = [record for record in bench.records("convergence") if not record["converged"]]
    assert bench.raws(one.id)[0].started < name["seconds"]


def test_a_machine_without_a_further_thread_ends_the_run(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Members that already wait for the others to be queued are not waited for."""

    class Few(ThreadPoolExecutor):
        def submit(self, *arguments: Any, **named: Any) -> Any:
            if len(started) == 1:
                raise RuntimeError("can't start new thread")
            started.append(arguments)
            return super().submit(*arguments, **named)

    started: list[Any] = []
    monkeypatch.setattr("nettests.probes.observer.ThreadPoolExecutor", Few)
    checks = [member(action(PROBE, TargetKind.NODE_IP), f"w1 → w{number}") for number in (1, 2)]
    with pytest.raises(RuntimeError, match="new thread"):
        bench.observe(*checks)
    assert len(bench.records("done")) == 1
