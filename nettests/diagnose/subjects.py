"""The subjects of diagnostics: nodes, Services, Pods and cluster DNS, once each. Pure.

Many failing checks share a node or Service, so a subject lists its checks. Subjects of more urgent
verdicts come first; those beyond the limit are named.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nettests.diagnose.folder import safe_name
from nettests.model.check import Check, Plan
from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.words import Verdict

NODE, SERVICE, POD, DNS = "node", "service", "pod", "dns"
_KINDS = (NODE, SERVICE, DNS, POD)
"""In this order: most checks share a node, fewest a Pod."""
_BACKENDS = 2
"""How many of many backends are examined."""
_FOLDERS = {NODE: "nodes", SERVICE: "services", POD: "pods", DNS: "dns"}


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """One thing to examine. ``name`` is that of a node, or of an object in the run's namespace."""

    kind: str
    name: str

    @property
    def folder(self) -> str:
        """Its folder in the diagnostics."""
        top = _FOLDERS[self.kind]
        return top if self.kind == DNS else f"{top}/{safe_name(self.name)}"

    def __str__(self) -> str:
        return "cluster DNS" if self.kind == DNS else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A subject, and the checks that it was chosen for."""

    subject: Subject
    checks: tuple[str, ...] = ()


def subjects_of(check: Check, plan: Plan) -> tuple[Subject, ...]:
    """Return what a check passes through, by the plan: Service, nodes, DNS, Pods."""
    pods = {pod.name: pod.node for pod in plan.pods}
    source, target = check.source, check.target
    behind = [target.pod] if target.pod else [*target.backends[:_BACKENDS]]
    ends = [name for name in (source.probe, *behind) if name in pods]
    nodes = [source.node, target.node, *(pods[name] for name in ends)]
    subjects = [Subject(NODE, name) for name in nodes if name]
    if target.service:
        subjects.append(Subject(SERVICE, target.service))
    if check.queries_dns:
        subjects.append(Subject(DNS, "kube-dns"))
    subjects += [Subject(POD, name) for name in ends]
    return tuple(dict.fromkeys(subjects))


def chosen(
    failing: Iterable[tuple[Check, Verdict]], plan: Plan, limit: int
) -> tuple[tuple[Wanted, ...], tuple[Subject, ...]]:
    """Return at most ``limit`` subjects, the most urgent first, and the rest."""
    checks: dict[Subject, list[str]] = {}
    urgency: dict[Subject, int] = {}
    for check, verdict in failing:
        for subject in subjects_of(check, plan):
            checks.setdefault(subject, []).append(check.id)
            rank = SUMMARY_ORDER.index(verdict)
            urgency[subject] = min(urgency.get(subject, rank), rank)
    ranked: Sequence[Subject] = sorted(
        checks,
        key=lambda subject: (
            urgency[subject],
            _KINDS.index(subject.kind),
            -len(checks[subject]),
            subject.name,
        ),
    )
    wanted = tuple(
        Wanted(subject=subject, checks=tuple(checks[subject])) for subject in ranked[:limit]
    )
    return wanted, tuple(ranked[limit:])
