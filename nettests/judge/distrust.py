"""Find the node, Pod or channel that the reason for distrust of a result names.

Used by ``advice`` and by the report's incidents. ``probes`` and ``session`` write the reasons; a
sample stands above each pattern.
"""

import re
from dataclasses import dataclass

from nettests.model.calibration import NOT_UNDERSTOOD, UNCALIBRATED
from nettests.model.channel import MISSING, UNSTARTED
from nettests.model.observation import OVERLOADED

UNREADY = "was not Ready while this was probed"
"""Marks the reason of a check that depends on a node that was NotReady during the check."""


def unready_node(why: str) -> str | None:
    """Return the node whose NotReady state made the result untrusted."""
    # sample: node win-2 was not Ready while this was probed (NodeStatusUnknown: Kubelet stopped posting node status.)
    match = re.match(rf"node (\S+) {UNREADY}\b", why)
    return match[1] if match else None


def gone_pod(why: str) -> str | None:
    """Return the Pod of the run whose deletion or restart made the result untrusted."""
    # sample: pod server-linux-1-2 no longer stands: it is being deleted
    # sample: pod server-linux-1-2 was started again while this was run
    match = re.match(r"pod (\S+) (?:no longer stands: |was started again\b)", why)
    return match[1] if match else None


def last_ending(why: str) -> str:
    """Return how the container of a restarted Pod ended; empty if the reason does not say."""
    # sample: pod server-linux-1-2 was started again while this was run: Error, exit code 2: panic: no memory
    match = re.match(r"pod \S+ was started again while this was run: ([^;]+)", why)
    return f": {match[1]}" if match else ""


def busy(why: str | None) -> bool:
    """Whether an overloaded probe made the result untrusted: its losses prove nothing."""
    return (why or "").startswith(OVERLOADED)


@dataclass(frozen=True, slots=True)
class Instrument:
    """A distrusted instrument on a node, with the result of its calibration."""

    name: str
    node: str
    how: str


def instrument(why: str) -> Instrument | None:
    """Return the instrument, of the check or of its control, that made the result untrusted."""
    # sample: attempt 1: ping on win-1 is not understood: ping of its own loopback address was read as timed_out, not as …
    # sample: probe_failed: hns on win-1 was not calibrated: exec in node-windows-1-1 did not end within 40 s
    match = re.search(rf"(?:^|: )(\S+) on (\S+) ((?:{NOT_UNDERSTOOD}|{UNCALIBRATED}): .*)", why)
    return Instrument(*match.groups()) if match else None


def missing_program(why: str) -> str | None:
    """Return the program that could not be run and so made the result untrusted."""
    # sample: attempt 1: curl.exe is missing in node-windows-1-1: 'curl.exe' is not recognized as an internal or external command, …
    match = re.search(rf"(?:^|[\s:])(\S+) (?:{MISSING}|{UNSTARTED}) \S+: ", why)
    return match[1].rpartition("\\")[2] if match else None


def lost_channel(why: str) -> bool:
    """Whether the result is untrusted because the probe itself was not reached."""
    # sample: control channel port-forward: port-forward to probe-windows-1-1: error forwarding port 8080 …
    return re.search(r"\bcontrol channel \S+: ", why) is not None


def lost_api(why: str) -> bool:
    """Whether a probe was not reached because the API server was not.

    A mere read time-out does not count: the node may have caused it.
    """
    # sample: control channel port-forward: …; pod-proxy: pod proxy to p: the API server https://10.0.0.1:6443 (context c)
    #         cannot be reached: … Failed to establish a new connection: [Errno 111] Connection refused
    # sample: control channel exec: exec in node-linux-1-1 was not opened: [Errno 111] Connection refused
    # sample: exec on win-1 was not calibrated: exec in node-windows-1-1 was not opened: the API server hung up before it answered
    return (lost_channel(why) or instrument(why) is not None) and bool(
        re.search(r"the API server .{1,300}? cannot be reached: (?!.*Read timed out)", why)
        or re.search(r"was not opened: (?:\[Errno \d+\]|the API server hung up)", why)
    )


def misaddressed_node(why: str) -> str | None:
    """Return the node whose wrong status addresses made the result untrusted."""
    # sample: server-windows-1-1 saw 172.30.0.13 from node-windows-1-1, which is no address of win-1
    # sample: there is no IPv4 address of win-1 among fd00:172:30::15
    match = re.search(
        r"which is no address of (\S+)$|there is no IPv[46] address of (\S+) among", why
    )
    return (match[1] or match[2]) if match else None
