"""Faults of Service proxies: rules that are missing, late, wrong or outdated."""

import itertools
from collections.abc import Callable, Mapping

from nettests.lab.client import Json
from nettests.lab.errors import LabError
from nettests.lab.faults.targets import Inject, Targets, Undo, number, text, together
from nettests.lab.network import alterations
from nettests.lab.network.alterations import Alteration, Which
from nettests.lab.topology import OS

_SERVICES = 200
_GAP_SECONDS = 0.3


class ServiceFaults:
    """Acts on the Service rules of nodes; several faults of a node add up."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self._numbers = itertools.count()
        self._altered: dict[str, dict[int, Alteration]] = {
            name: {} for name in targets.fabric.nodes
        }

    def actions(self) -> Mapping[str, Inject]:
        """Return what puts each kind in force."""
        profile = self._targets.profile
        return {
            "service-rules-missing": self._missing,
            "slow-rules": self._slow,
            "rules-run-out": self._run_out,
            "removed-services-kept": self._altering(alterations.removed_kept),
            "proxy-stopped": self._altering(alterations.stopped),
            "stale-endpoint": self._altering(
                lambda which: alterations.with_stale_endpoint(which, profile)
            ),
            "wrong-target-port": self._altering(alterations.with_wrong_port),
            "one-backend": self._altering(alterations.with_one_backend),
            "affinity-lost": self._altering(alterations.without_affinity),
            "endpoints-frozen": self._altering(alterations.frozen),
            "shared-endpoints-lost": self._altering(alterations.shared_lost),
            "readdressed-endpoints-lost": self._altering(alterations.readdressed_lost),
            "renamed-ports-lost": self._altering(alterations.renamed_lost),
            "rules-recreated": self._recreated,
            "udp-flows-kept": self._flows_kept,
            "dsr-off": self._dsr_off,
        }

    def _altering(self, make: Callable[[Which], Alteration]) -> Inject:
        async def inject(options: Json) -> Undo:
            return await self._alter(options, make)

        return inject

    async def _missing(self, options: Json) -> Undo:
        return await self._alter(options, alterations.without)

    async def _run_out(self, options: Json) -> Undo:
        most = int(number(options, "services", _SERVICES))
        return await self._alter(options, lambda _which: alterations.full(most))

    async def _alter(self, options: Json, make: Callable[[Which], Alteration]) -> Undo:
        # The Service need not exist yet: a run creates its own after the fault is injected.
        which = Which(service=text(options, "service"), port=text(options, "port"))
        number_, nodes = next(self._numbers), self._targets.nodes(options)
        for node in nodes:
            self._altered[node][number_] = make(which)
            await self._put_in_force(node)

        async def undo() -> None:
            for node in nodes:
                del self._altered[node][number_]
                await self._put_in_force(node)

        return undo

    async def _put_in_force(self, node: str) -> None:
        await self._targets.fabric.nodes[node].alter_services(tuple(self._altered[node].values()))

    async def _slow(self, options: Json) -> Undo:
        slow = [self._targets.fabric.nodes[name] for name in self._targets.nodes(options)]
        before = [(node.rules_delay, node.quick_rules) for node in slow]
        for node in slow:
            node.rules_delay = number(options, "seconds", 3.0)
            node.quick_rules = int(number(options, "services", 0))

        async def undo() -> None:
            for node, (seconds, services) in zip(slow, before, strict=True):
                node.rules_delay, node.quick_rules = seconds, services

        return undo

    async def _recreated(self, options: Json) -> Undo:
        nodes = [self._targets.fabric.nodes[name] for name in self._targets.nodes(options)]
        for node in nodes:
            node.rules_gap = number(options, "seconds", _GAP_SECONDS)

        async def undo() -> None:
            for node in nodes:
                node.rules_gap = 0.0

        return undo

    async def _flows_kept(self, options: Json) -> Undo:
        nodes = [self._targets.fabric.nodes[name] for name in self._targets.nodes(options)]
        forgetting = [node.forgetting for node in nodes if node.forgetting is not None]
        if not forgetting:
            raise LabError(
                "kube-proxy on Windows forgets no flow in any case.", hint="Name a Linux --node."
            )
        for each in forgetting:
            each.udp = False

        async def undo() -> None:
            for each in forgetting:
                each.udp = True

        return undo

    async def _dsr_off(self, options: Json) -> Undo:
        profile = self._targets.profile
        nodes = [
            name for name in self._targets.nodes(options) if profile.node(name).os is OS.WINDOWS
        ]
        if not nodes:
            raise LabError("DSR is of Windows nodes alone.", hint="Name one with --node.")
        return await together([await self._rewriting(name) for name in nodes])

    async def _rewriting(self, name: str) -> Undo:
        node = self._targets.fabric.nodes[name]
        await node.rewrite_sources(always=True)

        async def undo() -> None:
            await node.rewrite_sources(always=False)

        return undo
