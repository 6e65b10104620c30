"""One pod on its node, from the first status that its kubelet sends to the last; in virtual time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from nettests.lab.errors import LabError
from nettests.lab.interfaces import NotRunningError, PortMapping, Process
from nettests.lab.node.context import NodeContext
from nettests.lab.node.images import Kind
from nettests.lab.node.pod import PodWorker
from nettests.lab.node.status import Rejection
from tests.lab.node import nowhere
from tests.lab.node.nowhere import IMAGE, Network, Request, Sent, Told
from tests.lab.node.virtual_time import now, run

Json = dict[str, Any]


class Programs:
    """Programs by what they were told to be: ``run`` until SIGTERM, ``end=CODE`` after a second."""

    def __init__(self) -> None:
        self.began: list[tuple[float, str]] = []

    async def launch(self, _kind: Kind, process: Process) -> int:
        """Run one."""
        word = process.argv[-1]
        self.began.append((now(), word))
        if word.startswith("end="):
            await asyncio.sleep(1)
            return int(word.removeprefix("end="))
        await process.terminate.wait()
        return 0


def container(name: str, does: str = "run", **fields: Any) -> Json:
    """Return a container whose program does that."""
    return {"name": name, "image": IMAGE, "args": [does], **fields}


class Lone:
    """A pod alone on a node."""

    def __init__(
        self,
        node: str = "linux-1",
        *,
        rejection: Rejection | None = None,
        failures: tuple[Exception, ...] = (),
        mechanisms: dict[str, int] | None = None,
        **spec: Any,
    ) -> None:
        self.programs = Programs()
        self.context: NodeContext = nowhere.node(
            node, launch=self.programs.launch, mechanisms=mechanisms
        )
        assert isinstance(self.context.network, Network)
        self.network = self.context.network
        self.network.failures += failures
        self.pod = nowhere.pod(**{"containers": [container("c")], **spec})
        self.worker = PodWorker(self.context, self.pod, rejection)

    @property
    def requests(self) -> list[Request]:
        """What the kubelet sent."""
        assert isinstance(self.context.client, Sent)
        return self.context.client.requests

    @property
    def statuses(self) -> list[tuple[float, Json]]:
        """The statuses that it reported, and when."""
        return [(one.at, one.body["status"]) for one in self.requests if one.method == "PATCH"]

    @property
    def phases(self) -> list[tuple[float, str]]:
        """The phases, each when it was first reported."""
        found: list[tuple[float, str]] = []
        for at, status in self.statuses:
            if not found or found[-1][1] != status["phase"]:
                found.append((at, status["phase"]))
        return found

    def delete(self, grace: int = 30) -> None:
        """Let the pod be deleted."""
        metadata = {
            **self.pod["metadata"],
            "deletionTimestamp": "2026-11-21T01:22:03Z",
            "deletionGracePeriodSeconds": grace,
        }
        self.worker.update({**self.pod, "metadata": metadata})

    def live(
        self, seconds: float, then: Callable[["Lone"], Awaitable[None]] | None = None
    ) -> "Lone":
        """Run the pod for so long, then do something, and let it end or take it away."""

        async def work() -> None:
            task = asyncio.create_task(self.worker.run())
            await asyncio.wait([task], timeout=seconds)
            if then is not None:
                await then(self)
                await asyncio.wait([task], timeout=120)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        run(work())
        return self


async def _delete(lone: Lone) -> None:
    lone.delete()


def test_a_pod_is_pending_then_running() -> None:
    """Two statuses: one before anything was done, one when its container runs."""
    lone = Lone().live(5)
    assert lone.phases == [(0, "Pending"), (0, "Running")]
    last = lone.statuses[-1][1]
    assert (last["podIP"], last["hostIP"]) == ("10.244.1.2", "172.30.0.11")
    assert len(lone.statuses) == 2


def test_init_containers_run_one_after_the_other_before_all_others() -> None:
    """And the others at once."""
    lone = Lone(
        initContainers=[container("a", "end=0"), container("b", "end=0")],
        containers=[container("c"), container("d")],
    ).live(5)
    assert lone.programs.began == [(0, "end=0"), (1, "end=0"), (2, "run"), (2, "run")]
    assert lone.phases == [(0, "Pending"), (2, "Running")]


def test_a_failed_init_container_ends_a_pod_that_is_not_restarted() -> None:
    """Nothing else of it is ever started."""
    lone = Lone(
        restartPolicy="Never",
        initContainers=[container("a", "end=3")],
        containers=[container("c")],
    ).live(5)
    assert lone.programs.began == [(0, "end=3")]
    assert lone.phases[-1] == (1, "Failed")


@pytest.mark.parametrize(("code", "phase"), [(0, "Succeeded"), (2, "Failed")])
def test_a_pod_that_is_done_gives_its_address_back(code: int, phase: str) -> None:
    """It is finished, stays in the API, and is not in the network any more."""
    lone = Lone(restartPolicy="Never", containers=[container("c", f"end={code}")]).live(5)
    assert lone.phases[-1][1] == phase
    assert lone.network.attached == {}
    assert not any(one.method == "DELETE" for one in lone.requests)


def test_a_deleted_pod_is_stopped_reported_and_removed() -> None:
    """The last request deletes it without a grace, if it is still the same one."""
    lone = Lone().live(3, _delete)
    last = lone.requests[-1]
    assert (last.at, last.method, last.path) == (3, "DELETE", "/api/v1/namespaces/ns/pods/p")
    assert last.body == {"gracePeriodSeconds": 0, "preconditions": {"uid": "u"}}
    ended = lone.statuses[-1][1]["containerStatuses"][0]["state"]
    assert ended["terminated"]["exitCode"] == 0
    assert lone.network.attached == {}


def test_a_pod_that_was_deleted_before_it_began_is_never_started() -> None:
    """Its kubelet only removes it."""
    lone = Lone()
    lone.delete()
    lone.live(3)
    assert lone.programs.began == []
    assert {one.method for one in lone.requests} == {"DELETE"}


def test_a_refused_pod_has_failed_and_waits_to_be_deleted() -> None:
    """Told by status and event; nothing of it is started, and nothing attached."""
    rejection = Rejection(reason="NodeAffinity", message="it does not fit")
    lone = Lone(rejection=rejection).live(3)
    assert [(s["phase"], s["reason"]) for _, s in lone.statuses] == [("Failed", "NodeAffinity")]
    assert (lone.programs.began, lone.network.attached) == ([], {})
    recorder = lone.context.recorder
    assert isinstance(recorder, Told)
    assert recorder.events == [(0, "NodeAffinity", "it does not fit")]


def test_a_pod_without_a_network_is_tried_again() -> None:
    """Every ten seconds, with the plugin's words each time; it is Pending meanwhile."""
    failures = (LabError("no address is free", hint=""), OSError("no such device"))
    lone = Lone(failures=failures).live(22)
    recorder = lone.context.recorder
    assert isinstance(recorder, Told)
    assert [
        (at, text) for at, reason, text in recorder.events if reason == "FailedCreatePodSandBox"
    ] == [
        (0, "Failed to create pod sandbox: rpc error: code = Unknown desc = no address is free"),
        (10, "Failed to create pod sandbox: rpc error: code = Unknown desc = no such device"),
    ]
    assert lone.phases == [(0, "Pending"), (20, "Running")]


def test_a_pod_that_is_gone_while_it_is_attached_keeps_no_network() -> None:
    """A kubelet that was silent hears at once that a pod came and went: what is under way for it must not stay."""
    lone = Lone()
    lone.network.takes = 2
    lone.live(1)
    assert lone.network.attached == {}


def test_a_pod_that_waits_for_its_network_can_go() -> None:
    """It is removed at once, not at the next try."""
    lone = Lone(failures=(OSError("no"),) * 9).live(7, _delete)
    assert (lone.requests[-1].method, lone.requests[-1].at) == ("DELETE", 7)


@pytest.mark.parametrize(
    ("node", "spec", "mechanisms", "on_host"),
    [
        ("linux-1", {}, {}, False),
        ("linux-1", {"hostNetwork": True}, {}, True),
        ("win-1", {"hostNetwork": True}, {}, False),
        ("win-1", {"hostNetwork": True}, {"host-network": 1}, True),
        ("win-1", {"securityContext": {"windowsOptions": {"hostProcess": True}}}, {}, True),
    ],
)
def test_whose_network_a_pod_has(
    node: str, spec: Json, mechanisms: dict[str, int], *, on_host: bool
) -> None:
    """``hostNetwork`` counts on Linux, HostProcess on Windows; the mechanism makes both count there."""
    lone = Lone(node, mechanisms=mechanisms, **spec).live(1, _seen(on_host=on_host))
    assert lone.network.attached == {}


def _seen(*, on_host: bool) -> Callable[[Lone], Awaitable[None]]:
    async def look(lone: Lone) -> None:
        assert bool(lone.network.attached) is not on_host
        sandbox = lone.worker.sandbox
        assert sandbox is not None
        own = str(lone.context.spec.address) if on_host else "10.244.1.2"
        assert str(sandbox.address) == lone.statuses[-1][1]["podIP"] == own
        assert sandbox.hostname == (lone.context.spec.name if on_host else "p")
        lone.delete()

    return look


def test_host_ports_are_required_of_the_network() -> None:
    """With the pod's attachment."""
    ports = [{"containerPort": 80, "hostPort": 8080}]

    async def look(lone: Lone) -> None:
        wanted = (PortMapping(protocol="tcp", host_port=8080, container_port=80),)
        assert lone.network.attached == {"u": wanted}

    Lone(containers=[container("c", ports=ports)]).live(1, look)


def test_containers_are_found_by_name_and_the_first_without_one() -> None:
    """``kubectl exec`` without ``-c``; one that is not there is named."""
    lone = Lone(containers=[container("c"), container("d")])

    async def look(lone: Lone) -> None:
        assert lone.worker.container("d").name == "d"
        assert lone.worker.container("").name == "c"
        with pytest.raises(NotRunningError, match=r'container not found \("x"\)'):
            lone.worker.container("x")

    lone.live(1, look)


def test_a_kill_from_without_hits_every_container() -> None:
    """All of them are started again."""
    lone = Lone(containers=[container("c"), container("d")])

    async def kill(lone: Lone) -> None:
        assert lone.worker.kill()
        await asyncio.sleep(3)
        restarts = [one["restartCount"] for one in lone.statuses[-1][1]["containerStatuses"]]
        assert restarts == [1, 1]

    lone.live(2, kill)


def test_a_status_is_sent_again_when_somebody_else_wrote_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Though nothing changed; otherwise the same status is never sent twice."""
    monkeypatch.setattr("nettests.lab.node.pod.timestamp", lambda: "2026-11-24T09:00:00Z")
    lone = Lone()

    async def again(lone: Lone) -> None:
        before = len(lone.statuses)
        lone.worker.update(lone.pod)
        await asyncio.sleep(1)
        assert len(lone.statuses) == before
        lone.worker.report_again()
        await asyncio.sleep(1)
        assert len(lone.statuses) == before + 1
        assert lone.statuses[-1][1] == lone.statuses[-2][1]

    lone.live(2, again)
