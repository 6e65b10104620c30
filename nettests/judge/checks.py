"""Judge checks: each from its expectation and observation alone; one with members by its worst member.

One sequence of stages: what the observation proves (``proof``), the rules (``verdicts``), the next
step of their ruling (``advice``) and its words: ``<subject> - <what> - expected X, observed Y``,
then why, in one line, enough to act on without the evidence. Each is entered once, with what the
earlier ones made. A member that could not be judged is never a pass, however many others passed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from nettests.judge.advice import next_step
from nettests.judge.proof import proof_of
from nettests.judge.verdicts import NOT_JUDGED, Findings, Ruling, rule
from nettests.model.check import Check, counted
from nettests.model.check_id import member_id
from nettests.model.expectation import Expectation
from nettests.model.grouping import grouped
from nettests.model.observation import Observation, unusable
from nettests.model.verdict import ATTENTION, SUMMARY_ORDER, Judgement, MembersJudged
from nettests.model.words import Outcome, Verdict

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
    groups = grouped(
        (_wording(judgement), label)
        for label, judgement in each
        if judgement.verdict is not Verdict.PASS
    )
    return replace(
        first,
        check=check.id,
        verdict=worst,
        message=_message(check, worst, each, expected, observed),
        expected=expected,
        observed=observed,
        next_step=first.next_step if worst in ATTENTION else "",
        members=tuple(replace(wording, labels=tuple(labels)) for wording, labels in groups.items()),
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


UNSPECIFIED = "unspecified"


def judgement_of(
    check: Check, expectation: Expectation, observation: Observation, ruling: Ruling, next_step: str
) -> Judgement:
    """Return the judgement that a ruling on a check comes to."""
    expected, observed = _expected_text(expectation), _observed_text(observation)
    limitation = expectation.limitation
    return Judgement(
        check=check.id,
        verdict=ruling.verdict,
        message=_sentence(check, expected, observed, ruling.why),
        expected=expected,
        observed=observed,
        limitation=ruling.limitation or (limitation.id if limitation else None),
        next_step=next_step,
    )


def _expected_text(expectation: Expectation) -> str:
    """Return the expected outcome as text."""
    if expectation.undecided:
        return f"undecided: {expectation.undecided}"
    return str(expectation.expected) if expectation.expected else UNSPECIFIED


def _observed_text(observation: Observation) -> str:
    """Return the observed outcome as text, with the source address seen and the backends."""
    outcomes = [attempt.outcome.value for attempt in observation.attempts]
    figure = observation.flows or observation.loss or observation.path_size or observation.figure
    if figure is not None:
        parts = [f"{observation.outcome.value}, {figure}"]
    elif observation.differing_ports:
        parts = [
            f"{port.outcome.value} at port {port.port}" for port in observation.differing_ports
        ]
    elif len(set(outcomes)) > 1:
        parts = [" then ".join(_runs(outcomes))]
    else:
        parts = [observation.outcome.value]
    if observation.source_seen is not None:
        parts.append(f"source = {observation.source_seen.value} ({observation.server_saw})")
    if observation.witnessed and all(witnessed.agree for witnessed in observation.witnessed):
        subjects = ", ".join(witnessed.subject.value for witnessed in observation.witnessed)
        parts.append(f"witnessed on the wire: {subjects}")
    if observation.distribution is not None:
        parts.append(f"{observation.distribution.value} ({', '.join(observation.backends)})")
    return ", ".join(parts)


def _sentence(check: Check, expected: str, observed: str, why: str) -> str:
    """Return the message of a judgement."""
    if why.startswith(NOT_JUDGED):  # an untrusted observation proves nothing
        return " ".join(f"{check.title} - {check.flow} - {why}".split())
    head = f"{check.title} - {check.flow} - {_compared(expected, observed)}"
    return " ".join(f"{head}: {why}".split()) if why else head


_COMPARED: Mapping[tuple[str, str], str] = {
    (Outcome.CONFORMS, Outcome.CONFORMS): "as documented",
    (Outcome.CONFORMS, Outcome.DEVIATES): "not as documented",
    (Outcome.DEVIATES, Outcome.DEVIATES): "deviates, as expected",
    (Outcome.DEVIATES, Outcome.CONFORMS): "expected to deviate, and does not",
}
"""What is read or started, and compared with what documents say of it."""


def _compared(expected: str, observed: str) -> str:
    if expected == UNSPECIFIED:
        return f"observed {observed}"
    if words := _COMPARED.get((expected, observed)):
        return words
    wanted = {"conforms": "the documented result", "deviates": "a deviation"}.get(
        expected, expected
    )
    return f"expected {wanted}, observed {observed}"


def _runs(words: list[str]) -> list[str]:
    runs: list[tuple[str, int]] = []
    for word in words:
        if runs and runs[-1][0] == word:
            runs[-1] = (word, runs[-1][1] + 1)
        else:
            runs.append((word, 1))
    return [word if count == 1 else f"{word} ×{count}" for word, count in runs]
