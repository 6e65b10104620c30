"""Judge checks: each from its expectation and observation alone, in one sequence of stages.

What a name server outside withheld is set aside (``outside_dns``), then controls prove what they
can (``proof``), rules decide (``verdicts``), and the ruling is given a next step (``advice``) and
its words (``message``). Each stage is entered once, with what the earlier ones made.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from nettests.judge.advice import next_step
from nettests.judge.members import judge_members, skipped
from nettests.judge.message import judgement_of
from nettests.judge.outside_dns import kept_from_the_suffixes, read_as_denied
from nettests.judge.proof import proof_of
from nettests.judge.verdicts import Findings, rule
from nettests.model.check import Check
from nettests.model.expectation import Expectation
from nettests.model.observation import Observation, unusable
from nettests.model.verdict import Judgement
from nettests.model.words import VantageKind

_NONE: Mapping[str, str] = MappingProxyType({})


def judge(check: Check, expectation: Expectation, observation: Observation | None) -> Judgement:
    """Return the verdict of one check, with its message; an observation of ``None`` means never observed."""
    observed = observation or unusable(check.id, "it was never observed")
    seen = read_as_denied(check, observed)
    kept_back = kept_from_the_suffixes(check, expectation.expected, seen)
    findings = Findings(
        check=check,
        expectation=expectation,
        observation=seen,
        proof=proof_of(seen, in_cluster=check.source.kind is not VantageKind.EXTERNAL),
        kept_back=kept_back,
    )
    ruling = rule(findings)
    return judgement_of(check, expectation, observed, ruling, next_step(ruling, findings))


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
