"""Faults of how programs start and end in containers: assumptions of whoever runs commands there, broken one by one."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from nettests.lab.client import Json
from nettests.lab.faults.following import Pods
from nettests.lab.faults.targets import Inject, Targets, Undo, number, text
from nettests.lab.interfaces import ProgramTroubles
from nettests.lab.programs.windows.broken_tools import broken_tools

_OTHER_TEXT = "0x8007: wird nicht erkannt / n'est pas reconnu / 認識されていません"
"""Words of three languages at once, which no table holds."""


class ProgramFaults:
    """Acts on what nodes do with commands (``ProgramTroubles``), and on servers."""

    def __init__(self, targets: Targets, pods: Pods) -> None:
        self._targets = targets
        self._pods = pods

    def actions(self) -> Mapping[str, Inject]:
        """Return what puts each kind in force."""
        return {
            "wrong-exit-codes": self._set(
                "exit_code", lambda options: int(number(options, "code", 0))
            ),
            "exec-refused": self._set("refused"),
            "output-truncated": self._set(
                "output_limit", lambda options: int(number(options, "bytes", 1000))
            ),
            "output-lost": self._set("loses_output"),
            "other-cmd-text": self._set("cmd_text", lambda _options: _OTHER_TEXT),
            "copy-refused": self._set("copy_refused"),
            "slow-copy": self._set("copy_seconds", lambda options: number(options, "seconds", 5.0)),
            "program-missing": self._missing,
            **{name: self._tool(name) for name in broken_tools()},
            "server-dead": self._dead,
        }

    def _troubles(self, options: Json) -> list[ProgramTroubles]:
        nodes = self._targets.fabric.nodes
        return [nodes[name].disk.troubles for name in self._targets.nodes(options)]

    def _set(self, field: str, value: Callable[[Json], Any] = lambda _options: True) -> Inject:
        """Return a fault that is one value on each node that is named, or on all."""

        async def inject(options: Json) -> Undo:
            changed = self._troubles(options)
            for troubles in changed:
                setattr(troubles, field, value(options))

            async def undo() -> None:
                for troubles in changed:
                    setattr(troubles, field, getattr(ProgramTroubles(), field))

            return undo

        return inject

    def _tool(self, name: str) -> Inject:
        """Return a fault of what tools print."""

        async def inject(options: Json) -> Undo:
            changed = self._troubles(options)
            for troubles in changed:
                troubles.tools.add(name)

            async def undo() -> None:
                for troubles in changed:
                    troubles.tools.discard(name)

            return undo

        return inject

    async def _missing(self, options: Json) -> Undo:
        program = text(options, "program").lower().removesuffix(".exe")
        changed = self._troubles(options)
        for troubles in changed:
            troubles.missing.add(program)

        async def undo() -> None:
            for troubles in changed:
                troubles.missing.discard(program)

        return undo

    async def _dead(self, options: Json) -> Undo:
        seconds = number(options, "seconds", 5.0)
        waiting: set[asyncio.TimerHandle] = set()

        async def strike(pod: Json) -> None:
            metadata = pod["metadata"]
            kubelet = self._targets.kubelets[pod["spec"]["nodeName"]]

            def stop() -> None:
                kubelet.stop_serving(namespace=metadata["namespace"], pod=metadata["name"])

            waiting.add(asyncio.get_running_loop().call_later(seconds, stop))

        end = await self._pods.follow(text(options, "pod"), strike)

        async def undo() -> None:
            await end()
            for timer in waiting:
                timer.cancel()

        return undo
