"""Merge a check's raw answers into one observation, and decide whether it can be trusted.

Trust comes first: a failed channel, an answer that cannot be parsed, a probe that did not prove
where it runs, or connections that were not new make the whole observation untrusted. So do the
journal's records about a finished check (``observation_of``).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from nettests.model.check import Check, Target
from nettests.model.journal_records import Done
from nettests.model.measured import FlowCount, LossEstimate, PathSize, SizeFinding, estimate
from nettests.model.observation import Attempt, Observation, Raw, unusable
from nettests.model.service import ByHand, Change
from nettests.model.words import Distribution, Outcome, Question, SourceSeen, VantageKind
from nettests.parse import endpoint_changes, many_services
from nettests.parse.doubts import NO_DOUBTS, Doubts
from nettests.parse.first_packets import without_busy_nodes
from nettests.parse.lost_packets import ALONE, too_few_tries
from nettests.parse.many_flows import count
from nettests.parse.overload import telling
from nettests.parse.path_mtu import read_sizes
from nettests.parse.ports import by_port, differing_ports
from nettests.parse.read import DOUBT, read_controls, read_raw, read_resolution
from nettests.parse.reading import one_line
from nettests.parse.sources import classify_source, same_address
from nettests.parse.witness import witnessed_in

NO_ENDPOINTS = "nobody"
"""A pod name that no pod has: a Service that selects it has no endpoints."""
SEVERAL = "all servers"
"""Stands for a selector that matches all servers of the run."""
BEHIND = "behind"
"""The key in ``Raw.context`` for the Service's backend when it was probed, or ``NO_ENDPOINTS``."""
CHANGED = "changed"
"""The key in ``Raw.context`` for a change not in effect when this was probed, if ``BEHIND`` cannot express it."""
WAITED = "waited"
"""The key in ``Raw.context`` for the seconds that rules had to follow a change before this was probed anyway."""
REPEATED_PORTS_DIVISOR = 8
"""Up to one in eight source ports may repeat: two of 28000 random ports collide now and then, whereas a
kept-alive connection always shows the same port."""


def observe(
    check: Check,
    raws: Sequence[Raw],
    overloaded: Collection[int] = (),
    alone: int | None = None,
) -> Observation:
    """Return the observation of one check from all its recorded raw answers.

    ``overloaded`` lists attempts whose silence says nothing because their probe was overloaded;
    ``alone`` is an attempt whose silence is excused as the only datagram lost in the run.
    """
    probed = (raw for raw in raws if raw.purpose == "check")
    answers = sorted(probed, key=lambda raw: raw.attempt)  # attempts may run in parallel
    if not answers:
        return unusable(check.id, "nothing was probed")
    attempts = _attempts(check, answers, overloaded, alone)
    seen = _sources(check, answers, attempts)
    informative = without_busy_nodes(telling(answers, attempts))
    counted = _counted(informative, alone)
    distrust = (
        _lost_origin(check, raws)
        or _unusable(informative)
        or _too_few_connections(check, counted, left_out=len(attempts) - len(counted))
    )
    ports = differing_ports(attempts) if len(set(seen)) <= 1 else ()
    outcome = _outcome(counted, failed=bool(ports))
    outcomes = {attempt.outcome for attempt in counted}
    distribution = _distribution(check, counted)
    if distribution is Distribution.SOME_REFUSED:
        outcomes = outcomes - {Outcome.REFUSED}
        (outcome,) = outcomes
    sizes = read_sizes(check, answers) if check.action.question is Question.PATH_MTU else None
    flows = count(check.action.connections, attempts) if _counts_flows(check) else None
    loss = _loss(check, attempts, flows)
    if loss is not None or sizes is not None or flows is not None:
        outcome = _of_many(attempts, sizes, flows)
        outcomes = {outcome}
    return Observation(
        check=check.id,
        outcome=outcome,
        agreed=len(outcomes) <= 1 and len(set(seen)) <= 1,
        attempts=attempts,
        controls=read_controls(check, raws, outcome),
        source_seen=seen[-1] if seen else None,
        sources_seen=tuple(dict.fromkeys(seen)) if len(set(seen)) > 1 else (),
        server_saw=_last(attempt.server_saw for attempt in attempts),
        backends=_distinct(attempt.backend for attempt in attempts),
        distribution=distribution,
        unexpected_addresses=_unexpected_addresses(answers, attempts),
        stale=_stale(check, answers),
        differing_ports=ports,
        loss=loss,
        path_size=sizes,
        flows=flows,
        figure=_figure(check, answers),
        witnessed=witnessed_in(answers) if check.action.question is Question.WITNESS else (),
        trusted=distrust is None,
        distrust=distrust,
        channel=answers[-1].channel,
    )


def observation_of(
    check: Check, done: Done, raws: Sequence[Raw], doubts: Doubts = NO_DOUBTS
) -> Observation:
    """Return a finished check's observation, untrusted if ``done`` or a calibration says so."""
    raws = doubts.doubted(raws, check.target.node)
    seen = replace(
        observe(check, raws, done.overloaded, done.alone),
        late=done.late,
        resent=done.resent,
        slow=done.slow,
    )
    distrust = done.distrust
    if distrust is None and done.resent is None and done.slow is None:
        distrust = too_few_tries(check, seen.loss, raws)
    if distrust is None and not seen.outcome.positive:
        distrust = doubts.unserved(check.target) or None
    if distrust is None:
        return seen
    return replace(seen, trusted=False, distrust=distrust)


def _attempts(
    check: Check, answers: Sequence[Raw], overloaded: Collection[int], alone: int | None
) -> tuple[Attempt, ...]:
    read = read_resolution if check.action.question is Question.RESOLVE else read_raw
    return tuple(
        _marked(read(raw), overloaded=raw.attempt in overloaded, alone=raw.attempt == alone)
        for raw in answers
    )


def _marked(attempt: Attempt, *, overloaded: bool, alone: bool) -> Attempt:
    if alone:
        attempt = replace(attempt, detail=one_line(f"{ALONE}: {attempt.detail}"))
    return replace(attempt, overloaded=overloaded)


def changed_in_place(check: Check) -> bool:
    """Whether the check's Service is kept while its endpoints, ports or other objects change."""
    settings = check.target.settings
    return settings is not None and settings.change is not Change.RECREATED


def _stale(check: Check, raws: Sequence[Raw]) -> str | None:
    """Say which change of a Service its rules had not followed when the check ran anyway."""
    context = raws[-1].context
    within = f" in {context[WAITED]} s" if context.get(WAITED) else ""
    if sentence := context.get(CHANGED):
        return f"{sentence}{within}"
    behind = context.get(BEHIND)
    final = behind in check.target.backends
    if behind is None or (final and not within):
        return None
    named = final or behind in check.target.former
    change = f"recreated in front of {behind}" if named else "left without endpoints"
    if changed_in_place(check):
        change = f"left with {behind} as endpoints" if named or behind == SEVERAL else change
        change += " in place"
    return f"the Service was {change}, and its rules did not follow{within}"


def _counted(attempts: Sequence[Attempt], alone: int | None) -> tuple[Attempt, ...]:
    """Leave out the run's only lost datagram too, if it is one that nothing answered later."""
    return tuple(
        attempt
        for attempt in attempts
        if not attempt.overloaded and (attempt.outcome.positive or attempt.number != alone)
    )


def _outcome(attempts: Sequence[Attempt], *, failed: bool) -> Outcome:
    """Return the last outcome; if ports differ, the last negative one."""
    outcomes = [
        attempt.outcome for attempt in attempts if not (failed and attempt.outcome.positive)
    ]
    return outcomes[-1] if outcomes else Outcome.PROBE_FAILED


def _loss(
    check: Check, attempts: Sequence[Attempt], flows: FlowCount | None
) -> LossEstimate | None:
    if check.action.question is not Question.LOSS and not _counts_flows(check):
        return None
    if flows is not None and flows.ran_out:
        return None  # connections ran out; the path lost none
    if any(not attempt.outcome.positive and attempt.lost == 0 for attempt in attempts):
        return None
    return estimate(
        sum(attempt.tries for attempt in attempts), sum(attempt.lost for attempt in attempts)
    )


def _figure(check: Check, answers: Sequence[Raw]) -> str | None:
    """Return what was measured as text, for questions that measure something."""
    if check.action.question is Question.SCALE:
        return many_services.figure_of(answers)
    return endpoint_changes.figure_of(answers) if check.action.question is Question.DURING else None


def _counts_flows(check: Check) -> bool:
    return check.action.question is Question.FLOWS


def _of_many(
    attempts: Sequence[Attempt], sizes: PathSize | None, flows: FlowCount | None
) -> Outcome:
    """Return the outcome of all attempts: a time-out if none was answered or large packets vanish.

    If connections ran out, it is the outcome of the last failed attempt.
    """
    if flows is not None and flows.ran_out:
        failed = [attempt.outcome for attempt in attempts if not attempt.outcome.positive]
        return (
            failed[-1] if failed else Outcome.TIMED_OUT
        )  # only some connections of each train were answered
    answered = [attempt.outcome for attempt in attempts if attempt.outcome.positive]
    if sizes is not None and sizes.finding is SizeFinding.HOLE:
        return Outcome.TIMED_OUT
    if not answered:
        return next(attempt.outcome for attempt in attempts if not attempt.outcome.positive)
    return answered[0]


def _sources(check: Check, raws: Sequence[Raw], attempts: Sequence[Attempt]) -> list[SourceSeen]:
    return [
        classify_source(attempt.server_saw, raw.context, check.source.kind)
        for raw, attempt in zip(raws, attempts, strict=True)
        if attempt.server_saw is not None
    ]


def _unexpected_addresses(raws: Sequence[Raw], attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """Return resolved addresses that the target does not have, if the target's were recorded.

    A wildcard record in a search domain answers every name, so resolving alone proves nothing.
    """
    return _distinct(
        address
        for raw, attempt in zip(raws, attempts, strict=True)
        for address in attempt.addresses
        if raw.context.get("resolved") and not same_address(address, raw.context["resolved"])
    )


def _lost_origin(check: Check, raws: Sequence[Raw]) -> str | None:
    """Say why a node vantage's origin is not proven; others need no proof (trust rule 5)."""
    if check.source.kind is not VantageKind.NODE:
        return None
    silent = False
    for raw in reversed([raw for raw in raws if raw.purpose == "origin"]):
        if why := raw.context.get(DOUBT):
            return why
        reading = read_raw(raw)
        saw = reading.server_saw
        if saw is None:
            silent |= reading.outcome in _BY_THE_NETWORK
            continue
        node = raw.context.get("client-node", "")
        if same_address(saw, node):
            return None
        return f"{raw.probe} is not on its node: a target saw {saw}, the node has {node or 'none'}"
    # With no answer from any target, the origin is proven without the network; ``Done`` records a failure of that.
    return None if silent else f"nothing proves that {check.source.probe} runs on its node"


_BY_THE_NETWORK = frozenset({Outcome.TIMED_OUT, Outcome.UNREACHABLE})


def _unusable(attempts: Sequence[Attempt]) -> str | None:
    for attempt in attempts:
        if attempt.outcome is Outcome.PROBE_FAILED:
            return f"attempt {attempt.number}: {attempt.detail}"
    return None


def _too_few_connections(check: Check, attempts: Sequence[Attempt], left_out: int) -> str | None:
    """Say why these answers show no distribution; negative answers need not.

    Two backends prove several, however few the connections. A claim of one backend needs an answer
    on every connection that was not ``left_out``.
    """
    if check.action.question is not Question.DISTRIBUTE or not _all_positive(attempts):
        return None
    named = [attempt for attempt in attempts if attempt.backend is not None]
    one_backend = len({attempt.backend for attempt in named}) <= 1
    if one_backend and len(named) < check.action.connections - left_out:
        return f"{len(named)} of {check.action.connections} connections said which backend answered"
    ports = [attempt.source_port for attempt in attempts if attempt.source_port is not None]
    if not ports and one_backend:
        # Several backends need several connections, but one backend may have answered a single reused one.
        return "no connection told its client's port: nothing shows that they were new"
    repeated = len(ports) - len(set(ports))
    if repeated * REPEATED_PORTS_DIVISOR > len(ports):
        return f"{repeated} of {len(ports)} connections repeated a source port: they were not new"
    return None


def _distribution(check: Check, attempts: Sequence[Attempt]) -> Distribution | None:
    """Return whether one or several backends answered, or some connections were refused."""
    backends = _distinct(attempt.backend for attempt in attempts)
    if some_may_refuse(check.target) and _some_refused(attempts):
        return Distribution.SOME_REFUSED
    if check.action.question is not Question.DISTRIBUTE or not backends:
        return None
    if len(backends) > 1:
        return Distribution.SEVERAL_BACKENDS
    return Distribution.ONE_BACKEND if _all_positive(attempts) else None


def some_may_refuse(target: Target) -> bool:
    """Whether some connections may be refused because backends listen on different target ports."""
    return target.settings is not None and target.settings.by_hand is ByHand.MIXED_TARGET_PORTS


def _some_refused(attempts: Sequence[Attempt]) -> bool:
    """Whether some connections were refused and the rest had one positive outcome, not per port."""
    if by_port(attempts):
        return False
    outcomes = {attempt.outcome for attempt in attempts}
    answered = outcomes - {Outcome.REFUSED}
    return (
        len(outcomes) == 2 and len(answered) == 1 and all(outcome.positive for outcome in answered)
    )


def _all_positive(attempts: Sequence[Attempt]) -> bool:
    return bool(attempts) and all(attempt.outcome.positive for attempt in attempts)


def _distinct(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value is not None))


def _last(values: Iterable[str | None]) -> str | None:
    return next((value for value in reversed(list(values)) if value is not None), None)
