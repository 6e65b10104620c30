"""The rules that turn expectation and observation into a verdict.

Trust comes first, then whether the documents decide, then whether the attempts agree, then the
exact outcome. ``unknown`` is never ``pass`` and never satisfies an expected failure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import assert_never

from nettests.judge import advice
from nettests.judge.distrust import busy
from nettests.judge.members import judge_members, skipped
from nettests.judge.message import (
    NOT_JUDGED,
    documented,
    expected_text,
    kept_from_the_suffixes,
    last_detail,
    observed_text,
    read_as_denied,
    sentence,
)
from nettests.judge.open_outcomes import is_allowed, showing
from nettests.judge.proof import (
    failed_target,
    needs_controls,
    unseen_part,
    why_failed,
    why_not_proven,
    why_vantage_fails,
)
from nettests.model.check import Check
from nettests.model.expectation import Expectation, Expected
from nettests.model.measured import SizeFinding
from nettests.model.observation import Observation, unusable
from nettests.model.verdict import Judgement
from nettests.model.words import Distribution, Outcome, VantageKind, Verdict


@dataclass(frozen=True, slots=True)
class _Ruling:
    verdict: Verdict
    why: str = ""
    next_step: str = ""
    limitation: str = ""
    """The entry that is met, if it is not the deciding one."""


def judge(check: Check, expectation: Expectation, observation: Observation | None) -> Judgement:
    """Return the verdict of one check, with its message; an observation of ``None`` means never observed."""
    observation = observation or unusable(check.id, "the check was never run")
    ruling = _rule(check, expectation, read_as_denied(check, observation))
    expected, observed = expected_text(expectation), observed_text(observation)
    limitation = expectation.limitation
    return Judgement(
        check=check.id,
        verdict=ruling.verdict,
        message=sentence(check, expected, observed, ruling.why),
        expected=expected,
        observed=observed,
        limitation=ruling.limitation or (limitation.id if limitation else None),
        next_step=ruling.next_step,
    )


_NONE: Mapping[str, str] = MappingProxyType({})


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


LOSS_PROVEN = "a healthy path loses as many only once in a million cases"
_ANSWERED = frozenset({Verdict.PASS, Verdict.LIMITED, Verdict.FLAKY})
"""Verdicts that a late answer, a lost packet or slowness overrides."""


def _rule(check: Check, expectation: Expectation, observation: Observation) -> _Ruling:
    """Rule on an observation; a late answer, or one after a lost packet, does not pass."""
    ruling = _by_size(observation, _rule_on_outcome(check, expectation, observation))
    answered = any(attempt.outcome.positive for attempt in observation.attempts)
    if not answered or ruling.verdict not in _ANSWERED:
        return ruling
    if busy(observation.late):
        late = f"not proven to be in time: {observation.late}"
        return _Ruling(Verdict.UNKNOWN, late, advice.AFTER_OVERLOAD)
    if observation.late:
        return _Ruling(
            Verdict.FAIL,
            f"{observation.late}; this check got its answer only later",
            advice.after_lateness(check, observation.late),
        )
    if ruling.verdict is Verdict.FLAKY:
        return ruling
    if observation.loss is not None and observation.loss.proven:
        return _Ruling(Verdict.FLAKY, LOSS_PROVEN, advice.AFTER_LOSS)
    if observation.resent:
        return _Ruling(Verdict.FLAKY, observation.resent, advice.AFTER_LOSS)
    if observation.slow:
        return _Ruling(Verdict.FLAKY, observation.slow, advice.AFTER_SLOWNESS)
    return ruling


def _by_size(observation: Observation, ruling: _Ruling) -> _Ruling:
    """Rule on a path size search; sizes that pass late, or not in fragments, are reported too.

    No document promises that a host reassembles more than 576 bytes (RFC 1122, 3.3.2).
    """
    sizes = observation.path_size
    if sizes is None or ruling.verdict not in {Verdict.PASS, Verdict.FAIL}:
        return ruling
    match sizes.finding:
        case SizeFinding.WHOLE | SizeFinding.SILENT:
            return ruling
        case SizeFinding.HOLE:
            return _Ruling(ruling.verdict, sizes.beside, advice.AFTER_SIZE)
        case SizeFinding.CLAMP:
            return _Ruling(Verdict.FLAKY, next_step=advice.AFTER_SIZE)
        case SizeFinding.LOSS:
            return _Ruling(Verdict.FLAKY, next_step=advice.AFTER_LOSS)
        case SizeFinding.FRAGMENTS:
            return _Ruling(Verdict.RECORDED, sizes.beside)
        case _:
            assert_never(sizes.finding)


def _rule_on_outcome(check: Check, expectation: Expectation, observation: Observation) -> _Ruling:
    return (
        _not_judged(expectation, observation)
        or _contradicted(observation)
        or _open(check, expectation, observation)
        or _stale(check, observation)
        or _kept_back(check, expectation, observation)
        or _ran_out(check, expectation, observation)
        or _disagreement(check, expectation, observation)
        or _wrong_backend(check, observation)
        or _unseen(expectation, observation)
        or _compared(check, expectation, observation)
    )


def _not_judged(expectation: Expectation, observation: Observation) -> _Ruling | None:
    if not observation.trusted or observation.outcome is Outcome.PROBE_FAILED:
        why = observation.distrust or last_detail(observation) or "the probe failed"
        return _Ruling(Verdict.UNKNOWN, f"{NOT_JUDGED}{why}", advice.after_distrust(why))
    if expectation.undecided:
        return _Ruling(Verdict.UNKNOWN, expectation.undecided, advice.AFTER_UNDECIDED)
    return None


def _contradicted(observation: Observation) -> _Ruling | None:
    """Fail a connection on which two witnesses disagree, whatever the documents expect."""
    differing = [str(witnessed) for witnessed in observation.witnessed if not witnessed.agree]
    if not differing:
        return None
    return _Ruling(Verdict.FAIL, "; ".join(differing), advice.after_contradiction(observation))


def _open(check: Check, expectation: Expectation, observation: Observation) -> _Ruling | None:
    """Record what documents leave open, report known bugs that show, fail what they rule out."""
    if expectation.expected is not None:
        return None
    shown = showing(expectation, observation)
    names = ", ".join(bug.id for bug in shown or expectation.known_bugs)
    if not shown and is_allowed(expectation, observation):
        why = documented(expectation.limitation, "left open by")
        unseen = f"left open because of a known bug, which does not show here: {names}"
        return _Ruling(Verdict.RECORDED, unseen if names else why)
    ruling = _failed(check, observation)
    if ruling.verdict is Verdict.UNKNOWN:
        return ruling
    if not shown:
        return replace(
            ruling,
            why=f"the documents leave the outcome open, but do not allow this one; {ruling.why}",
        )
    why = f"a known bug shows: {names} ({shown[0].summary})"
    return _Ruling(Verdict.KNOWN_BUG, why, advice.AFTER_KNOWN_BUG, limitation=shown[0].id)


def _stale(check: Check, observation: Observation) -> _Ruling | None:
    if observation.stale is None:
        return None
    ruling = _failed(check, observation)
    if ruling.verdict is Verdict.UNKNOWN:
        return ruling
    answered = f"{' and '.join(observation.backends)} answered" if observation.backends else ""
    why = "; ".join(part for part in (observation.stale, answered or ruling.why) if part)
    return _Ruling(Verdict.FAIL, why, advice.after_staleness(check))


def _kept_back(check: Check, expectation: Expectation, observation: Observation) -> _Ruling | None:
    """Record a result hidden by a name server outside: it shows neither fault nor success."""
    why = kept_from_the_suffixes(check, expectation.expected, observation)
    if not why:
        return None
    ruling = _failed(check, observation)
    return ruling if ruling.verdict is Verdict.UNKNOWN else _Ruling(Verdict.RECORDED, why)


def _ran_out(check: Check, expectation: Expectation, observation: Observation) -> _Ruling | None:
    """Fail a path on which connections stop succeeding; the first ones prove it, like controls."""
    if observation.flows is None or not observation.flows.ran_out:
        return None
    if _matches(expectation.expected, observation):
        return None
    return _Ruling(Verdict.FAIL, last_detail(observation), advice.after_failure(check, observation))


def _disagreement(
    check: Check, expectation: Expectation, observation: Observation
) -> _Ruling | None:
    """Rule on attempts that disagree about something asserted; other differences do not count."""
    if expectation.expected is None or _all_fail_as_expected(expectation.expected, observation):
        return None
    if observation.agreed:
        return None
    if observation.differing_ports:
        return _ports_differ(check, observation)
    wanted, sources = expectation.expected, observation.sources_seen
    outcomes = _outcomes(observation)
    torn = bool(sources) and wanted.source_seen is not None
    if len(outcomes) == 1 and not torn:
        return None
    one_backend, several = Distribution.ONE_BACKEND, Distribution.SEVERAL_BACKENDS
    if (wanted.distribution, observation.distribution) == (one_backend, several):
        # Two backends answered: that is proven, whatever happened to other connections.
        why = f"{' and '.join(observation.backends)} answered one client"
        return _Ruling(Verdict.FAIL, why, advice.of_distribution(check, observation, one_backend))
    met = not set(outcomes).isdisjoint(wanted.outcomes)
    if met and wanted.source_seen in {None, observation.source_seen, *sources}:
        detail = last_detail(observation)
        return _Ruling(
            Verdict.FLAKY,
            f"the attempts disagree: {detail}" if detail else "the attempts disagree",
            advice.after_disagreement(check, observation),
        )
    return _never_met(check, observation)


def _outcomes(observation: Observation) -> tuple[Outcome, ...]:
    """Return the distinct outcomes of the attempts, without refusals that are by design."""
    by_design = observation.distribution is Distribution.SOME_REFUSED
    outcomes = dict.fromkeys(attempt.outcome for attempt in observation.attempts)
    others = tuple(what for what in outcomes if not (by_design and what is Outcome.REFUSED))
    return others or (observation.outcome,)


def _never_met(check: Check, observation: Observation) -> _Ruling:
    """Fail an expectation that no attempt met; an answered attempt proves this vantage."""
    outcomes = _outcomes(observation)
    ruling = _failed(check, observation)
    proven = any(outcome.positive for outcome in outcomes)
    if ruling.verdict is Verdict.UNKNOWN and not proven:
        return ruling
    brought = [*outcomes, *observation.sources_seen]
    why = f"no attempt did; their outcomes: {', '.join(result.value for result in brought)}"
    detail = why_failed(observation)
    return _Ruling(
        Verdict.FAIL,
        f"{why}; {detail}" if detail else why,
        advice.after_failure(check, observation),
    )


def _all_fail_as_expected(expected: Expected | None, observation: Observation) -> bool:
    """Whether each attempt failed in one of the ways that the documents do not distinguish."""
    outcomes = {attempt.outcome for attempt in observation.attempts}
    return (
        expected is not None
        and bool(expected.alternatives)
        and not expected.outcome.positive
        and outcomes <= set(expected.outcomes)
    )


def _ports_differ(check: Check, observation: Observation) -> _Ruling:
    """Fail a target whose ports differ: a single port meets neither claim nor limitation.

    A port that answers proves, like a vantage control, that this vantage works.
    """
    ruling = _failed(check, observation)
    proven = any(port.outcome.positive for port in observation.differing_ports)
    if ruling.verdict is Verdict.UNKNOWN and not proven:
        return ruling
    return _Ruling(Verdict.FAIL, why_failed(observation), advice.AFTER_PARTING)


def _wrong_backend(check: Check, observation: Observation) -> _Ruling | None:
    if observation.unexpected_addresses:
        why = f"it resolved to {', '.join(observation.unexpected_addresses)}, not to the target's address"
        return _Ruling(Verdict.FAIL, why, advice.AFTER_MISLEADING)
    backends = check.target.backends
    strangers = [name for name in observation.backends if name not in backends] if backends else []
    if not strangers:
        return None
    why = f"answered by {', '.join(strangers)}, not by {' or '.join(backends)}"
    return _Ruling(Verdict.FAIL, why, advice.after_failure(check, observation))


def _unseen(expectation: Expectation, observation: Observation) -> _Ruling | None:
    wanted = expectation.expected
    if wanted is None:
        return None
    missing = unseen_part(
        observation,
        source=wanted.source_seen is not None,
        distribution=wanted.distribution is not None,
    )
    return _Ruling(Verdict.UNKNOWN, missing, advice.AFTER_DISTRUST) if missing else None


def _compared(check: Check, expectation: Expectation, observation: Observation) -> _Ruling:
    limitation, wanted = expectation.limitation, expectation.expected
    # The outcome of the claim may be among several that the documents allow.
    both = (
        wanted is not None and wanted.alternatives and expectation.claim.outcome in wanted.outcomes
    )
    if both and _matches(expectation.claim, observation):
        return _proven(observation) or _Ruling(Verdict.PASS)
    if _matches(expectation.expected, observation):
        return _proven(observation) or (
            _Ruling(Verdict.LIMITED, documented(limitation))
            if limitation
            else _Ruling(Verdict.PASS)
        )
    if limitation and _matches(expectation.claim, observation):
        why = f"limitation {limitation.id} no longer shows; update the manifest"
        return _proven(observation) or _Ruling(
            Verdict.LIFTED, why, advice.after_lifting(limitation)
        )
    return _failed(check, observation)


def _proven(observation: Observation) -> _Ruling | None:
    why = why_not_proven(observation) if needs_controls(observation) else ""
    return _Ruling(Verdict.UNKNOWN, f"not proven: {why}", advice.AFTER_NO_PROOF) if why else None


def _failed(check: Check, observation: Observation) -> _Ruling:
    unproven = not observation.outcome.positive and needs_controls(observation)
    in_cluster = check.source.kind is not VantageKind.EXTERNAL
    if unproven and (why := why_vantage_fails(observation, in_cluster=in_cluster)):
        return _Ruling(Verdict.UNKNOWN, f"not proven: {why}", advice.AFTER_NO_PROOF)
    existing, why = check.target.existing, why_failed(observation)
    if existing is not None and not existing.own and failed_target(observation) is not None:
        return _Ruling(Verdict.RECORDED, f"{why}: its owner may allow no clients from elsewhere")
    return _Ruling(Verdict.FAIL, why, advice.after_failure(check, observation))


def _matches(expected: Expected | None, observation: Observation) -> bool:
    """Whether every asserted part of the observation is as expected.

    If servers saw several source addresses, none of them was seen in every attempt.
    """
    if expected is not None and expected.source_seen is not None and observation.sources_seen:
        return False
    return (
        expected is not None
        and observation.outcome in expected.outcomes
        and expected.source_seen in {None, observation.source_seen}
        and expected.distribution in {None, observation.distribution}
    )
