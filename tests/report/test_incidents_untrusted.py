"""Incidents of checks whose answers nobody trusts: they name why, and claim nothing of the network."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from nettests.judge.advice import after_distrust
from nettests.model.check import Check
from nettests.model.observation import ControlResult
from nettests.model.words import Question, Verdict
from nettests.report import Results
from tests.report.test_incidents import WIN, broken, holding, without_dns


def test_what_nobody_trusts_is_no_silence_of_the_dns(quiet: Results) -> None:
    """Checks whose answers cannot be trusted say that they cannot be judged, not that it does not answer."""
    results = broken(quiet, without_dns, verdict=Verdict.UNKNOWN)
    checks = [
        replace(
            one, observation=replace(one.observation, trusted=False, distrust="the Pod has gone")
        )
        if one.verdict is Verdict.UNKNOWN and one.observation
        else one
        for one in results.checks
    ]
    (incident,) = holding(results, checks).incidents
    assert incident.cause == "Checks of the cluster DNS cannot be judged"


def test_pods_that_never_started_are_one_cause(quiet: Results) -> None:
    """Whatever leans on Pods of a node, as source, backend or target: the node and the kubelet's reason are told once."""
    checks = []
    for one in quiet.checks:
        check = one.check
        if check is None or WIN not in {check.source.node, check.target.node}:
            checks.append(one)
            continue
        at_source = check.source.node == WIN
        pod = check.source.probe if at_source else check.target.pod or "server-windows-1-1"
        why = (
            f"pod {pod} is not Ready: container hostname: ImagePullBackOff: Back-off pulling image"
        )
        why = why if at_source else f"pod {pod} does not stand: {why}"
        checks.append(replace(one, verdict=Verdict.UNKNOWN, observation=None, distrust=why))
    (incident,) = holding(quiet, checks).incidents
    assert (
        incident.cause
        == f"Pods of the run do not start on {WIN}: container hostname: ImagePullBackOff: Back-off pulling image"
    )
    assert incident.traits == {"not-started": WIN}
    assert len({name.split("/")[0] for name in incident.checks}) > 3


@pytest.mark.parametrize(
    ("whole", "cause"),
    [("", "Pod probe-windows-1-1 of the run does not start on {}"), ("no Pod of this run started on {0}: ", "Pods of the run do not start on {0}")],
    ids=["one", "none"],
)  # fmt: skip
def test_a_single_pod_that_did_not_start_is_named(quiet: Results, whole: str, cause: str) -> None:
    """Where others started on its node; its event is the title, whole."""
    event = 'FailedCreatePodSandBox: plugin type="a" failed (add): no address: none is free'
    why = f"{whole.format(WIN)}pod probe-windows-1-1 is not Ready: {event}"
    found = untrusted(quiet, lambda check: why if check.source.probe == "probe-windows-1-1" else "")
    (incident,) = found.incidents
    assert incident.cause == f"{cause.format(WIN)}: {event}"


def test_a_node_that_was_not_ready_is_the_cause(quiet: Results) -> None:
    """Whatever its checks were about: the node is named once, with the step that says why."""
    why = f"node {WIN} was not Ready while this was probed (NodeStatusUnknown: Kubelet stopped)"
    checks = [
        replace(
            one,
            verdict=Verdict.UNKNOWN,
            observation=replace(one.observation, trusted=False, distrust=why),
            distrust=why,
        )
        if one.observation and one.check and WIN in {one.check.source.node, one.check.target.node}
        else one
        for one in quiet.checks
    ]
    (incident,) = holding(quiet, checks).incidents
    assert incident.cause == f"Node {WIN} was not Ready while it was probed"
    assert incident.traits == {"unready-node": WIN}
    assert "kubectl describe node" in incident.next_step
    assert len({name.split("/")[0] for name in incident.checks}) > 3


LOST = "control channel port-forward: port-forward to {}: error forwarding port 8080: connection refused"


def untrusted(quiet: Results, at: Callable[[Check], str]) -> Results:
    """Return the run in which what ``at`` names a reason for cannot be judged."""
    checks = [
        replace(
            one,
            verdict=Verdict.UNKNOWN,
            observation=replace(one.observation, trusted=False, distrust=why),
            distrust=why,
            next_step=after_distrust(why),
        )
        if one.observation and one.check and (why := at(one.check))
        else one
        for one in quiet.checks
    ]
    return holding(quiet, checks)


def test_a_probe_that_was_lost_for_a_while_is_the_cause(quiet: Results) -> None:
    """Its container was restarted: whatever its checks were about, it is named once, with its node, and no network is blamed."""
    probes = {one.check.source.probe for one in quiet.checks if one.check}
    (lost,) = (one for one in probes if one == "probe-windows-1-1")
    found = untrusted(
        quiet, lambda check: LOST.format(lost) if check.source.probe == lost else ""
    ).incidents
    assert found[0].cause == f"Probe {lost} on {WIN} did not answer over its control channel"
    assert len({name.split("/")[0] for name in found[0].checks}) > 3
    assert "restarted" in found[0].next_step
    assert not any("affinity" in one.cause for one in found)


def test_a_program_that_a_node_lacks_is_one_cause(quiet: Results) -> None:
    """Each check that needed it says what the node said; the program is named once, and no channel or network is blamed."""
    text = "attempt 1: curl.exe is missing in {}: 'curl.exe' is not recognized as an internal or external command"
    (incident,) = untrusted(
        quiet,
        lambda check: text.format(check.source.probe) if check.source.node == WIN else "",
    ).incidents
    assert (
        incident.cause
        == f"Program curl.exe on {WIN} does not run, so that checks which need it cannot be judged"
    )
    assert incident.traits == {"missing-program": f"curl.exe on {WIN}"}
    assert "HostProcess container" in incident.next_step


def test_probes_of_one_node_that_are_lost_are_one_cause(quiet: Results) -> None:
    """The API server does not reach its kubelet: not each of its probes is told apart."""
    (incident,) = untrusted(
        quiet,
        lambda check: LOST.format(check.source.probe) if check.source.node == WIN else "",
    ).incidents
    assert incident.cause == f"Probes on {WIN} did not answer over their control channels"
    assert incident.traits == {"lost-probes": WIN}


def test_a_control_whose_probe_was_lost_names_it_too(quiet: Results) -> None:
    """The check's own answers came; that its control's did not is no silence of the network."""
    at = "probe-windows-1-1"
    checks = []
    for one in quiet.checks:
        leaning = one.check and [
            control for control in one.check.controls if control.action.source.probe == at
        ]
        if (
            not leaning
            or one.observation is None
            or one.check is None
            or one.check.source.probe == at
        ):
            checks.append(one)
            continue
        failed = tuple(
            ControlResult(proves=control.proves, ok=False, detail=LOST.format(at))
            for control in leaning
        )
        checks.append(
            replace(
                one,
                verdict=Verdict.UNKNOWN,
                observation=replace(one.observation, controls=failed),
            )
        )
    (incident,) = holding(quiet, checks).incidents
    assert incident.cause == f"Probe {at} on {WIN} did not answer over its control channel"


def test_affinity_that_cannot_be_judged_is_no_second_cause(quiet: Results) -> None:
    """Its control shows that connections reach one backend: they are not distributed, and affinity is not blamed."""
    checks = []
    for one in quiet.checks:
        distributed = one.check and [
            control
            for control in one.check.controls
            if control.action.question is Question.DISTRIBUTE
        ]
        if one.observation is None or one.check is None:
            checks.append(one)
        elif distributed:
            failed = tuple(
                ControlResult(proves=control.proves, ok=False, detail="1 backends answered")
                for control in distributed
            )
            seen = replace(one.observation, controls=failed, trusted=True)
            checks.append(replace(one, verdict=Verdict.UNKNOWN, observation=seen))
        elif one.check.flow == "service-distribution":
            checks.append(replace(one, verdict=Verdict.FAIL))
        else:
            checks.append(one)
    incident, *others = holding(quiet, checks).incidents
    assert incident.traits == {"property": "distribution"}
    assert {"session-affinity", "service-distribution"} <= {
        name.split("/")[0] for name in incident.checks
    }
    assert [one.cause for one in others if "affinity" in one.cause] == []


def test_a_server_that_was_deleted_in_the_middle_is_the_cause(quiet: Results) -> None:
    """Whatever reached for it and failed: the Pod is named once, although others reached it before, and no network is blamed."""
    pod = "server-windows-1-1"
    met = [
        one.id
        for one in quiet.checks
        if one.check and pod in (one.check.target.pod or "", *one.check.target.backends)
    ]
    late = frozenset(met[len(met) // 2 :])
    why = f"pod {pod} no longer stands: it is being deleted"
    found = untrusted(quiet, lambda check: why if check.id in late else "").incidents
    assert found[0].cause == f"Pod {pod} on {WIN} was deleted or restarted during the run"
    assert len(found) == 1
    assert "deleted, evicted or restarted" in found[0].next_step


def test_how_the_container_of_such_a_pod_ended_is_said(quiet: Results) -> None:
    """Its exit code and the end of its log stand in the cause: nobody has to look for them on the node."""
    pod, ended = "server-windows-1-1", "Error, exit code 2: panic: out of memory"
    why = f"pod {pod} was started again while this was run: {ended}"
    found = untrusted(quiet, lambda check: why if check.target.pod == pod else "").incidents
    assert [incident.cause for incident in found] == [
        f"Pod {pod} on {WIN} was deleted or restarted during the run: {ended}"
    ]


def test_pods_of_one_node_that_went_are_one_cause(quiet: Results) -> None:
    """A drain or a reboot takes all of them: the node is named."""
    pods = ("server-windows-1-1", "probe-windows-1-1")

    def at(check: Check) -> str:
        used = (check.source.probe, check.target.pod or "", *check.target.backends)
        found = next((one for one in pods if one in used), None)
        return f"pod {found} was started again while this was run" if found else ""

    found = untrusted(quiet, at).incidents
    assert found[0].cause.startswith(f"Pods of the run on {WIN} were deleted or restarted")
    assert found[0].traits == {"gone-pods": WIN}


REFUSED = (
    "control channel port-forward: port-forward: port-forward to {0} was not opened: [Errno 111] Connection refused; "
    "pod-proxy: pod proxy to {0}: the API server https://192.0.2.1:6443 (context kind) cannot be reached: "
    "Failed to establish a new connection: [Errno 111] Connection refused"
)


HUNG_UP = "exec on linux-1 was not calibrated: exec in {0} was not opened: the API server hung up before it answered"


@pytest.mark.parametrize("why", [REFUSED, HUNG_UP])
def test_an_api_server_that_restarts_is_one_cause_on_all_nodes(quiet: Results, why: str) -> None:
    """Probes of every node are lost at once: neither probes, nodes nor tools are at fault, and the one door is named."""
    found = untrusted(quiet, lambda check: why.format(check.source.probe)).incidents
    assert found[0].cause.startswith("The API server was not reached for a while")
    assert len(found) == 1
    assert "its restarts" in found[0].next_step


def test_a_probe_that_is_waited_for_in_vain_is_no_lost_api_server(quiet: Results) -> None:
    """The proxy of an API server that is well waits for the node behind it."""
    silent = (
        "control channel pod-proxy: pod proxy to {}: the API server https://192.0.2.1:6443 (context kind) cannot be "
        "reached: HTTPSConnectionPool(host='192.0.2.1', port=6443): Read timed out. (read timeout=5)"
    )
    found = untrusted(
        quiet, lambda check: silent.format(check.source.probe) if check.source.node == WIN else ""
    ).incidents
    assert found[0].traits == {"lost-probes": WIN}


def test_a_quota_that_leaves_no_room_is_one_cause(quiet: Results) -> None:
    """Whatever Pods it kept away, on whatever nodes: the quota is named once."""

    def why(check: Check) -> str:
        pod = check.target.pod or (check.target.backends or ("",))[0]
        refused = (
            f'pods "{pod}" is forbidden: exceeded quota: small, requested: pods=1, used: pods=4'
        )
        return f"Pod {pod} was not created: POST /api/v1/x: 403 Forbidden: {refused}" if pod else ""

    (incident,) = untrusted(quiet, why).incidents
    assert incident.cause == "Pods of the run were not created: exceeded quota: small"
    assert "ResourceQuota small" in incident.next_step
