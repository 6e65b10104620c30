"""A node whose Service proxy is late: its Services did not answer by their deadline, and did in the end.

Beside ``evidence``. What was run after the rules had come is green and contradicts nothing, and what was run before is
silent as if the Service had no rules: where several Services of a node answered only after their deadline, its proxy is
the cause of what its other Services did not answer, too. The cluster's DNS is none of these: its rules are older than the run.
"""

from collections.abc import Iterable, Iterator, Mapping

from nettests.judge.advice import Late, late_service
from nettests.model.words import Outcome, Question
from nettests.report.incidents.search import Evidence
from nettests.report.incidents.traits import Kind, Trait, speaks_of_first_packets
from nettests.report.results import CheckResult

SEVERAL = 2
"""From so many Services on it is the node that is late, and not one of them."""


def late_rules(red: Mapping[str, CheckResult], evidence: Iterable[Evidence]) -> Iterator[Evidence]:
    """Yield that a node's rules came late, for each red check that waited for them or that they kept silent."""
    nodes = set(_late_nodes(red.values()))
    for clue in evidence if nodes else ():
        if not clue.red:
            continue
        result = red[clue.check]
        late = _late(result)
        proxies = {late.node} if late else _translated_by(clue) if _kept_silent(result) else set()
        for node in sorted(proxies & nodes):
            traits = frozenset({Trait(Kind.LATE_RULES, node)})
            yield Evidence(check=clue.check, traits=traits, red=True)


def _late_nodes(red: Iterable[CheckResult]) -> Iterator[str]:
    services: dict[str, set[str]] = {}
    for result in red:
        seen, late = result.observation, _late(result)
        by_name = result.check is not None and result.check.queries_dns
        if late and seen and seen.outcome.positive and not by_name:
            services.setdefault(late.node, set()).add(late.service)
    yield from (node for node, names in services.items() if len(names) >= SEVERAL)


def _late(result: CheckResult) -> Late | None:
    seen = result.observation
    return late_service(seen.late or "") if seen is not None else None


def _translated_by(clue: Evidence) -> set[str]:
    return {trait.value for trait in clue.traits if trait.kind is Kind.PROXY_NODE}


def _kept_silent(result: CheckResult) -> bool:
    """Whether a Service of the run did not answer a check; a new Pod tells of that by itself."""
    check, seen = result.check, result.observation
    if check is None or seen is None or check.action.question is Question.RESOLVE:
        return False
    outcomes = {seen.outcome, *(attempt.outcome for attempt in seen.attempts)}
    return Outcome.TIMED_OUT in outcomes or speaks_of_first_packets(check)
