"""The parts of ``results.json`` by which runs are compared, as frozen values in the document's own shape.

``reading`` makes them. Evidence (attempts, controls, raw answers) is left out: a difference links to the two reports.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nettests.model.expectation import AppliedLimitation
from nettests.model.facts import ClusterFacts
from nettests.model.journal_records import Convergence
from nettests.model.pull import Pull
from nettests.model.verdict import DEVIATING, MERGE_ORDER
from nettests.model.words import OS, Verdict
from nettests.report.results import Coverage, Incident, Latency, PathPace, RunInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The source or the target of a check; ``role`` is its node pool, as the document spells it."""

    kind: str | None = None
    role: str | None = None
    os: OS | None = None
    node: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expecting:
    """What was expected; without ``outcome`` the documents leave it open, or it is ``undecided``."""

    outcome: str | None = None
    alternatives: tuple[str, ...] = ()
    source_seen: str | None = None
    distribution: str | None = None
    claim: str | None = None
    undecided: str | None = None
    text: str = ""

    @property
    def open(self) -> bool:
        """Whether any outcome is accepted."""
        return self.outcome is None and self.undecided is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was observed."""

    outcome: str | None = None
    source_seen: str | None = None
    distribution: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviatingMember:
    """A member that needs attention."""

    member: str
    verdict: Verdict
    message: str = ""
    limitation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherMembers:
    """Members of one verdict, by one limitation, that need none."""

    verdict: Verdict
    limitation: str | None = None
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """The members of a check, by what became of them."""

    deviating: tuple[DeviatingMember, ...] = ()
    others: tuple[OtherMembers, ...] = ()

    @property
    def each(self) -> dict[str, tuple[Verdict, str | None]]:
        """Return the verdict and the limitation of each member, by its label."""
        rest = {
            label: (group.verdict, group.limitation)
            for group in self.others
            for label in group.members
        }
        return {
            **rest,
            **{member.member: (member.verdict, member.limitation) for member in self.deviating},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCheck:
    """One check that was planned; ``message`` is the reason of one that was skipped."""

    id: str
    flow: str
    verdict: Verdict
    message: str = ""
    next_step: str = ""
    source: End = End()
    target: End = End()
    expected: Expecting = Expecting()
    observed: Seen = Seen()
    limitation: AppliedLimitation | None = None
    members: Members = Members()

    @property
    def standing(self) -> Verdict:
        """Its verdict; if it could not be judged as a whole, the worst among its deviating members."""
        if self.verdict in DEVIATING:
            return self.verdict
        of_members = {member.verdict for member in self.members.deviating} & DEVIATING
        return next((verdict for verdict in MERGE_ORDER if verdict in of_members), self.verdict)

    @property
    def limitation_id(self) -> str | None:
        """The limitation that decided what was expected."""
        return self.limitation.id if self.limitation else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """One run. ``facts`` are ``None`` of one that could not start."""

    run: RunInfo
    coverage: Coverage
    counts: Mapping[Verdict, int] = field(default_factory=dict)
    checks: tuple[RecordedCheck, ...] = ()
    incidents: tuple[Incident, ...] = ()
    pulls: tuple[Pull, ...] = ()
    convergence: tuple[Convergence, ...] = ()
    latencies: tuple[Latency, ...] = ()
    paths: tuple[PathPace, ...] = ()
    facts: ClusterFacts | None = None
