"""Judge checks: each from its expectation and observation alone; one with members by its worst member.

One sequence of stages: what the observation proves (``proof``), the rules (``verdicts``), the next
step of their ruling (``advice``) and its words (``message``). Each is entered once, with what the
earlier ones made. A member that could not be judged is never a pass, however many others passed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from nettests.judge.advice import next_step
from nettests.judge.message import judgement_of
from nettests.judge.proof import proof_of
from nettests.judge.verdicts import Findings, rule
from nettests.model.check import Check, counted
from nettests.model.check_id import member_id
from nettests.model.expectation import Expectation
from nettests.model.grouping import grouped
from nettests.model.observation import Observation, unusable
from nettests.model.verdict import ATTENTION, SUMMARY_ORDER, Judgement, MembersJudged
from nettests.model.words import Verdict

_NONE: Mapping[str, str] = MappingProxyType({})
NAMED = 4
"""How many members a message names at most; the reports list all."""
_WORDED = frozenset({*ATTENTION, Verdict.SKIPPED})


def judge(check: Check, expectation: Expectation, observation: Observation | None) -> Judgement:
    """Return the verdict of one check, with its message; an observation of ``None`` means never observed."""
    observed = observation or unusable(check.id, "the check was never run")
    proof = proof_of(check, expectation.expected, observed)
    findings = Findings(check=check, expectation=expectation, proof=proof)
    ruling = rule(findings)
    step = next_step(ruling, findings) if ruling.after else ""
    return judgement_of(check, expectation, observed, ruling, step)


def judge_run(
    checks: Iterable[Check],
    expectations: Mapping[str, Expectation],
    observations: Mapping[str, Observation],
    not_run: Mapping[str, str] = _NONE,
) -> list[Judgement]:
    """Judge many checks, also long after they were observed; one without observation is ``unknown``.

    Each member of a check is judged; ``not_run`` says which do not apply after all, and why.
    """
    return [_judged(check, expectations, observations, not_run) for check in checks]


def _judged(
    check: Check,
    expectations: Mapping[str, Expectation],
    observations: Mapping[str, Observation],
    not_run: Mapping[str, str],
) -> Judgement:
    if not check.members:
        return judge(check, expectations[check.id], observations.get(check.id))
    judgements = {
        member.id: skipped(member.id, not_run[member.id])
        if member.id in not_run
        else judge(member, expectations[member.id], observations.get(member.id))
        for member in check.each
    }
    return judge_members(check, judgements)


def judge_members(check: Check, judgements: Mapping[str, Judgement]) -> Judgement:
    """Merge judgements, keyed by member id, into the check's; a missing one counts as never run."""
    each = [
        (
            member.label,
            judgements.get(member_id(check.id, member.label)) or _never(check, member.label),
        )
        for member in check.members
    ]
    worst = min((judgement.verdict for _, judgement in each), key=SUMMARY_ORDER.index)
    first = next(judgement for _, judgement in each if judgement.verdict is worst)
    expected, observed = _most(each, "expected"), _observed(each)
    return replace(
        first,
        check=check.id,
        verdict=worst,
        message=_message(check, worst, each, expected, observed),
        expected=expected,
        observed=observed,
        next_step=first.next_step if worst in ATTENTION else "",
        members=_grouped(each),
    )


def skipped(check: str, reason: str) -> Judgement:
    """Return the judgement of a member that turned out not to apply."""
    return Judgement(check=check, verdict=Verdict.SKIPPED, message=reason, expected="", observed="")


def _never(check: Check, label: str) -> Judgement:
    return Judgement(
        check=member_id(check.id, label),
        verdict=Verdict.UNKNOWN,
        message=f"{check.title}: {label}: this member was never run",
        expected=str(check.claim),
        observed="nothing that was judged",
    )


def _message(
    check: Check,
    worst: Verdict,
    each: list[tuple[str, Judgement]],
    expected: str,
    observed: str,
) -> str:
    worst_members = [(label, judgement) for label, judgement in each if judgement.verdict is worst]
    head = f"{check.title} - {check.flow}"
    many = f"{len(worst_members)} of {counted([label for label, _ in each])}"
    if worst is Verdict.PASS:
        return f"{head} - expected {expected}, observed {observed}{_left_out(each)}"
    if worst is Verdict.SKIPPED:
        return worst_members[0][1].message
    named = ", ".join(label for label, _ in worst_members[:NAMED])
    more = f", … and {len(worst_members) - NAMED} more" if len(worst_members) > NAMED else ""
    why = (
        worst_members[0][1].message.partition(f" - {check.flow} - ")[2]
        or worst_members[0][1].message
    )
    return f"{head} - {worst.value} for {many}: {named}{more} - {why}"


def _left_out(each: Sequence[tuple[str, Judgement]]) -> str:
    reasons = [judgement.message for _, judgement in each if judgement.verdict is Verdict.SKIPPED]
    if not reasons:
        return ""
    return f"; skipped for {len(reasons)} of {counted([label for label, _ in each])}: {reasons[0]}"


def _observed(each: Iterable[tuple[str, Judgement]]) -> str:
    """Return the observed outcomes, with their counts if there are several: ``connected ×129, timed_out ×3``."""
    # sample: "connected, source = client-pod (10.244.1.5)"
    seen = Counter(
        judgement.observed.partition(" (")[0] or "nothing"
        for _, judgement in each
        if judgement.verdict is not Verdict.SKIPPED
    )
    if not seen:
        return "nothing"
    if len(seen) == 1:
        return next(iter(seen))
    return ", ".join(f"{what} ×{count}" for what, count in seen.most_common())


def _most(each: Iterable[tuple[str, Judgement]], name: str) -> str:
    texts = Counter(getattr(judgement, name) for _, judgement in each if getattr(judgement, name))
    most = texts.most_common(2)
    if not most:
        return ""
    return f"{most[0][0]}, elsewhere something else" if len(most) > 1 else most[0][0]


def _grouped(each: Iterable[tuple[str, Judgement]]) -> tuple[MembersJudged, ...]:
    groups = grouped(
        (_wording(judgement), label)
        for label, judgement in each
        if judgement.verdict is not Verdict.PASS
    )
    return tuple(replace(wording, labels=tuple(labels)) for wording, labels in groups.items())


def _wording(judgement: Judgement) -> MembersJudged:
    if judgement.verdict not in _WORDED:
        return MembersJudged(verdict=judgement.verdict, labels=(), limitation=judgement.limitation)
    return MembersJudged(
        verdict=judgement.verdict,
        labels=(),
        message=judgement.message,
        expected=judgement.expected,
        observed=judgement.observed,
        next_step=judgement.next_step,
        limitation=judgement.limitation,
    )
