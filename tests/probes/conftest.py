"""A stage for the engine: servers and probes on loopback addresses of the test's own, and a journal."""

import ipaddress
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from nettests.bounds import Bounds, for_questions, room_for_questions
from nettests.model.channel import HttpChannel
from nettests.model.check import Check
from nettests.model.cluster_profile import Timing
from nettests.model.codec import from_data
from nettests.model.facts import ClusterFacts
from nettests.model.observation import Observation, Raw
from nettests.parse import observe
from nettests.probes import Deployment, Directory, Observer, Sender, removals
from nettests.probes.deployment import StandingPod, StandingService
from nettests.probes.sending import Probe
from nettests.session.journal import Journal
from tests.probes.made import FACTS, NAMESPACE
from tests.probes.netexec import DialChannel, Processes, Server, fresh_address


@pytest.fixture
def removed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each Pod that no check needs any more is removed without waiting for others."""
    monkeypatch.setattr(removals, "BATCH", 1)


QUICK = Timing(
    listening=0.4, convergence=0.6, dial=0.2, channel=1, execute=1, successes=3, client_addresses=4
)


def address_of(text: str) -> Any:
    """Return an address value."""
    return ipaddress.ip_address(text)


@dataclass(slots=True)
class Bench:
    """What stands on loopback, and the run's journal."""

    journal: Journal
    facts: ClusterFacts
    pods: dict[str, StandingPod]
    services: dict[str, StandingService]
    dialling: dict[str, DialChannel]
    processes: dict[str, Processes]
    servers: dict[str, Server]
    timing: Timing = QUICK
    problems: dict[str, str] = field(default_factory=dict)
    barren: dict[str, str] = field(default_factory=dict)
    extra_channels: tuple[HttpChannel, ...] = ()
    stopped: threading.Event = field(default_factory=threading.Event)
    told: list[tuple[str, int, int]] = field(default_factory=list)

    def observer(self, checks: Sequence[Check]) -> Observer:
        """Return the engine over what stands."""
        bounds = Bounds.of(self.timing)
        probes = {
            name: Probe(
                name=name,
                http=(self.dialling[name], *self.extra_channels) if name in self.dialling else (),
                execute=self.processes[name],
                http_slots=for_questions(bounds.per_probe, room_for_questions(bounds), bounds),
            )
            for name in self.processes
            if name not in self.problems
        }
        deployment = Deployment(
            namespace=NAMESPACE, pods=self.pods, services=self.services, barren=self.barren
        )
        sender = Sender(
            directory=Directory(facts=self.facts, deployment=deployment),
            probes=probes,
            external=None,
            recorder=self.journal,
            timing=self.timing,
            began=time.monotonic(),
            stopped=self.stopped,
        )
        return Observer(sender, checks, self.problems, lambda *told: self.told.append(told))

    def observe(self, *checks: Check) -> None:
        """Observe checks to the end."""
        self.observer(checks).run()

    def records(self, kind: str) -> list[dict[str, Any]]:
        """Return the journal's records of one kind."""
        lines = self.journal.path.read_text().splitlines()
        return [record for line in lines if (record := json.loads(line))["record"] == kind]

    def raws(self, check: str | None = None) -> list[Raw]:
        """Return the raw answers of a check, in the journal's order."""
        found = [from_data(record["raw"], Raw) for record in self.records("raw")]
        return [raw for raw in found if check is None or raw.check == check]

    def done(self, check: str) -> dict[str, Any]:
        """Return the one ``done`` record of a check."""
        (record,) = [item for item in self.records("done") if item["check"] == check]
        return record

    def seen(self, check: Check) -> Observation:
        """Return the observation that a test would judge."""
        return observe(check, self.raws(check.id))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A Linux and a Windows node, each with probe, server and node pod, and one Service.

    The Service's own address is served directly: load balancing is not what is tested here.
    """
    nodes = tuple(replace(node, addresses=(address_of(fresh_address()),)) for node in FACTS.nodes)
    facts = replace(FACTS, nodes=nodes)
    with ExitStack() as stack:
        pods, servers, dialling, processes = {}, {}, {}, {}
        for node in nodes:
            for purpose in ("probe", "server", "node"):
                name = f"{purpose}-{node.pool}-1"
                address = str(node.addresses[0]) if purpose == "node" else fresh_address()
                pods[name] = StandingPod(
                    name=name,
                    node=node.name,
                    purpose=purpose,
                    addresses=(address_of(address),),
                    host_addresses=node.addresses,
                )
                if purpose == "server":
                    servers[name] = stack.enter_context(Server(name, address))
                if purpose == "probe":
                    dialling[name] = DialChannel(name, address)
                if purpose != "server":
                    processes[name] = Processes(address)
        service = "svc-server-linux-1-1"
        address = fresh_address()
        servers[service] = stack.enter_context(
            Server("server-linux-1-1", address, ports=(80, 82, 81))
        )
        services = {
            service: StandingService(name=service, addresses=(address_of(address),), node_ports={})
        }
        journal = stack.enter_context(Journal(tmp_path / "journal.jsonl"))
        yield Bench(journal, facts, pods, services, dialling, processes, servers)


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], None]:
    """Wait on a condition, for half a minute at most: a machine may be busy."""

    def wait(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < deadline, "the condition did not come true"
            time.sleep(0.01)

    return wait
