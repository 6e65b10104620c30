"""The records of a run's journal, one frozen value per kind. Pure.

``session.journal`` writes them, ``codec`` encodes them, ``history`` combines those of one
run. ``Record`` is the closed list of kinds; code over all kinds ends with ``assert_never``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, get_args

from nettests.model.calibration import Calibration
from nettests.model.check import Check, Skip
from nettests.model.check_id import member_id
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts
from nettests.model.observation import NodeReading, Pull, Raw
from nettests.model.verdict import Judgement
from nettests.model.words import Verdict

NOT_STARTED = "the run could not start: "
"""Start of the event of a run that could not start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFile:
    """A limitation manifest that a run read: its name in reports, and the digest of its text."""

    file: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedLimitation:
    """A limitation that decided no check of a run."""

    id: str
    summary: str = ""
    layer: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosticsItem:
    """One item collected about a subject: its file in the subject's folder, or why it has none."""

    title: str
    file: str = ""
    command_line: str = ""
    bytes: int = 0
    cut: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """Who ran what, when, against which cluster: the first record."""

    KIND: ClassVar = "run"

    run_id: str = ""
    started: str = ""
    nettests: str = ""
    context: str | None = None
    server: str | None = None
    cluster_profile: str | None = None
    argv: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    manifests: tuple[ManifestFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovered:
    """The facts of the cluster; a later record adds what probes found out."""

    KIND: ClassVar = "facts"

    facts: ClusterFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Limitations:
    """Limitations that decide nothing on this cluster."""

    KIND: ClassVar = "limitations"

    unused: tuple[UnusedLimitation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfMembers:
    """The expectation of some members of a check, by their labels."""

    expectation: Expectation
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A planned check and its expectation; ``others`` are members with a different one."""

    KIND: ClassVar = "planned"

    check: Check
    expectation: Expectation
    others: tuple[OfMembers, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A planned check or flow that does not apply."""

    KIND: ClassVar = "skip"

    skip: Skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A reading of a node's own settings."""

    KIND: ClassVar = "reading"

    reading: NodeReading


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """Answers of a node's tools to known questions."""

    KIND: ClassVar = "calibration"

    calibration: Calibration


@dataclass(frozen=True, slots=True, kw_only=True)
class Revised:
    """The new expectation of a planned check once the facts of its cluster were completed."""

    KIND: ClassVar = "expected"

    check: str
    expectation: Expectation
    others: tuple[OfMembers, ...] = ()


def expectations_of_members(
    check: Check, expectations: Mapping[str, Expectation]
) -> tuple[OfMembers, ...]:
    """Return the expectations of members that differ from that of their check."""
    labels: dict[int, tuple[Expectation, list[str]]] = {}
    for member in check.members:
        expectation = expectations[member_id(check.id, member.label)]
        if expectation != expectations[check.id]:
            labels.setdefault(id(expectation), (expectation, []))[1].append(member.label)
    return tuple(
        OfMembers(expectation=expectation, labels=tuple(of)) for expectation, of in labels.values()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One request and its answer, before any parsing."""

    KIND: ClassVar = "raw"

    raw: Raw


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A check was run to its end, or the reason why not.

    ``answers`` counts the answers written. ``distrust`` says why none of them can be trusted,
    ``skip`` why the check could not run here; ``late``, ``resent`` and ``slow`` are those of
    ``Observation``. ``overloaded`` are the attempts left unanswered by an overloaded probe,
    ``alone`` is the attempt with the run's only lost datagram (``parse.lost_packets``).
    ``judgement`` is the observing process's verdict, which counts once ``Judged``.
    """

    KIND: ClassVar = "done"

    check: str
    answers: int | None = None
    distrust: str | None = None
    skip: str | None = None
    late: str | None = None
    resent: str | None = None
    slow: str | None = None
    overloaded: tuple[int, ...] = ()
    alone: int | None = None
    judgement: Judgement | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Convergence:
    """How long a Service took until it first answered a probe."""

    KIND: ClassVar = "convergence"

    service: str
    probe: str
    seconds: float
    converged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One of the rounds in which a watch repeats the same checks.

    ``ran`` counts checks or, for checks with members, members; ``red`` are those not as documented,
    by id, members included; ``unknown`` those without a usable answer. ``lost`` is why nothing was
    judged, as when the API server was away. Answers of each check are written once: from its first
    red round, or the last judged one.
    """

    KIND: ClassVar = "round"

    number: int
    started: str
    seconds: float
    ran: int = 0
    red: Mapping[str, Verdict] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    lost: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to the run as a whole."""

    KIND: ClassVar = "event"

    at: str
    text: str
    notable: bool = False
    """Whether reports show it prominently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """The pull of an image onto a node before the first probe ran, or why it failed."""

    KIND: ClassVar = "pull"

    pull: Pull


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostics:
    """What was collected about a subject of failing checks; ``folder`` is below the run's."""

    KIND: ClassVar = "diagnostics"

    subject: str
    folder: str
    checks: tuple[str, ...]
    items: tuple[DiagnosticsItem, ...]

    @property
    def collected(self) -> tuple[DiagnosticsItem, ...]:
        """The items that have a file."""
        return tuple(item for item in self.items if item.file)

    @property
    def missing(self) -> Mapping[str, tuple[str, ...]]:
        """What could not be read, by the reason."""
        by_reason: dict[str, tuple[str, ...]] = {}
        for item in self.items:
            if not item.file:
                by_reason[item.problem] = (*by_reason.get(item.problem, ()), item.title)
        return by_reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The verdict of a check at the end of its test."""

    KIND: ClassVar = "judged"

    judgement: Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedFailure:
    """A check whose deviation the site accepts: why, and until which day."""

    check: str
    reason: str
    expires: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The failures in a site's baseline; ``excused`` is whether the exit code ignores them."""

    KIND: ClassVar = "accepted"

    file: str
    excused: bool
    failures: tuple[AcceptedFailure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The end of a run; a run that was killed has none."""

    KIND: ClassVar = "end"

    finished: str = ""
    exit_code: int | None = None
    counts: dict[str, int] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=dict)
    """The requests to the API server, by verb and resource."""
    stages: dict[str, float] = field(default_factory=dict)
    """Seconds per stage, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A record of a kind unknown to this version: kept unchanged, but not reported."""

    data: dict[str, Any]


OfCheck = Planned | Skipped | Revised | Answer | Done | Judged
"""Records about one check."""
OfRun = (
    Begin
    | Discovered
    | Limitations
    | Reading
    | Calibrated
    | Convergence
    | Round
    | Event
    | Pulled
    | Diagnostics
    | Accepted
    | End
)
Record = OfCheck | OfRun | Unknown

KINDS: Mapping[str, Any] = {kind.KIND: kind for kind in get_args(Record) if kind is not Unknown}
"""The class of each kind, by its name in lines."""
