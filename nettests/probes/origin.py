"""Prove where a node vantage runs, before its answers are trusted.

hostNetwork without HostProcess is silently ignored on Windows (KEP-3503), and upstream tests passed
for years from pods that were mistaken for nodes (k/k #109313). So the pod's address must be its
host's, and a target must see an address of the node. If no target answers, a HostProcess container
is proof enough, because checks must be able to find a host that reaches no Pod.
"""

import ipaddress
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nettests.model.channel import ChannelError, ProgramMissingError
from nettests.model.check import Action, Check, Target, Vantage
from nettests.model.observation import Raw
from nettests.model.powershell import powershell
from nettests.model.windows_programs import QUESTION, host_start
from nettests.model.words import OS, Protocol, TargetKind
from nettests.parse import read_raw
from nettests.parse.reading import one_line
from nettests.probes.client_scripts import TRIALS
from nettests.probes.commands import ping_words
from nettests.probes.deployment import StandingPod
from nettests.probes.rerun import Rerunning
from nettests.probes.sending import Probe, Sender
from nettests.probes.sources_seen import seen_of

NSLOOKUP = ("nslookup", "localhost")
"""Tests only whether the program exists: its exit code says nothing."""
RESOLVE_DNSNAME = powershell("Get-Command Resolve-DnsName")
"""PowerShell in nanoserver images lacks it (kubernetes/kubernetes, test/e2e/windows/dns.go)."""


@dataclass(slots=True)
class Capabilities:
    """Which programs a run's probes lack, tested on demand; thread-safe."""

    sender: Sender
    works: Callable[[str, str], bool] = lambda _probe, _need: False
    """Whether it is already known that a probe has a program."""
    _reasons: dict[str, str | None] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def missing(self, check: Check) -> str | None:
        """Return why the source lacks something that the check needs, or ``None``."""
        reasons = (self._missing(check, need) for need in check.needs)
        return next((why for why in reasons if why is not None), None)

    def _missing(self, check: Check, need: str) -> str | None:
        key = f"{check.source.probe}/{need}"
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._reasons:
                self._reasons[key] = self._try(check, need)
                if self._reasons[key] is not None:
                    self.sender.recorder.event(f"capability: {self._reasons[key]}")
            return self._reasons[key]

    def _try(self, check: Check, need: str) -> str | None:
        probe = self.sender.probes[check.source.probe]
        trials: Mapping[str, tuple[str, ...]] = {
            "ping": ping_words(check.source.os, "127.0.0.1"),
            "nslookup": NSLOOKUP,
            "resolve-dnsname": RESOLVE_DNSNAME,
            **TRIALS,
        }
        if need not in trials or probe.execute is None:
            return f"{probe.name} has no {need}"
        if need not in TRIALS and self.works(probe.name, need):
            return None
        return _why_not(probe, need, trials[need], self.sender.timing.execute)


def _why_not(probe: Probe, need: str, words: tuple[str, ...], seconds: float) -> str | None:
    assert probe.execute is not None
    try:
        with probe.execute.slots:
            # Only its existence is tested, so a second process hides nothing.
            answer = Rerunning(channel=probe.execute).run(words, timeout=seconds)
    except ProgramMissingError:
        return f"the image of {probe.name} has no {need}"
    except ChannelError:
        return None  # unknown: the check itself will report the channel's failure
    # samples: 1 packets transmitted, 0 received, 100% packet loss, Lost = 1 (100% loss), Verloren = 1 (100% Verlust)
    if need == "ping" and "100%" in answer.stdout:
        return None  # it works: its result for loopback is tested by a known question
    if answer.exit_code != 0 and need != "nslookup":
        output = one_line(answer.stderr or answer.stdout)
        return f"{need} does not work in {probe.name}: {output}"
    return None


PAUSE_SECONDS = 0.3
CLIENTIP_TURN = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The request that proves an origin, and why the proof fails (``None`` if it holds)."""

    raw: Raw | None
    distrust: str | None


@dataclass(slots=True)
class Origins:
    """The proofs of a run's node vantages, each made once; thread-safe."""

    sender: Sender
    _proofs: dict[str, Proof] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def prove(self, check: Check) -> Proof:
        """Return the proof of the check's source."""
        probe = check.source.probe
        with self._lock:
            lock = self._locks.setdefault(probe, threading.Lock())
        with lock:
            if probe not in self._proofs:
                self._proofs[probe] = self._send(check)
            return self._proofs[probe]

    def _send(self, check: Check) -> Proof:
        source = check.source
        pod = self.sender.directory.pod(source.probe)
        if not set(pod.addresses) & set(pod.host_addresses):
            addresses = ", ".join(str(address) for address in pod.addresses)
            return Proof(
                raw=None,
                distrust=f"{source.probe} runs in the pod network ({addresses}), not on node {source.node}",
            )
        deadline = time.monotonic() + self.sender.timing.listening
        raw: Raw | None = None
        while raw is None or time.monotonic() < deadline:
            for target in self._targets(source):
                raw = self.sender.send(
                    check.id, "origin", 1, _origin_action(source, target), turn=CLIENTIP_TURN
                )
                seen = None if raw.error else read_raw(raw).server_saw
                if seen is not None:
                    return Proof(raw=raw, distrust=self._compare(source, seen, target))
            if raw is None:
                break
            time.sleep(PAUSE_SECONDS)
        return Proof(raw=raw, distrust=self._without_network(source))

    def _without_network(self, source: Vantage) -> str | None:
        """Return why a probe's origin is unproven if no target answered, or ``None``.

        Its address is its node's, which is enough on Linux. A Windows kubelet reports that for any
        Pod with hostNetwork, so it must be a HostProcess container.
        """
        if source.os is OS.LINUX:
            return None
        why = f"no target answered to prove where {source.probe} runs"
        probe = self.sender.probes.get(source.probe)
        if probe is None or probe.execute is None:
            return why
        try:
            got = probe.execute.run(QUESTION, timeout=self.sender.timing.execute)
        except ChannelError as error:
            return f"{why}: {error.message}"
        return None if host_start(got.stdout) else f"{why}, and it is no HostProcess container"

    def _compare(self, source: Vantage, seen: str, target: StandingPod) -> str | None:
        node = self.sender.directory.facts.node(source.node or "")
        if ipaddress.ip_address(seen) in seen_of(node):
            return None
        return f"{target.name} saw {seen} from {source.probe}, which is no address of {node.name}"

    def _targets(self, source: Vantage) -> list[StandingPod]:
        """Return the servers to probe, the node's own first, which every driver lets it reach."""
        servers = [
            pod for pod in self.sender.directory.deployment.pods.values() if pod.purpose == "server"
        ]
        return sorted(servers, key=lambda pod: (pod.node != source.node, pod.name))


def _origin_action(source: Vantage, target: StandingPod) -> Action:
    return Action(
        source=source,
        target=Target(kind=TargetKind.POD_IP, pod=target.name, node=target.node),
        protocol=Protocol.TCP,
    )
