"""The rules that turn findings about a check into a verdict.

The second stage of judging one check. Trust comes first, then whether the documents decide, then
whether the attempts agree, then the exact outcome. ``unknown`` is never ``pass`` and never
satisfies an expected failure.
"""

from dataclasses import dataclass, replace
from typing import Literal, assert_never

from nettests.judge.distrust import busy
from nettests.judge.proof import Proof
from nettests.model.check import Check
from nettests.model.expectation import AppliedLimitation, Expectation, Expected, KnownBug
from nettests.model.measured import SizeFinding
from nettests.model.observation import Observation
from nettests.model.words import Distribution, Outcome, Verdict

NOT_JUDGED = "cannot be judged: "
After = Literal[
    "",
    "attempts",
    "distribution",
    "distrust",
    "failure",
    "known-bug",
    "late Service",
    "lifting",
    "loss",
    "misleading",
    "no-proof",
    "not judged",
    "overload",
    "parting",
    "size",
    "slowness",
    "stale Service",
    "undecided",
    "witnesses",
]
"""What a ruling rests on: it decides the next step (``advice``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the rules look at."""

    check: Check
    expectation: Expectation
    proof: Proof

    @property
    def observation(self) -> Observation:
        """What was observed."""
        return self.proof.observation

    @property
    def expected(self) -> Expected | None:
        """The expected outcome; ``None`` where the documents leave it open."""
        return self.expectation.expected


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict with its reason, and what decides the next step."""

    verdict: Verdict
    why: str = ""
    after: After = ""
    limitation: str = ""
    """The entry that is met, if it is not the deciding one."""


LOSS_PROVEN = "a healthy path loses as many only once in a million cases"
_ANSWERED = frozenset({Verdict.PASS, Verdict.LIMITED, Verdict.FLAKY})
"""Verdicts that a late answer, a lost packet or slowness overrides."""


def rule(findings: Findings) -> Ruling:
    """Return the ruling; a late answer, or one after a lost packet, does not pass."""
    observation = findings.observation
    ruling = _by_size(observation, _rule_on_outcome(findings))
    answered = any(attempt.outcome.positive for attempt in observation.attempts)
    if not answered or ruling.verdict not in _ANSWERED:
        return ruling
    if busy(observation.late):
        late = f"not proven to be in time: {observation.late}"
        return Ruling(Verdict.UNKNOWN, late, "overload")
    if observation.late:
        late = f"{observation.late}; this check got its answer only later"
        return Ruling(Verdict.FAIL, late, "late Service")
    if ruling.verdict is Verdict.FLAKY:
        return ruling
    if observation.loss is not None and observation.loss.proven:
        return Ruling(Verdict.FLAKY, LOSS_PROVEN, "loss")
    if observation.resent:
        return Ruling(Verdict.FLAKY, observation.resent, "loss")
    if observation.slow:
        return Ruling(Verdict.FLAKY, observation.slow, "slowness")
    return ruling


def _by_size(observation: Observation, ruling: Ruling) -> Ruling:
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
            return Ruling(ruling.verdict, sizes.over_tcp, "size")
        case SizeFinding.CLAMP:
            return Ruling(Verdict.FLAKY, after="size")
        case SizeFinding.LOSS:
            return Ruling(Verdict.FLAKY, after="loss")
        case SizeFinding.FRAGMENTS:
            return Ruling(Verdict.RECORDED, sizes.over_tcp)
        case _:
            assert_never(sizes.finding)


def _rule_on_outcome(findings: Findings) -> Ruling:
    return (
        _not_judged(findings)
        or _contradicted(findings)
        or _open(findings)
        or _stale(findings)
        or _kept_back(findings)
        or _ran_out(findings)
        or _disagreement(findings)
        or _wrong_backend(findings)
        or _unseen(findings)
        or _compared(findings)
    )


def _not_judged(findings: Findings) -> Ruling | None:
    observation = findings.observation
    if not observation.trusted or observation.outcome is Outcome.PROBE_FAILED:
        why = observation.distrust or observation.last_detail or "the probe failed"
        return Ruling(Verdict.UNKNOWN, f"{NOT_JUDGED}{why}", "not judged")
    if findings.expectation.undecided:
        return Ruling(Verdict.UNKNOWN, findings.expectation.undecided, "undecided")
    return None


def _contradicted(findings: Findings) -> Ruling | None:
    """Fail a connection on which two witnesses disagree, whatever the documents expect."""
    witnesses = findings.observation.witnessed
    differing = [str(witnessed) for witnessed in witnesses if not witnessed.agree]
    return Ruling(Verdict.FAIL, "; ".join(differing), "witnesses") if differing else None


def _open(findings: Findings) -> Ruling | None:
    """Record what documents leave open, report known bugs that show, fail what they rule out."""
    expectation, observation = findings.expectation, findings.observation
    if findings.expected is not None:
        return None
    shown = [bug for bug in expectation.known_bugs if _shows(bug, observation)]
    names = ", ".join(bug.id for bug in shown or expectation.known_bugs)
    if not shown and _is_allowed(findings):
        why = documented(expectation.limitation, "left open by")
        unseen = f"left open because of a known bug, which does not show here: {names}"
        return Ruling(Verdict.RECORDED, unseen if names else why)
    ruling = _failed(findings)
    if ruling.verdict is Verdict.UNKNOWN:
        return ruling
    if not shown:
        return replace(
            ruling,
            why=f"the documents leave the outcome open, but do not allow this one; {ruling.why}",
        )
    why = f"a known bug shows: {names} ({shown[0].summary})"
    return Ruling(Verdict.KNOWN_BUG, why, "known-bug", limitation=shown[0].id)


def _shows(bug: KnownBug, observation: Observation) -> bool:
    shows = bug.shows
    if not shows.outcome.positive:
        return any(attempt.outcome in shows.outcomes for attempt in observation.attempts)
    return (
        observation.outcome in shows.outcomes
        and shows.source_seen in {None, observation.source_seen, *observation.sources_seen}
        and shows.distribution in {None, observation.distribution}
    )


def _is_allowed(findings: Findings) -> bool:
    """Whether the documents allow an outcome that they leave open.

    They never allow that no connection succeeds where only some of many may fail.
    """
    observation, among = findings.observation, findings.expectation.among
    if observation.flows is not None:
        worked = observation.flows.connected > 0
    else:
        counted = findings.check.action.question.examined
        worked = not counted or any(each.lost < each.tries for each in observation.attempts)
    return worked and (not among or observation.outcome in among)


def documented(limitation: AppliedLimitation | None, how: str = "as documented by") -> str:
    """Return the limitation's id and sources, or that the documents leave the outcome open."""
    if limitation is None:
        return "the documents leave it open"
    sources = "; ".join(str(source) for source in limitation.sources)
    return f"{how} {limitation.id} ({sources})"


def _stale(findings: Findings) -> Ruling | None:
    observation = findings.observation
    if observation.stale is None:
        return None
    ruling = _failed(findings)
    if ruling.verdict is Verdict.UNKNOWN:
        return ruling
    answered = f"{' and '.join(observation.backends)} answered" if observation.backends else ""
    why = "; ".join(part for part in (observation.stale, answered or ruling.why) if part)
    return Ruling(Verdict.FAIL, why, "stale Service")


def _kept_back(findings: Findings) -> Ruling | None:
    """Record a result hidden by a name server outside: it shows neither fault nor success."""
    if not findings.proof.kept_back:
        return None
    ruling = _failed(findings)
    return (
        ruling
        if ruling.verdict is Verdict.UNKNOWN
        else Ruling(Verdict.RECORDED, findings.proof.kept_back)
    )


def _ran_out(findings: Findings) -> Ruling | None:
    """Fail a path on which connections stop succeeding; the first ones prove it, like controls."""
    observation = findings.observation
    if observation.flows is None or not observation.flows.ran_out:
        return None
    if _matches(findings.expected, observation):
        return None
    return Ruling(Verdict.FAIL, observation.last_detail, "failure")


def _disagreement(findings: Findings) -> Ruling | None:
    """Rule on attempts that disagree about something asserted; other differences do not count."""
    expected, observation = findings.expected, findings.observation
    if expected is None or observation.agreed or _all_fail_as_expected(expected, observation):
        return None
    if observation.differing_ports:
        return _ports_differ(findings)
    sources, outcomes = observation.sources_seen, _outcomes(observation)
    torn = bool(sources) and expected.source_seen is not None
    if len(outcomes) == 1 and not torn:
        return None
    one_backend, several = Distribution.ONE_BACKEND, Distribution.SEVERAL_BACKENDS
    if (expected.distribution, observation.distribution) == (one_backend, several):
        # Two backends answered: that is proven, whatever happened to other connections.
        why = f"{' and '.join(observation.backends)} answered one client"
        return Ruling(Verdict.FAIL, why, "distribution")
    met = not set(outcomes).isdisjoint(expected.outcomes)
    if met and expected.source_seen in {None, observation.source_seen, *sources}:
        why = f"the attempts disagree: {observation.last_detail}".removesuffix(": ")
        return Ruling(Verdict.FLAKY, why, "attempts")
    return _never_met(findings, outcomes)


def _outcomes(observation: Observation) -> tuple[Outcome, ...]:
    """Return the distinct outcomes of the attempts, without refusals that are by design."""
    by_design = observation.distribution is Distribution.SOME_REFUSED
    outcomes = dict.fromkeys(attempt.outcome for attempt in observation.attempts)
    others = tuple(what for what in outcomes if not (by_design and what is Outcome.REFUSED))
    return others or (observation.outcome,)


def _never_met(findings: Findings, outcomes: tuple[Outcome, ...]) -> Ruling:
    """Fail an expectation that no attempt met; an answered attempt proves this vantage."""
    ruling, detail = _failed(findings), findings.proof.why_failed
    proven = any(outcome.positive for outcome in outcomes)
    if ruling.verdict is Verdict.UNKNOWN and not proven:
        return ruling
    brought = [*outcomes, *findings.observation.sources_seen]
    why = f"no attempt met the expectation, but: {', '.join(result.value for result in brought)}"
    return Ruling(Verdict.FAIL, f"{why}; {detail}" if detail else why, "failure")


def _all_fail_as_expected(expected: Expected, observation: Observation) -> bool:
    """Whether each attempt failed in one of the ways that the documents do not distinguish."""
    outcomes = {attempt.outcome for attempt in observation.attempts}
    return (
        bool(expected.alternatives)
        and not expected.outcome.positive
        and outcomes <= set(expected.outcomes)
    )


def _ports_differ(findings: Findings) -> Ruling:
    """Fail a target whose ports differ: a single port meets neither claim nor limitation.

    A port that answers proves, like a vantage control, that this vantage works.
    """
    ruling = _failed(findings)
    proven = any(port.outcome.positive for port in findings.observation.differing_ports)
    if ruling.verdict is Verdict.UNKNOWN and not proven:
        return ruling
    return Ruling(Verdict.FAIL, findings.proof.why_failed, "parting")


def _wrong_backend(findings: Findings) -> Ruling | None:
    observation, backends = findings.observation, findings.check.target.backends
    if observation.unexpected_addresses:
        why = f"it resolved to {', '.join(observation.unexpected_addresses)}, not to the target's address"
        return Ruling(Verdict.FAIL, why, "misleading")
    strangers = [name for name in observation.backends if name not in backends] if backends else []
    if not strangers:
        return None
    why = f"answered by {', '.join(strangers)}, not by {' or '.join(backends)}"
    return Ruling(Verdict.FAIL, why, "failure")


def _unseen(findings: Findings) -> Ruling | None:
    """Do not judge a positive result of which no answer showed an asserted part."""
    expected, observation = findings.expected, findings.observation
    if expected is None or not observation.outcome.positive:
        return None
    if expected.source_seen is not None and observation.source_seen is None:
        why = "no answer says which source address the server saw"
    elif expected.distribution is not None and observation.distribution is None:
        why = "no answer says which backend it came from"
    else:
        return None
    return Ruling(Verdict.UNKNOWN, why, "distrust")


_COMPARED = {
    (Outcome.CONFORMS, Outcome.CONFORMS): "as documented",
    (Outcome.CONFORMS, Outcome.DEVIATES): "not as documented",
    (Outcome.DEVIATES, Outcome.DEVIATES): "deviates, as expected",
    (Outcome.DEVIATES, Outcome.CONFORMS): "expected to deviate, and does not",
}
"""What is read or started, and compared with what documents say of it."""


def _compared(findings: Findings) -> Ruling:
    limitation, expected = findings.expectation.limitation, findings.expected
    claim, observation = findings.expectation.claim, findings.observation
    claimed = _matches(claim, observation)
    # The outcome of the claim may be among several that the documents allow.
    both = expected is not None and expected.alternatives and claim.outcome in expected.outcomes
    if _matches(expected, observation) and limitation and not (both and claimed):
        ruling = Ruling(Verdict.LIMITED, documented(limitation))
    elif _matches(expected, observation) or (both and claimed):
        ruling = Ruling(Verdict.PASS)
    elif limitation and claimed:
        why = f"limitation {limitation.id} no longer shows; update the manifest"
        ruling = Ruling(Verdict.LIFTED, why, "lifting")
    else:
        return _failed(findings)
    if lacking := findings.proof.lacking:
        return Ruling(Verdict.UNKNOWN, f"not proven: {lacking}", "no-proof")
    return ruling


def _failed(findings: Findings) -> Ruling:
    proof, existing = findings.proof, findings.check.target.existing
    if proof.vantage_fails:
        return Ruling(Verdict.UNKNOWN, f"not proven: {proof.vantage_fails}", "no-proof")
    if existing is not None and not existing.own and proof.failed_target is not None:
        why = f"{proof.why_failed}: its owner may allow no clients from elsewhere"
        return Ruling(Verdict.RECORDED, why)
    return Ruling(Verdict.FAIL, proof.why_failed, "failure")


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
