"""Faults of nodes: images that are gone, processes that are killed."""

import asyncio
from collections.abc import Mapping

from nettests.lab.client import Json
from nettests.lab.faults.following import Pods
from nettests.lab.faults.targets import Inject, Targets, Undo, number, text
from nettests.lab.interfaces import Namespace

_FIRST_KILL = 20.0
_FIRST_SILENCE = 6.0
_NO_ENDPOINT = (
    'plugin type="sdnbridge" name="l2bridge" failed (add): error creating endpoint hcnCreateEndpoint failed in Win32: IP address is '
    'either invalid or not part of any configured subnet(s). (0x803b001e) {"Success":false,"Error":"IP address is either invalid or '
    'not part of any configured subnet(s). ","ErrorCode":2151350302}'
)
"""hcsshim's text of an error of HNS (hcn/hcnerrors.go), in the words that a plugin puts around it, as users post it."""
_CROWDED = 10.0
"""Pods that start within so many seconds count as simultaneous."""


class NodeFaults:
    """Acts on nodes' disks, and on containers."""

    def __init__(self, targets: Targets, pods: Pods) -> None:
        self._targets = targets
        self._pods = pods

    def actions(self) -> Mapping[str, Inject]:
        """Return what puts each kind in force."""
        return {
            "late-pod-network": self._late_network,
            "no-sandbox": self._no_sandbox,
            "slow-pull": self._slow_pull,
            "registry-down": self._registry_down,
            "container-killed": self._killed,
        }

    async def _late_network(self, options: Json) -> Undo:
        node = self._targets.fabric.nodes[text(options, "node")]
        seconds = number(options, "seconds", _FIRST_SILENCE)
        beyond = int(number(options, "beyond", 0))
        hearing: set[asyncio.Task[None]] = set()
        arrivals: list[float] = []

        async def strike(namespace: Namespace) -> None:
            now = asyncio.get_running_loop().time()
            arrivals[:] = [*(moment for moment in arrivals if moment > now - _CROWDED), now]
            if len(arrivals) <= beyond:
                return
            mend = await self._targets.fabric.node_faults.deafen(namespace)

            async def later() -> None:
                try:
                    await asyncio.sleep(seconds)
                finally:
                    await mend()

            task = asyncio.create_task(later())
            hearing.add(task)
            task.add_done_callback(hearing.discard)

        self._targets.node(options)
        node.newcomer = strike

        async def undo() -> None:
            node.newcomer = None
            for task in (waiting := tuple(hearing)):
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

        return undo

    async def _no_sandbox(self, options: Json) -> Undo:
        nodes = self._targets.nodes(options)
        disks, pattern = (
            [self._targets.fabric.nodes[node].disk for node in nodes],
            text(options, "pod"),
        )
        for disk in disks:
            disk.no_sandbox[pattern] = text(options, "text") or _NO_ENDPOINT

        async def undo() -> None:
            for disk in disks:
                disk.no_sandbox.pop(pattern, None)

        return undo

    async def _slow_pull(self, options: Json) -> Undo:
        return self._without_images(options, seconds=number(options, "seconds", 5.0))

    async def _registry_down(self, options: Json) -> Undo:
        return self._without_images(options, down=True)

    def _without_images(self, options: Json, *, seconds: float = 0, down: bool = False) -> Undo:
        """Remove all images from nodes: each container start pulls its image again."""
        disks = [self._targets.fabric.nodes[name].disk for name in self._targets.nodes(options)]
        for disk in disks:
            disk.images.clear()
            disk.pull_seconds, disk.registry_down = (
                seconds or disk.pull_seconds,
                down or disk.registry_down,
            )

        async def undo() -> None:
            for disk in disks:
                if seconds:
                    disk.pull_seconds = 0
                if down:
                    disk.registry_down = False

        return undo

    async def _killed(self, options: Json) -> Undo:
        seconds = number(options, "seconds", _FIRST_KILL)
        waiting: set[asyncio.TimerHandle] = set()

        async def strike(pod: Json) -> None:
            metadata = pod["metadata"]
            kubelet = self._targets.kubelets[pod["spec"]["nodeName"]]

            def kill() -> None:
                kubelet.kill(namespace=metadata["namespace"], pod=metadata["name"])

            waiting.add(asyncio.get_running_loop().call_later(seconds, kill))

        end = await self._pods.follow(text(options, "pod"), strike)

        async def undo() -> None:
            await end()
            for timer in waiting:
                timer.cancel()

        return undo
