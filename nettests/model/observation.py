"""What happened when a check ran: attempts, addresses seen, backends, timing, raw output.

``parse`` derives it from raw records that ``probes`` wrote to the journal; ``judge`` and ``report``
read it. An observation is never a verdict. Beside them stand what belongs to no check: images pulled
before the checks, and a node's settings as read from its own vantage, before any parsing.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from nettests.model.measured import FlowCount, LossEstimate, PathSize
from nettests.model.words import Distribution, Outcome, SourceSeen


class Subject(StrEnum):
    """The subject on which two witnesses of a connection are compared: an answer or facts, and a packet capture."""

    SOURCE = "source address"
    """The client that the server saw, and the source of the packets that reached its node."""
    NAT = "OutBoundNAT"
    """The client that an external server saw, and the source with which packets left the node."""
    REPLY = "way of the reply"
    """With DSR, or if the source address is kept, the reply goes to the client that was seen."""
    ENCAPSULATION = "encapsulation"
    """The network plugin's configured encapsulation, and the packets between the nodes."""
    DESTINATION = "destination"
    """With the annotation preserve-destination: the destination of packets at a silent backend."""
    TUNNEL = "tunnel"
    """For unanswered connections: encapsulated packets leaving one node and reaching the other."""
    MAC = "MAC address"
    """l2bridge sends its Pods' packets with the node's own address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Witnessed:
    """What both witnesses show about one subject, with their names; neither is trusted more than the other."""

    subject: Subject
    witness: str
    """The witness other than the capture: ``the server``, ``flannel's backend host-gw``."""
    says: str
    capture: str
    """Where the capture ran: ``win-1, uplink``."""
    shows: str
    agree: bool

    def __str__(self) -> str:
        """Return both in one sentence."""
        if self.agree:
            return f"{self.subject.value}: {self.says}, as {self.witness} says, and the capture on {self.capture} shows"
        return (
            f"{self.subject.value}: {self.witness} says {self.says}, "
            f"the capture on {self.capture} shows {self.shows}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """One request or command and its unchanged answer, before any parsing.

    ``purpose`` is ``check``, ``control:vantage``, ``control:target``, ``control:path``, ``origin``
    or ``arrival``. ``tool`` is the parser for it (``dial``, ``curl``, ``connect``, ``ping``,
    ``nslookup``, ``http``); ``client_os`` selects the error taxonomy. ``error`` is set when the
    control channel itself failed: any answer is then not trusted. ``started`` is seconds since the
    run began.
    """

    check: str
    purpose: str
    attempt: int
    tool: str
    client_os: str
    probe: str
    channel: str
    command: tuple[str, ...]
    started: float
    elapsed: float
    exit_code: int | None = None
    status: int | None = None
    stdout: str = ""
    stderr: str = ""
    error: str | None = None
    context: dict[str, str] = field(default_factory=dict, hash=False)
    """Addresses needed to read the answer: ``client-pod``, ``client-node``, ``source-vip`` …;
    ``resolved`` holds those that a name may resolve to. ``request`` and ``port`` say what was tested
    where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One parsed answer."""

    number: int
    outcome: Outcome
    detail: str
    started: float
    elapsed: float
    channel: str
    server_saw: str | None = None
    """The client's address as the server saw it, without its port."""
    source_port: int | None = None
    backend: str | None = None
    """The hostname that answered."""
    addresses: tuple[str, ...] = ()
    """The addresses that a name resolved to."""
    port: int | None = None
    """The target's port that was probed, if any."""
    tries: int = 1
    """How many times the request was sent in a row."""
    lost: int = 0
    """How many of the tries had no answer."""
    overloaded: bool = False
    """Whether its time-out proves nothing, because the probe answered everything else late."""
    unread: str = ""
    """The tool whose output no parser understands; empty otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlResult:
    """The result of a positive control, in the same window as the check."""

    proves: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PortSeen:
    """The results of one port of a target, per attempt."""

    port: int
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Everything observed about one check.

    ``outcome`` is that of all attempts; if they disagree it is that of the last one, and ``agreed``
    is false. If the target's ports explain it, ``differing_ports`` has the result of each, and
    ``outcome`` is that of the last failure. ``trusted`` is false, with a sentence in ``distrust``,
    if the probe, its origin or its channel failed.
    """

    check: str
    outcome: Outcome
    agreed: bool
    attempts: tuple[Attempt, ...]
    controls: tuple[ControlResult, ...] = ()
    source_seen: SourceSeen | None = None
    sources_seen: tuple[SourceSeen, ...] = ()
    """All source addresses that servers saw, if more than one."""
    server_saw: str | None = None
    backends: tuple[str, ...] = ()
    distribution: Distribution | None = None
    unexpected_addresses: tuple[str, ...] = ()
    """Resolved addresses that are not the target's, as with a wildcard record."""
    stale: str | None = None
    """The change of a Service that its rules did not follow."""
    late: str | None = None
    """The Service that missed its deadline before this check ran."""
    resent: str | None = None
    """An answer that came only after a retransmission, with the evidence."""
    slow: str | None = None
    """How long every answer took, if a client with the usual time-out would have retransmitted."""
    loss: LossEstimate | None = None
    """For ``LOSS``: how many tries were lost of how many."""
    path_size: PathSize | None = None
    """For ``PATH_MTU``: which sizes pass."""
    flows: FlowCount | None = None
    """For ``FLOWS``: how many connections succeeded of how many."""
    figure: str | None = None
    """For ``SCALE``: the measurement, as text."""
    witnessed: tuple[Witnessed, ...] = ()
    """For ``WITNESS``: what the capture and the other witnesses show, by subject."""
    differing_ports: tuple[PortSeen, ...] = ()
    trusted: bool = True
    distrust: str | None = None
    channel: str = ""

    @property
    def last_detail(self) -> str:
        """The detail of the last failed attempt that was not ignored; empty if none failed."""
        failed = [
            attempt
            for attempt in self.attempts
            if not (attempt.outcome.positive or attempt.overloaded)
        ]
        return failed[-1].detail if failed else ""


NOT_RUN = "it was not run"
"""Detail of a control that was not run for a negative result."""
OVERLOADED = "the probe was overloaded"
"""Start of the reason for distrust of losses and delays if a probe did everything late."""


def unusable(check: str, why: str) -> Observation:
    """Return the observation of a check without a usable answer, with the reason."""
    return Observation(
        check=check,
        outcome=Outcome.PROBE_FAILED,
        agreed=True,
        attempts=(),
        trusted=False,
        distrust=why,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    """An image pulled onto a node: ``seconds`` from creating the Pod until its container exists.

    Without a container there is a ``problem`` instead.
    """

    image: str
    node: str
    seconds: float
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReading:
    """One command on one node; ``error`` if the channel failed or the vantage is not the node's."""

    node: str
    reading: str
    probe: str
    command: tuple[str, ...]
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    error: str | None = None
