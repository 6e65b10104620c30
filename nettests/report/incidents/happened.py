"""What most checks of an incident observed, as the verb of its sentence. Pure."""

import re
from collections import Counter
from collections.abc import Sequence

from nettests.model.observation import Observation
from nettests.model.words import Outcome, Verdict
from nettests.report.results import CheckResult
from nettests.resources import lines_of

UNJUDGED = "cannot be judged"
_HAPPENED = {
    Outcome(name): verb
    for name, _, verb in (
        line.partition(": ") for line in lines_of("nettests.report.incidents", "happened.txt")
    )
}


def happened(results: Sequence[CheckResult]) -> str:
    """Return what most of the checks observed, as a verb."""
    seen = Counter(
        _seen(result.observation)
        for result in results
        if result.observation is not None and result.verdict is not Verdict.UNKNOWN
    )
    if not seen:
        return UNJUDGED
    now_and_then = sum(map(_lost_some, results)) * 2 > len(results)
    otherwise = "get an answer only now and then" if now_and_then else "do not behave as documented"
    return _HAPPENED.get(seen.most_common(1)[0][0], otherwise)


_EXPIRED = re.compile(
    # sample: "Reply from 172.30.0.12: TTL expired in transit." (Windows)
    # sample: "From 172.30.0.12 icmp_seq=1 Time to live exceeded" (iputils)
    r"from (\S+?):? (?:icmp_seq=\d+ )?(?:TTL expired in transit|Time to live exceeded)",
    re.IGNORECASE,
)


def expired_at(results: Sequence[CheckResult]) -> str:
    """Return the address that told a sender that the TTL of its packets is used up; empty if none did."""
    matches = (_EXPIRED.search(each.detail) for result in results for each in result.attempts)
    return next((match[1] for match in matches if match), "")


def _lost_some(result: CheckResult) -> bool:
    outcomes = {attempt.outcome for attempt in result.attempts}
    return Outcome.TIMED_OUT in outcomes and any(outcome.positive for outcome in outcomes)


def _seen(observation: Observation) -> Outcome:
    """Return the outcome of a check, or of the Service it waited for if that did not answer."""
    waited = observation.late is not None and observation.outcome.positive
    return Outcome.TIMED_OUT if waited else observation.outcome
