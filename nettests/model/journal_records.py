"""The records of a run's journal: one frozen value per kind. Pure.

``session.journal`` writes them, ``journal_lines`` are their JSON, ``history`` puts those of one run together.
``Record`` is the closed list of kinds; code that tells kinds apart ends with ``assert_never``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, get_args

from nettests.model.calibration import Calibration
from nettests.model.check import Check, Skip
from nettests.model.check_id import member_id
from nettests.model.expectation import Expectation
from nettests.model.facts import ClusterFacts
from nettests.model.node_reading import NodeReading
from nettests.model.observation import Raw
from nettests.model.pull import Pull
from nettests.model.verdict import Judgement
from nettests.model.words import Verdict

NOT_STARTED = "the run could not start: "
"""The beginning of the event of a run that could not start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFile:
    """One limitation manifest that a run read: its name as reports show it, and the digest of its text."""

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
    """One item that was read about a subject: its file in the subject's folder, or why there is none."""

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
    """The facts of the cluster; a later record adds what probes learned."""

    KIND: ClassVar = "facts"

    facts: ClusterFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Limitations:
    """The limitations that decide nothing on this cluster."""

    KIND: ClassVar = "limitations"

    unused: tuple[UnusedLimitation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfMembers:
    """What is expected of some members of a check, by their labels."""

    expectation: Expectation
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A planned check, and what is expected of it; ``others`` are members with a different expectation."""

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
    """The answers of a node's tools to known questions."""

    KIND: ClassVar = "calibration"

    calibration: Calibration


@dataclass(frozen=True, slots=True, kw_only=True)
class Revised:
    """The expectation of a planned check after its cluster's facts were completed."""

    KIND: ClassVar = "expected"

    check: str
    expectation: Expectation
    others: tuple[OfMembers, ...] = ()


def others(check: Check, expectations: Mapping[str, Expectation]) -> tuple[OfMembers, ...]:
    """Return the expectations of those members of a check that differ from most."""
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
    """The record that a check was run to its end, or why it was not.

    ``answers`` counts those that are written. ``distrust`` says why nothing of them can be trusted, ``skip`` why
    the check could not be run here; ``late``, ``resent`` and ``slow`` are those of ``Observation``.
    ``overloaded`` are the attempts that an overloaded probe left without an answer, ``alone`` is the one that lost the
    only datagram of the run (``parse.lost_datagram``). ``judgement`` is the
    verdict of the process that observed: it counts once the check's test has taken it (``Judged``).
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
    """How long one Service took until it answered a probe for the first time."""

    KIND: ClassVar = "convergence"

    service: str
    probe: str
    seconds: float
    converged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One of the rounds in which a watch repeats the same checks.

    ``ran`` counts checks, those of members each; ``red`` are those that were observed and not as documented, by id,
    members included; ``unknown`` those without a usable answer. ``lost`` says why nothing was judged at all, as while the API server is away. Answers are written of each
    check once: of the first round in which it was red, or of the last one that was judged.
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
    """Whether reports show it in a prominent place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """The pull of an image onto a node before anything was probed, or why it failed."""

    KIND: ClassVar = "pull"

    pull: Pull


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostics:
    """What was collected about one subject that failing checks share; ``folder`` is below the run's."""

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
    """The verdict of a check, as its test ended."""

    KIND: ClassVar = "judged"

    judgement: Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedFailure:
    """A check with a deviation that the site has accepted: why, and until which day."""

    check: str
    reason: str
    expires: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The failures in a site's baseline; ``excused`` is whether the run's exit code ignores them."""

    KIND: ClassVar = "accepted"

    file: str
    excused: bool
    failures: tuple[AcceptedFailure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The end of a run; one that was killed has none."""

    KIND: ClassVar = "end"

    finished: str = ""
    exit_code: int | None = None
    counts: dict[str, int] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=dict)
    """The requests to the API server, by verb and resource."""
    stages: dict[str, float] = field(default_factory=dict)
    """How many seconds each stage took, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A record of a kind that this version does not know: kept unchanged, and not reported."""

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
"""The class of each kind, by the word in its lines."""
