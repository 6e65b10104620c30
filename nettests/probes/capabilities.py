"""Find out once per probe whether its image has a program that a check needs.

Used by ``check_run``. The program is started; if it is missing, checks that need it are skipped with the reason.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from nettests.model.channel import ChannelError, ProgramMissingError
from nettests.model.check import Check
from nettests.model.powershell import powershell
from nettests.parse.reading import one_line
from nettests.probes.commands import ping_words
from nettests.probes.idle_client import TRIALS
from nettests.probes.rerun import Rerunning
from nettests.probes.sending import Probe, Sender

NSLOOKUP = ("nslookup", "localhost")
"""Tried for its presence only: its exit code says nothing."""
RESOLVE_DNSNAME = powershell("Get-Command Resolve-DnsName")
"""PowerShell of the nanoserver images lacks it (kubernetes/kubernetes, test/e2e/windows/dns.go)."""


@dataclass(slots=True)
class Capabilities:
    """The programs that probes of a run lack, as far as they were tested; safe for threads."""

    sender: Sender
    _reasons: dict[str, str | None] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def missing(self, check: Check) -> str | None:
        """Return why the check's source lacks something that the check needs; ``None`` if it lacks nothing."""
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
        return _why_not(probe, need, trials[need], self.sender.timing.execute)


def _why_not(probe: Probe, need: str, words: tuple[str, ...], seconds: float) -> str | None:
    assert probe.execute is not None
    try:
        with probe.execute.slots:
            # The test is whether it is there, so a second process hides nothing.
            answer = Rerunning(channel=probe.execute).run(words, timeout=seconds)
    except ProgramMissingError:
        return f"the image of {probe.name} has no {need}"
    except ChannelError:
        return None  # not known: the check itself will say what is wrong with the channel
    # samples: 1 packets transmitted, 0 received, 100% packet loss, Lost = 1 (100% loss), Verloren = 1 (100% Verlust)
    if need == "ping" and "100%" in answer.stdout:
        return None  # it sent and waited: what it makes of its own address is a known question
    if answer.exit_code != 0 and need != "nslookup":
        output = one_line(answer.stderr or answer.stdout)
        return f"{need} does not work in {probe.name}: {output}"
    return None
