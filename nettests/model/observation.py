"""What happened when a check was run: attempts, addresses seen, backends, timing, raw output.

Made by ``parse`` from the raw records that ``probes`` wrote to the journal; read by ``judge`` and
``report``. An observation is never a verdict.
"""

from dataclasses import dataclass, field

from nettests.model.flow_count import FlowCount
from nettests.model.loss import LossEstimate
from nettests.model.path_size import PathSize
from nettests.model.witnessed import Witnessed
from nettests.model.words import Distribution, Outcome, SourceSeen


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """One request or command and its answer, word for word, before any parsing.

    ``purpose`` is ``check``, ``control:vantage``, ``control:target``, ``control:path``, ``origin`` or
    ``arrival``.
    ``tool`` names the parser that reads it (``dial``, ``curl``, ``connect``, ``ping``, ``nslookup``,
    ``http``); ``client_os`` selects the error taxonomy. ``error`` is set when the control channel
    itself failed: the answer, if any, is then not trusted. ``started`` is seconds since the run began.
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
    context: dict[str, str] = field(default_factory=dict)
    """Addresses needed to read the answer: ``client-pod``, ``client-node``, ``source-vip`` …;
    ``resolved`` holds those that a name may resolve to. ``request`` and ``port`` say what was tested
    where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One raw answer, read."""

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
    """What a name resolved to."""
    port: int | None = None
    """The target's port that was probed, where one was."""
    tries: int = 1
    """How often the question was sent in a row."""
    lost: int = 0
    """How many of several tries had no answer."""
    overloaded: bool = False
    """Whether its silence says nothing: the probe answered everything else late meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlResult:
    """How a positive control ended, in the same window as the check."""

    proves: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PortSeen:
    """What one port of a target brought, each time that it was probed."""

    port: int
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """All that is known about one check that was run.

    ``outcome`` is the outcome that all attempts agree on; where they disagree it is the last one's and
    ``agreed`` is false. Where the ports of a target explain the disagreement, ``differing_ports`` says what each
    brought and ``outcome`` is that of the last failure. ``trusted`` is false with a ``distrust`` sentence when the probe, its origin or
    its channel failed.
    """

    check: str
    outcome: Outcome
    agreed: bool
    attempts: tuple[Attempt, ...]
    controls: tuple[ControlResult, ...] = ()
    source_seen: SourceSeen | None = None
    sources_seen: tuple[SourceSeen, ...] = ()
    """All that servers saw, where they saw more than one."""
    server_saw: str | None = None
    backends: tuple[str, ...] = ()
    distribution: Distribution | None = None
    unexpected_addresses: tuple[str, ...] = ()
    """What the name resolved to that is no address of the target, as with a wildcard record."""
    stale: str | None = None
    """The change of a Service that its rules did not follow."""
    late: str | None = None
    """The Service that did not answer within its deadline, before this was probed."""
    resent: str | None = None
    """An answer that came only after a retransmission, and the evidence for it."""
    slow: str | None = None
    """How long every answer took, where a client that waits no longer would have sent again."""
    loss: LossEstimate | None = None
    """For ``LOSS``: how much was lost of how much."""
    path_size: PathSize | None = None
    """For ``PATH_MTU``: which sizes pass."""
    flows: FlowCount | None = None
    """For ``FLOWS``: how many connections were made of so many."""
    figure: str | None = None
    """For ``SCALE``: what was measured, for people."""
    witnessed: tuple[Witnessed, ...] = ()
    """For ``WITNESS``: what the capture and the other witnesses say, subject by subject."""
    differing_ports: tuple[PortSeen, ...] = ()
    trusted: bool = True
    distrust: str | None = None
    channel: str = ""


NOT_RUN = "it was not run"
"""The detail of a control that was left out beside a negative result."""
OVERLOADED = "the probe was overloaded"
"""How the reason begins why nothing of a large transfer can be trusted, where its probe was late with everything."""


def unusable(check: str, why: str) -> Observation:
    """Return what is known about a check without any answer that can be used, and why there is none."""
    return Observation(
        check=check,
        outcome=Outcome.PROBE_FAILED,
        agreed=True,
        attempts=(),
        trusted=False,
        distrust=why,
    )
