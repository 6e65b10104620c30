"""One node's network as the rest of the lab sees it (``interfaces.NodeNetwork``).

The same class serves both systems: ``linux_node`` and ``windows_node`` build it, and pass in how a
Service table is programmed.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from nettests.lab.interfaces import Disk, Dropped, Hns, Namespace, PodNetwork, PortMapping
from nettests.lab.network.alterations import Alteration
from nettests.lab.network.conntrack import Forgetting
from nettests.lab.network.drop_witness import DropWitness
from nettests.lab.network.host_ports import HostPorts
from nettests.lab.network.namespace import NetworkNamespace, Worker
from nettests.lab.network.pods import Pods
from nettests.lab.network.services import carried, services_of, unchanged
from nettests.lab.network.winkernel.load_balancer import Rewriting
from nettests.lab.network.winuserspace import Portals
from nettests.lab.topology import Address, NodeSpec, ServiceTable

_LOOK_SECONDS = 0.5
"""Seconds between checks whether rules are still slow."""
Newcomer = Callable[[Namespace], Awaitable[None]]
"""Called with the namespace of a pod that was just attached."""


class Node:
    """A node of the fabric. All changes run on the worker thread, in order."""

    def __init__(
        self,
        *,
        spec: NodeSpec,
        host: NetworkNamespace,
        switch: NetworkNamespace | None,
        source_vip: Address | None,
        pods: Pods,
        host_ports: Sequence[HostPorts],
        program: Callable[[ServiceTable], None],
        worker: Worker,
        hns: Hns | None = None,
        portals: Portals | None = None,
        rewriting: Rewriting | None = None,
        disk: Disk | None = None,
        forgetting: Forgetting | None = None,
    ) -> None:
        self.spec = spec
        self.disk = Disk() if disk is None else disk
        self.rules_delay = 0.0
        """Seconds that pass before a new table is put in force."""
        self.quick_rules = 0
        """Tables with at most this many Services are programmed without ``rules_delay``."""
        self.forgetting = forgetting
        """Which flows are deleted with their backends; ``None`` if the proxy deletes none."""
        self.rules_gap = 0.0
        """Seconds for which a Service port has no rules after its endpoints changed."""
        self.newcomer: Newcomer | None = None
        """Called for each attached pod, before its containers start."""
        self.hns = hns
        self.host: Namespace = host
        self.switch: Namespace | None = switch
        self.forwarding = switch or host
        """The namespace that forwards for its pods: the switch, on Linux the host."""
        self.source_vip = source_vip
        """kube-proxy's ``--source-vip``; see ``addressing.source_vip``."""
        self._held = (host,) if switch is None else (host, switch)
        self._pods = pods
        self._host_ports = host_ports
        self._program = program
        self._table: ServiceTable = ()
        self._alterations: tuple[Alteration, ...] = ()
        self._in_force: ServiceTable = ()
        self._worker = worker
        self._portals = portals
        self._rewriting = rewriting or Rewriting()

    async def attach_pod(
        self, uid: str, mappings: Sequence[PortMapping] = (), *, wanted: Address | None = None
    ) -> PodNetwork:
        """Create the pod's namespace, link and address; the same ``uid`` returns the same network.

        ``mappings`` are the pod's host ports. With ``wanted`` it gets this address, or an error is raised.
        """

        def attach() -> tuple[PodNetwork, bool]:
            is_new = uid not in self._pods.namespaces()
            with self._as_pods_change():
                return self._pods.attach(uid, mappings, wanted), is_new

        network, is_new = await self._worker.run(attach)
        if self.newcomer is not None and is_new:
            await self.newcomer(network.namespace)
        return network

    async def detach_pod(self, uid: str) -> None:
        """Remove the pod's namespace and free its address; an unknown ``uid`` is no error."""

        def detach() -> None:
            with self._as_pods_change():
                self._pods.detach(uid)

        await self._worker.run(detach)

    async def program_services(self, table: ServiceTable) -> None:
        """Replace the node's Service rules by those of ``table``.

        With ``rules_delay`` it waits first, and later calls wait too.
        """
        await self._hold_back(table)
        self._table = table
        programmed = self._programmed()
        if self.rules_gap and (left := unchanged(self._in_force, programmed)) != programmed:
            await self._put_in_force(left)
            await asyncio.sleep(self.rules_gap)
        await self._put_in_force(programmed)

    async def alter_services(self, alterations: Sequence[Alteration]) -> None:
        """Apply these alterations, and no others, to what the node's service proxy programs."""
        self._alterations = tuple(alterations)
        await self._put_in_force(self._programmed())

    async def rewrite_sources(self, *, always: bool) -> None:
        """With ``always``, let load balancers rewrite the client's address despite DSR."""
        self._rewriting.always = always
        await self._put_in_force(self._programmed())

    async def witness_drops(
        self, take: Callable[[Dropped], None], ports: Collection[int]
    ) -> Callable[[], Awaitable[None]]:
        """Report packets dropped by rules of the forwarding namespace, until the returned undo is called."""
        witness = DropWitness(self.forwarding, take)

        async def end() -> None:
            try:
                await self._worker.run(witness.unload)
            finally:
                witness.end()

        witness.begin()
        try:
            await self._worker.run(lambda: witness.load(ports))
        except BaseException:  # its listener may have been killed meanwhile
            await end()
            raise
        return end

    def pod_namespaces(self) -> Mapping[str, NetworkNamespace]:
        """Return the pods' namespaces by pod ``uid``."""
        return self._pods.namespaces()

    async def stop(self) -> None:
        """Stop listeners and connections on the event loop, before the namespaces are removed."""
        if self._portals is not None:
            await self._portals.close()

    def _programmed(self) -> ServiceTable:
        """Return the table with the alterations."""
        table = self._table
        for alteration in self._alterations:
            table = alteration(table)
        return table

    async def _hold_back(self, table: ServiceTable) -> None:
        if len(services_of(table)) <= self.quick_rules:
            return
        ends = time.monotonic() + self.rules_delay
        while self.rules_delay and (left := ends - time.monotonic()) > 0:
            await asyncio.sleep(min(left, _LOOK_SECONDS))

    async def _put_in_force(self, programmed: ServiceTable) -> None:
        self._in_force = programmed
        await self._worker.run(lambda: self._program(programmed))
        if self._portals is not None:
            await self._portals.serve(carried(programmed))

    @contextmanager
    def _as_pods_change(self) -> Iterator[None]:
        """Update host ports after a change of pods, and Services if a Windows node got or lost its only pod."""
        had = bool(self._pods.addresses())
        yield
        for of_one_family in self._host_ports:
            of_one_family.change_to(self._pods.mappings())
        if self.hns is not None and had != bool(self._pods.addresses()):
            self._program(self._in_force)

    def close(self) -> None:
        """Close all namespaces of the node."""
        self._pods.close()
        for namespace in self._held:
            namespace.close()
