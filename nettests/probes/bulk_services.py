"""Create the many Services of ``many_services`` once for all checks, and remove them afterwards.

A thread creates and removes them in batches while checks use them. If a run ends early, its
clean-up removes them, because they are in its namespace and have its labels.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

from nettests.bounds import Bounds
from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from nettests.model.check import Action
from nettests.model.json_text import Object
from nettests.model.labels import POD_LABEL
from nettests.probes.objects import Blank, read_template
from nettests.probes.seams import Creates
from nettests.probes.sending import STOPPED, StoppedError

BATCH = 50
"""Services that are created or removed before the next look whether the run was stopped."""
GATHERING_SECONDS = 1.0
"""The wait for further checks of the same Services, which start at about the same time, before the first is created."""
WAKING_SECONDS = 0.2
"""Seconds between two looks whether the run was stopped, during a wait."""


class Making(Creates, Protocol):
    """Creates and removes Services of a run."""

    def delete(self, path: str) -> None:
        """Delete an object of the run; raises ``ClusterError`` if that is rejected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedService:
    """One Service: its number from 1, its backend, and when it was created (monotonic)."""

    number: int
    name: str
    address: str
    backend: str
    at: float


@dataclass(slots=True, kw_only=True)
class Many:
    """The Services, and the checks that need them; thread-safe."""

    making: Making
    blank: Blank
    bounds: Bounds
    number: int
    stopped: threading.Event
    created: list[CreatedService] = field(default_factory=list)
    refused: str = ""
    """Why they could not be created."""
    took: float = 0
    """Seconds taken to create them."""
    _backends: list[str] = field(default_factory=list)
    _needed: set[int] = field(default_factory=set)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _complete: bool = False
    _removed_at: float | None = None
    _thread: threading.Thread | None = None

    def join(self, action: Action) -> None:
        """Register a check that uses them; the first one starts their creation."""
        with self._changed:
            self._needed.add(id(action))
            backend = action.target.backends[0]
            if backend not in self._backends and not self._complete:
                self._backends.append(backend)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="services", daemon=True)
                self._thread.start()

    def settled(self, action: Action) -> None:
        """Note that a check no longer needs them."""
        with self._changed:
            self._needed.discard(id(action))
            self._changed.notify_all()

    done = settled

    @property
    def over(self) -> bool:
        """Whether they are removed, or were never created."""
        return self._removed_at is not None

    def wait_until_created(self) -> Sequence[CreatedService]:
        """Wait for the last one; raises ``StoppedError`` if the run is stopped."""
        self._wait(lambda: self._complete)
        return self.created

    def wait_until_removed(self) -> float:
        """Wait until they are removed; return when that was (monotonic)."""
        self._wait(lambda: self.over)
        return self._removed_at or 0

    def pause(self, seconds: float) -> None:
        """Wait so many seconds; raises ``StoppedError`` if the run is stopped."""
        if self.stopped.wait(seconds):
            raise StoppedError(f"{STOPPED} while many Services were looked at")

    def _wait(self, ready: Callable[[], bool]) -> None:
        with self._changed:
            while not ready():
                if self.stopped.is_set():
                    raise StoppedError(f"{STOPPED} while many Services were looked at")
                self._changed.wait(WAKING_SECONDS)

    def _work(self) -> None:
        try:
            with ThreadPoolExecutor(self.bounds.service_requests, "services") as pool:
                self.pause(GATHERING_SECONDS)
                self._make(pool)
                self._tell_complete()
                self._wait(lambda: not self._needed)
                self._remove(pool)
        except StoppedError:
            return  # the run's clean-up removes them
        finally:
            self._tell_complete()
            with self._changed:
                self._removed_at = time.monotonic()
                self._changed.notify_all()

    def _make(self, pool: ThreadPoolExecutor) -> None:
        began = time.monotonic()
        try:
            for batch in _batches(range(1, self.number + 1)):
                self._go_on()
                self._take([pool.submit(self._create, number) for number in batch])
        except (ClusterError, ChannelError) as error:
            progress = f"{len(self.created)} of {self.number} Services were made"
            self.refused = f"{progress}, then the API server refused: {error.message}"
        self.took = time.monotonic() - began

    def _take(self, batch: Sequence[Future[CreatedService]]) -> None:
        """Keep the Services of a batch that were created; raise the first error."""
        refused: list[Exception] = []
        for creation in batch:
            try:
                self.created.append(creation.result())
            except (ClusterError, ChannelError) as error:
                refused.append(error)
        if refused:
            raise refused[0]

    def _create(self, number: int) -> CreatedService:
        with self._changed:
            backend = self._backends[number % len(self._backends)]
        stored = self.making.create(service(number, backend, self.blank))
        return CreatedService(
            number=number,
            name=stored["metadata"]["name"],
            address=stored["spec"]["clusterIP"],
            backend=backend,
            at=time.monotonic(),
        )

    def _remove(self, pool: ThreadPoolExecutor) -> None:
        for batch in _batches(self.created):
            self._go_on()
            list(pool.map(self._delete, batch))

    def _delete(self, service: CreatedService) -> None:
        path = f"/api/v1/namespaces/{self.blank.namespace}/services/{service.name}"
        try:
            self.making.delete(path)
        except (ClusterError, ChannelError) as error:
            self.refused = f"the API server did not remove Service {service.name}: {error.message}"

    def _go_on(self) -> None:
        if self.stopped.is_set():
            raise StoppedError(f"{STOPPED} while many Services were made or removed")

    def _tell_complete(self) -> None:
        with self._changed:
            self._complete = True
            self._changed.notify_all()


def _batches(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]


def service(number: int, backend: str, blank: Blank) -> Object:
    """Return one of the Services: one TCP port and one Pod."""
    item = read_template("service")
    item["metadata"] |= {
        "name": f"many-{number}",
        "namespace": blank.namespace,
        "labels": dict(blank.labels),
    }
    spec = item["spec"]
    spec["ports"] = [port for port in spec["ports"] if port["name"] == "hostname"]
    spec |= {"type": "ClusterIP", "selector": {POD_LABEL: backend}}
    return item
