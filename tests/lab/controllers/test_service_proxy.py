"""When a service proxy programs its node: in its turn, with what is known then."""

import asyncio
from typing import Any, cast

from nettests.lab.client import Client
from nettests.lab.client.informer import key_of
from nettests.lab.controllers.service_proxy import ServiceProxy, SharedPorts, seconds_gathered
from nettests.lab.interfaces import NodeNetwork
from nettests.lab.topology import ServiceTable
from tests.lab.controllers.test_shared_tables import PROFILE, service


class Rules:
    """A node's network that remembers what was programmed; it may be slow without end."""

    def __init__(self, *, slow: bool = False) -> None:
        self.programmed: list[list[str]] = []
        self.ended = False
        self._slow = slow

    async def program_services(self, table: ServiceTable) -> None:
        """Put a table in force."""
        try:
            if self._slow:
                await asyncio.Event().wait()
        finally:
            self.ended = True
        self.programmed.append([one.service for one in table])


async def _ignored(_table: ServiceTable) -> None:
    pass


def proxy_of(rules: Rules, shared: SharedPorts) -> ServiceProxy:
    """A proxy that follows no API: its informers are told by hand."""
    client = Client("http://127.0.0.1:1", "", agent="test")
    return ServiceProxy(client, cast("NodeNetwork", rules), shared, _ignored, gather=0)


def tell(proxy: ServiceProxy, item: dict[str, Any]) -> None:
    """Tell a proxy of a Service."""
    proxy._services._apply(key_of(item), item)


def test_what_comes_while_a_proxy_waits_for_its_turn_is_programmed_with_it() -> None:
    """Of hundreds of nodes the last has what the API told meanwhile, without another round."""

    async def run() -> list[list[str]]:
        shared, rules = SharedPorts(PROFILE), Rules()
        proxy = proxy_of(rules, shared)
        others = [asyncio.create_task(shared.turns.acquire()) for _ in range(3)]
        await asyncio.gather(*others)
        tell(proxy, service("a", 1))
        waiting = asyncio.create_task(proxy._program())
        await asyncio.sleep(0)
        tell(proxy, service("b", 2))
        for _ in others:
            shared.turns.release()
        await waiting
        await proxy._program()
        return rules.programmed

    assert asyncio.run(run()) == [["a", "b"]]


def test_nodes_whose_rules_are_slow_hold_up_no_other() -> None:
    """As many as are programmed at once may never end: the next node has its rules all the same."""

    async def run() -> list[list[str]]:
        shared, rules = SharedPorts(PROFILE), Rules()
        stuck = [proxy_of(Rules(slow=True), shared) for _ in range(3)]
        tasks = [asyncio.create_task(one._program()) for one in stuck]
        await asyncio.sleep(0)
        async with asyncio.timeout(10):
            await proxy_of(rules, shared)._program()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return rules.programmed

    assert asyncio.run(run()) == [[]]


def test_a_proxy_that_ends_leaves_nothing_under_way() -> None:
    """Its turn is free again, and what it was about to put in force has ended with it."""

    async def run() -> tuple[bool, bool, int]:
        shared, rules = SharedPorts(PROFILE), Rules(slow=True)
        task = asyncio.create_task(proxy_of(rules, shared)._program())
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(0)
        return rules.ended, shared.turns.locked(), len(asyncio.all_tasks())

    assert asyncio.run(run()) == (True, False, 1)


def test_changes_are_gathered_by_the_number_of_nodes() -> None:
    """A small lab follows at once; a large one as often as kube-proxy does by default."""
    assert seconds_gathered(4) == 0.02
    assert seconds_gathered(60) == 0.3
    assert seconds_gathered(240) == 1.0
