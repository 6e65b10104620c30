"""Turn check results into evidence: on which paths something failed, and which were up meanwhile.

Between ``traits`` and ``search``. A check is first of all evidence about its own path. If another
path decided its verdict (a Service that was waited for, a failed positive control), it is evidence
about that path; whatever its controls reached was up.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from nettests.judge.advice import Late, late_service
from nettests.judge.distrust import (
    busy,
    gone_pod,
    instrument,
    lost_api,
    lost_channel,
    misaddressed_node,
    missing_program,
    not_created,
    not_started,
    unready_node,
)
from nettests.model.check import Action, Check, Target, Vantage
from nettests.model.target_kinds import Owner
from nettests.model.words import (
    Outcome,
    Placement,
    Protocol,
    Question,
    SourceSeen,
    TargetKind,
    VantageKind,
    Verdict,
)
from nettests.parse.first_packets import NOTHING, lacked, lateness
from nettests.parse.late_answers import QUERIED_AGAIN
from nettests.report.incidents.hops import hops, replies
from nettests.report.incidents.scopes import PLACES
from nettests.report.incidents.search import RED, Evidence
from nettests.report.incidents.traits import (
    DISTRIBUTED,
    LARGE,
    Kind,
    Trait,
    is_named_outside,
    looks_names_up,
    queries_cluster_dns,
    speaks_of_first_packets,
    targets_service,
    traits_of,
)
from nettests.report.incidents.untrusted import distrusted
from nettests.report.incidents.wrong_answers import was_told_no
from nettests.report.results import CheckResult

_OF_THE_FLOW = frozenset({Kind.FLOW, Kind.CHANGED, Kind.MUCH, Kind.PROPERTY, Kind.SEEN_AS})
"""Traits of a check that its other paths (controls, waiting) did not exercise."""
_OF_THE_WAY = frozenset(
    {
        *(Kind.PLACEMENT, Kind.NODE, Kind.REMOTE_NODE, Kind.SOURCE_NODE, Kind.TARGET_NODE),
        *(
            *(Kind.LINK, Kind.DIRECTION, Kind.POD_PAIR, Kind.POD_ROUTE, Kind.POD_NETWORK),
            *(Kind.LEFT, Kind.ENTERED, Kind.HOST, Kind.HOST_SENDS, Kind.HOST_PAIR),
            *(Kind.ADDRESSED, Kind.ADDRESSED_BY, Kind.FORWARDED, Kind.OUTSIDE),
        ),
    }
)
"""Traits of the path that packets cross, independent of when rules were programmed."""


def evidence_of(result: CheckResult, nodes: Mapping[str, str]) -> Evidence:
    """Return a check's main evidence; ``nodes`` maps Pods to nodes."""
    red, green = result.verdict in RED, _green(result)
    if red and (waited := waited_for(result, nodes)):
        traits = _other_path_traits(waited, result, nodes)
        return Evidence(check=result.id, traits=traits, red=True)
    if red and (node := late_rules_of(result)):
        traits = frozenset({Trait(Kind.LATE_RULES, node), Trait(Kind.FORWARDED, node)})
        return Evidence(check=result.id, traits=traits, red=True)
    traits = _traits(result, nodes)
    if targets_service(result.planned):
        traits |= frozenset(
            hops(result.planned, traits, _relevant_backends(result, red=red), nodes)
        )
    several = len(result.planned.target.backends) > 1
    if red and several and len(silent := _relevant_backends(result, red=True)) == 1:
        traits |= {Trait(Kind.BACKEND, silent[0])}
    if red or _shows_replies(result):
        traits |= frozenset(replies(result.planned, result.planned.target.backends, nodes))
    if green and (not targets_service(result.planned) or result.planned.target.existing):
        traits = _as_old_rules_show(traits)
    of_port = result.planned.target.descriptor.owner is Owner.HOST_PORT
    if green and (of_port or targets_service(result.planned)):
        # Translated packets do not come from or to the host's own programs.
        traits = frozenset(trait for trait in traits if trait.kind is not Kind.HOST_PAIR)
    if green and result.planned.placement is Placement.NOWHERE:
        traits = frozenset(trait for trait in traits if trait.kind not in _OF_THE_WAY)
    return Evidence(check=result.id, traits=traits, red=red, green=green)


def beside(result: CheckResult, nodes: Mapping[str, str]) -> Iterator[Evidence]:
    """Yield more evidence from a red check: its controls' paths, and its own if that was up."""
    if result.observation is None or result.verdict not in RED:
        return
    shown = {control.proves: control.ok for control in result.observation.controls}
    for control in result.planned.controls:
        if control.proves not in shown:
            continue
        probed = _with_action(result.planned, control.action)
        if shown[control.proves]:
            name = f"{result.id} ({control.proves} control)"
            yield Evidence(check=name, traits=_control_traits(probed, nodes), green=True)
        elif result.verdict is Verdict.UNKNOWN and result.observation.trusted:
            traits = _other_path_traits(probed, result, nodes)
            if control.action.question is Question.DISTRIBUTE:
                traits |= {Trait(Kind.PROPERTY, DISTRIBUTED)}
            yield Evidence(check=result.id, traits=traits, red=True)
    waited = waited_for(result, nodes) or late_rules_of(result)
    if waited and _answered_well(result):
        # The rules may have come late, but in the end packets got through.
        crossed = traits_of(result.planned) | frozenset(
            hops(
                result.planned,
                traits_of(result.planned),
                _relevant_backends(result, red=False),
                nodes,
            )
        )
        kept = frozenset(trait for trait in crossed if trait.kind in _OF_THE_WAY)
        yield Evidence(check=f"{result.id} (its answer)", traits=kept, green=True)


def way_of_new_pods(result: CheckResult) -> Iterator[Evidence]:
    """Yield the path between a new Pod's node and the other node whose Pod it never reached."""
    check, seen = result.planned, result.observation
    if seen is None or not speaks_of_first_packets(check):
        return
    detail = seen.last_detail
    if result.verdict not in RED or lateness(detail) or not _reached_no_pod(lacked(detail)):
        return
    source = replace(check.source, kind=VantageKind.POD)
    target = replace(check.target, kind=TargetKind.POD_IP, service=None)
    probed = _with_action(
        check, replace(check.action, source=source, target=target, question=Question.REACH)
    )
    kept = frozenset(trait for trait in traits_of(probed) if trait.kind in _OF_THE_WAY)
    yield Evidence(check=result.id, traits=kept, red=True)


def _reached_no_pod(what: str) -> bool:
    return what == NOTHING or "no Pod" in what.split(" and ")


def way_to_dns(result: CheckResult, dns_node: str) -> Iterator[Evidence]:
    """Yield evidence on the path between a check's node and the only node with cluster DNS Pods.

    A name may fail to resolve because of loss on it, over UDP, which resolvers use, unless a server
    denied it. A resolved name may come from a cache: only a DNS client proves that the path is up.
    """
    check, node = result.planned, result.planned.source.node
    if not node or node == dns_node:
        return
    if not any(of(check) for of in (queries_cluster_dns, looks_names_up, speaks_of_first_packets)):
        return
    itself = check.target.descriptor.name_server
    red, green = result.verdict in RED and not was_told_no(result), itself and _green(result)
    if _no_path(result, {}) or not (red or green):
        return
    protocol = check.action.protocol if itself else Protocol.UDP
    target = Target(kind=TargetKind.POD_IP, node=dns_node)
    probed = _with_action(check, Action(source=check.source, target=target, protocol=protocol))
    traits = traits_of(probed) | frozenset(replies(probed, (), {}))
    kept = frozenset(trait for trait in traits if trait.kind in {*_OF_THE_WAY, Kind.PROTOCOL})
    name = result.id if red else f"{result.id} (its query)"
    yield Evidence(check=name, traits=kept, red=red, green=green)


def struck(result: CheckResult, nodes: Mapping[str, str]) -> Check:
    """Return the check with the action that made it red: its own, or that of another path."""
    if waited := waited_for(result, nodes):
        return waited
    if result.observation is None or result.verdict is not Verdict.UNKNOWN:
        return result.planned
    failed = {control.proves for control in result.observation.controls if not control.ok}
    actions = [control.action for control in result.planned.controls if control.proves in failed]
    return _with_action(result.planned, actions[0]) if actions else result.planned


def waited_for(result: CheckResult, nodes: Mapping[str, str]) -> Check | None:
    """Return the check as its Service was waited for, if that wait is why it is red.

    The waiting Pod is on the node whose rules are in question, and probes ClusterIP or name.
    """
    check, seen = result.planned, result.observation
    late = late_service(seen.late or "") if seen is not None else None
    if late is None or not _answered_well(result):
        return None
    actions = (check.action, *(control.action for control in check.controls))
    action = next((action for action in actions if action.target.service == late.service), None)
    return _with_action(check, _waiting_action(action, late, nodes)) if action else None


def late_rules_of(result: CheckResult) -> str | None:
    """Return the node whose rules came late, if the check does not involve the late Service.

    The run created that Service last and no check targets it: all rules of the node are late.
    """
    check, seen = result.planned, result.observation
    late = late_service(seen.late or "") if seen is not None else None
    if late is None or not _answered_well(result):
        return None
    actions = (check.action, *(control.action for control in check.controls))
    return None if any(action.target.service == late.service for action in actions) else late.node


def _waiting_action(action: Action, late: Late, nodes: Mapping[str, str]) -> Action:
    source = Vantage(kind=VantageKind.POD, probe=late.probe, node=late.node)
    target = action.target
    if not target.descriptor.awaited_itself:
        of = {nodes[pod] for pod in target.backends if pod in nodes}
        kind = TargetKind.SERVICE_FQDN if target.name_form else TargetKind.SERVICE_CLUSTERIP
        target = replace(target, kind=kind, node=of.pop() if len(of) == 1 else None, os=None)
    return replace(action, source=source, target=target, question=Question.REACH)


def _with_action(check: Check, action: Action) -> Check:
    return replace(check, action=action, placement=_placement(action))


def _placement(action: Action) -> Placement:
    source, target = action.source.node, action.target.node
    if not source or not target:
        return Placement.NOWHERE
    return Placement.SAME_NODE if source == target else Placement.OTHER_NODE


def _other_path_traits(
    probed: Check, result: CheckResult, nodes: Mapping[str, str]
) -> frozenset[Trait]:
    if _no_path(result, nodes):
        return _traits(result, nodes)
    traits = frozenset(trait for trait in traits_of(probed) if trait.kind not in _OF_THE_FLOW)
    if targets_service(probed):
        traits |= frozenset(hops(probed, traits, probed.target.backends, nodes))
    return traits | frozenset(replies(probed, probed.target.backends, nodes))


def _control_traits(probed: Check, nodes: Mapping[str, str]) -> frozenset[Trait]:
    traits = frozenset(trait for trait in traits_of(probed) if trait.kind not in _OF_THE_FLOW)
    if not targets_service(probed):
        return _as_old_rules_show(traits)
    only = probed.target.backends if len(probed.target.backends) == 1 else ()
    return traits | frozenset(hops(probed, traits, only, nodes))


def _relevant_backends(result: CheckResult, *, red: bool) -> Sequence[str]:
    """Return the backends a check is evidence about: those that answered if it is green, else the silent ones, or all."""
    backends, seen = result.planned.target.backends, result.observation
    if len(backends) < 2 or seen is None:
        return backends
    if not red:
        return seen.backends
    lacking = result.planned.action.question is Question.DISTRIBUTE and not seen.agreed
    silent = tuple(pod for pod in backends if pod not in seen.backends) if lacking else ()
    return silent or backends


def _as_old_rules_show(traits: frozenset[Trait]) -> frozenset[Trait]:
    """Return what a green check clears that needs no rule of the run: not whether new Services work."""
    return frozenset(trait for trait in traits if trait.kind is not Kind.PROXY_NODE)


def _answered_well(result: CheckResult) -> bool:
    """Whether a check failed only because its Service answered too late."""
    seen = result.observation
    return (
        result.verdict is Verdict.FAIL
        and seen is not None
        and seen.late is not None
        and seen.agreed
        and seen.outcome.positive
    )


def _shows_replies(result: CheckResult) -> bool:
    """Whether a green check proves the route back to the source Pod, whose address was seen."""
    own_address = result.planned.claim.source_seen is SourceSeen.CLIENT_POD
    pod = result.planned.target.kind is TargetKind.POD_IP
    return own_address and pod and result.verdict is Verdict.PASS


def _traits(result: CheckResult, nodes: Mapping[str, str]) -> frozenset[Trait]:
    """Return a check's traits; if no packet decided its verdict, only the trait of what did."""
    traits = _no_path(result, nodes) or traits_of(result.planned)
    seen = result.observation
    if seen is not None and seen.slow:
        traits -= {Trait(Kind.SIZE, LARGE)}  # small ones are late, too
    not_shown = set[Kind]()
    if result.verdict is Verdict.FAIL and seen is not None and not seen.outcome.positive:
        not_shown |= {Kind.PROPERTY, Kind.SEEN_AS}  # no answer showed the property
    if result.verdict is Verdict.LIMITED and targets_service(result.planned):
        not_shown |= {Kind.PROPERTY, Kind.SEEN_AS}  # documented to be missing there
    if is_named_outside(result.planned) and was_told_no(result):
        # The path to the DNS server is up, and nothing was sent to the owner of the name.
        not_shown |= {*PLACES, Kind.OUTSIDE, Kind.PLACEMENT, Kind.PROTOCOL}
    return frozenset(trait for trait in traits if trait.kind not in not_shown)


def _no_path(result: CheckResult, nodes: Mapping[str, str]) -> frozenset[Trait]:
    """Return the traits of a check that no packet decided; empty for all others."""
    undecided = result.expectation.undecided if result.expectation else None
    if result.verdict is Verdict.UNKNOWN and undecided:
        return frozenset({Trait(Kind.UNDECIDED, undecided)})
    late = result.observation.late if result.observation else None
    if result.verdict is Verdict.UNKNOWN and (busy(result.distrust) or busy(late)):
        return frozenset({Trait(Kind.OVERLOADED, "Probes")})
    if result.verdict is Verdict.UNKNOWN and (node := unready_node(result.distrust)):
        return frozenset({Trait(Kind.UNREADY, node)})
    if result.verdict is Verdict.UNKNOWN and (node := misaddressed_node(result.distrust)):
        return frozenset({Trait(Kind.ADDRESSES, node)})
    if result.verdict is Verdict.UNKNOWN and (node := _without_pod(result, nodes)):
        return frozenset({Trait(Kind.NOT_STARTED, node)})
    if result.verdict is Verdict.UNKNOWN and (refusal := not_created(result.distrust)):
        return frozenset({Trait(Kind.NOT_CREATED, refusal.why)})
    if result.verdict is Verdict.UNKNOWN and (pod := gone_pod(result.distrust)):
        node = _node_of(pod, result, nodes)
        traits = {Trait(Kind.GONE_POD, f"{pod} on {node}" if node else pod)}
        return frozenset({*traits, Trait(Kind.GONE_PODS, node)} if node else traits)
    if result.verdict is Verdict.UNKNOWN and (lost := _lost_at_source(result)):
        return lost
    if result.verdict is Verdict.LIFTED and result.limitation_id:
        return frozenset({Trait(Kind.LIMITATION, result.limitation_id)})
    return frozenset()


def _lost_at_source(result: CheckResult) -> frozenset[Trait]:
    """Return what made a source unusable, if the check cannot be judged for that reason."""
    sources = list(_distrusted_sources(result))
    if any(lost_api(why) for _, why in sources):
        return frozenset({Trait(Kind.LOST_API, "The API server")})
    for source, why in sources:
        if program := missing_program(why):
            return frozenset({Trait(Kind.MISSING_PROGRAM, f"{program} on {source.node}")})
        if lacking := instrument(why):
            return frozenset({Trait(Kind.INSTRUMENT, f"{lacking.name} of {source.pool}")})
    for lost in (source for source, why in sources if source.node and lost_channel(why)):
        traits = {Trait(Kind.LOST_PROBE, f"{lost.probe} on {lost.node}")}
        return frozenset({*traits, Trait(Kind.LOST_PROBES, lost.node or "")})
    if lacking := distrusted(result):
        pool = result.planned.source.pool or result.planned.target.pool
        return frozenset({Trait(Kind.INSTRUMENT, f"{lacking.name} of {pool}")})
    return frozenset()


def _distrusted_sources(result: CheckResult) -> Iterator[tuple[Vantage, str]]:
    """Yield the source of a check and of its failed controls, each with the reason for distrust."""
    yield result.planned.source, result.distrust
    controls = result.observation.controls if result.observation else ()
    failed = {control.proves: control.detail for control in controls if not control.ok}
    for control in result.planned.controls:
        if control.proves in failed:
            yield control.action.source, failed[control.proves]


def _without_pod(result: CheckResult, nodes: Mapping[str, str]) -> str | None:
    lacking = not_started(result.distrust)
    if lacking is None:
        return None
    return _node_of(lacking.pod, result, nodes) or result.planned.source.node


def _node_of(pod: str, result: CheckResult, nodes: Mapping[str, str]) -> str | None:
    if pod == result.planned.source.probe:
        return result.planned.source.node
    return nodes.get(pod) or result.planned.target.node


def _looked_up_late(result: CheckResult) -> bool:
    """Whether every answer waited too long for a name to show that DNS answers in time."""
    late = all(attempt.elapsed >= QUERIED_AGAIN for attempt in result.attempts)
    return late and bool(result.attempts) and result.planned.queries_dns


def _green(result: CheckResult) -> bool:
    if result.observation is None:
        return False
    seen = result.observation.outcome
    if _looked_up_late(result):
        return False
    if result.verdict is Verdict.PASS:
        # Expected silence proves nothing about a path; a refusal or NXDOMAIN is an answer.
        return seen is not Outcome.TIMED_OUT
    return result.verdict is Verdict.LIMITED and seen.positive
