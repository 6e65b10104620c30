"""Find in the reason for distrust of a result the node, Pod, channel or refusal that it names, and what to do.

Used by ``advice`` and by the report's incidents. ``probes`` and ``session`` write the reasons; a
sample stands above each pattern. What follows the first words of a Pod that was refused or never
became Ready is what ``model.pod_problem`` took from the kubelet, the runtime or the scheduler, or
the API server's refusal.
"""

import re
from dataclasses import dataclass

from nettests.judge.refusals import AFTER_REFUSAL, Refusal, bare, refusal_of, shown
from nettests.model.calibration import NOT_UNDERSTOOD, UNCALIBRATED, UNEXPECTED
from nettests.model.channel import MISSING, UNSTARTED
from nettests.model.observation import OVERLOADED
from nettests.resources import rows_of

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
    # sample: attempt 1: ping on win-1 fails a known question: ping of its own loopback address was read as timed_out, not as …
    # sample: probe_failed: hns on win-1 was not calibrated: exec in node-windows-1-1 did not end within 40 s
    match = re.search(
        rf"(?:^|: )(\S+) on (\S+) ((?:{NOT_UNDERSTOOD}|{UNEXPECTED}|{UNCALIBRATED}): .*)", why
    )
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


_NOT_STARTED = re.compile(
    # sample: pod server-windows-1-1 is not Ready: container hostname: ImagePullBackOff: failed to pull and unpack image "…": no match …
    # sample: no Pod of this run started on win-1: pod hostport-windows-1-1 is not Ready: not scheduled: 0/4 nodes …
    r"(?P<none>no Pod of this run .*?started on \S+: )?\bpod (?P<pod>\S+) is not Ready: (?P<reason>.*)",
    re.DOTALL,
)
_NOT_CREATED = re.compile(
    # sample: pod s-1 does not stand: Pod s-1 was not created: POST /api/v1/namespaces/x/pods: 403 Forbidden: pods "s-1" is
    #         forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2
    # sample: Pod s-1 was not created: POST …: 500 InternalError: Internal error occurred: failed calling webhook "a.b": …
    # sample: attempt 1: a Pod of the DaemonSet was refused: Error creating: pods "x-1" is forbidden: exceeded quota: small, …
    r"\b(?:Pod \S+ was not created|a Pod of the \w+ was refused): "
    r"(?:\S+ \S+: \d{3} \w*: |Error creating: )?(?P<message>.+)",
    re.DOTALL,
)
_STEPS = tuple((row["reason"], row["step"]) for row in rows_of("nettests.judge", "not_started.txt"))
# sample: init container istio-init: ImagePullBackOff: …
_INIT = re.compile(r"init container (?P<name>\S+): ")


@dataclass(frozen=True, slots=True)
class NotStarted:
    """A Pod of the run that did not become Ready, and why.

    ``of_node``: no other Pod of the run started on its node either.
    """

    pod: str
    reason: str
    of_node: bool = False

    @property
    def next_step(self) -> str:
        """What to do about it."""
        step = f"see why the Pod does not start (`kubectl describe pod {self.pod}` while a run is under way)"
        if init := _INIT.match(self.reason):
            step = (
                f"{step}; nettests has no init container: {init['name']} comes from an injector, from which pods.labels or "
                'pods.annotations of the cluster profile exempt Pods (sidecar.istio.io/inject: "false")'
            )
        cause = next((then for text, then in _STEPS if re.search(text, self.reason)), "")
        return f"{step}; {cause}" if cause else f"{step}, and run again once such Pods start there"


def not_started(why: str) -> NotStarted | None:
    """Return the Pod that never became Ready, if that is why the check is unknown."""
    match = _NOT_STARTED.search(why)
    if match is None:
        return None
    return NotStarted(match["pod"], match["reason"].strip(), of_node=match["none"] is not None)


def not_created(why: str) -> Refusal | None:
    """Return the refusal of a Pod of the run, if that is why the check is unknown."""
    match = _NOT_CREATED.search(why)
    if match is None:
        return None
    return refusal_of(match["message"]) or Refusal(shown(bare(match["message"])), AFTER_REFUSAL)
