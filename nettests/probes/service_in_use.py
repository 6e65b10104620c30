"""A check's own Service that switches backends while it is used: common parts of such uses.

Used by ``during_changes``. Both backends keep running, so that a missing answer is not their fault.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from nettests.model.channel import ChannelError
from nettests.model.check import Action
from nettests.model.cluster_profile import Timing
from nettests.model.json_text import Object, read_json
from nettests.model.words import OS
from nettests.model.words import Protocol as Carrier
from nettests.probes.addresses import of_family
from nettests.probes.churn import NotFollowedError
from nettests.probes.commands import dial
from nettests.probes.deployment import StandingPod, StandingService
from nettests.probes.seams import Converses, Services
from nettests.probes.sending import STOPPED, Probe, StoppedError
from nettests.probes.service_changes import led_to

PAUSE_SECONDS = 0.2
"""Seconds between datagrams of a flow, short enough to keep its conntrack entry, and between polls of rules."""


class Changes(Services, Converses, Protocol):
    """The cluster operations to change Services and to run interactive processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The deployed objects, and the probes."""

    api: Changes
    namespace: str
    probes: Mapping[str, Probe]
    standing: Mapping[str, StandingPod]
    services: Mapping[str, StandingService]
    timing: Timing
    stopped: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True, kw_only=True)
class InUse:
    """One check's use of its Service."""

    of: Setting
    action: Action

    def dial(self, host: str, port: int, protocol: Carrier) -> tuple[str, float]:
        """Have the probe dial once; return body and seconds, or raise ``ChannelError``."""
        probe = self.of.probes.get(self.action.source.probe)
        if probe is None:
            raise ChannelError(f"probe {self.action.source.probe} cannot be probed")
        wanted = dial(host, port, protocol, "hostname", self.of.timing)
        patience = wanted.deadline + self.of.timing.channel
        with probe.http_slots:
            began = time.monotonic()
            got = probe.get(wanted.path, timeout=patience)
        if got.error is not None:
            raise ChannelError(got.error)
        return got.stdout, time.monotonic() - began if got.seconds is None else got.seconds

    def wait(self, come: Callable[[], bool]) -> bool:
        """Wait for a condition as long as rules may take to converge; return whether it holds."""
        deadline = time.monotonic() + self.of.timing.convergence
        while not come():
            if time.monotonic() > deadline:
                return False
            self.pause()
        return True

    def pause(self) -> None:
        """Wait briefly; raises ``StoppedError`` if the run is stopped."""
        if self.of.stopped.wait(PAUSE_SECONDS):
            raise StoppedError(f"{STOPPED} while a Service changed")

    def lead(self, service: Object, backend: str) -> None:
        """Point the Service to one backend, in place."""
        self.of.api.update(self._path, led_to(service, backend))

    def read(self) -> Object:
        """Return the current Service."""
        status, text = self.of.api.read(self._path, {})
        if status != 200:
            raise NotFollowedError(f"{self._path} cannot be read: {status} {text}")
        service: Object = read_json(text)
        return service

    @property
    def _path(self) -> str:
        return f"/api/v1/namespaces/{self.of.namespace}/services/{self.action.target.service}"

    @property
    def ends(self) -> tuple[str, str]:
        """The check's own backend, and another one."""
        (final,) = self.action.target.backends
        return final, self.action.target.former[0]

    @property
    def address(self) -> str:
        """The Service's address."""
        service = self.of.services[self.action.target.service or ""]
        return str(of_family(service.addresses, self.action.family))

    @property
    def system(self) -> OS:
        """The client's OS."""
        return self.action.source.os or OS.LINUX

    @property
    def channel(self) -> str:
        """The name of the probe's channel."""
        probe = self.of.probes.get(self.action.source.probe)
        return probe.http[0].name if probe and probe.http else "none"
