"""The cause of an incident, worded as one sentence.

The last step, beside ``steps``, which words the next step.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from nettests.model.check import Check
from nettests.model.measured import SizeFinding
from nettests.model.visible import plural
from nettests.model.words import Outcome, Question, SourceSeen
from nettests.parse.first_packets import Lateness, lacked, lateness, lost_later
from nettests.report.incidents import untrusted
from nettests.report.incidents.happened import UNJUDGED, expired_at, happened
from nettests.report.incidents.hops import lost_directions
from nettests.report.incidents.large_amounts import amount_sentence, limits_of, sizes_of
from nettests.report.incidents.loss import Loss
from nettests.report.incidents.pathless import rules_of
from nettests.report.incidents.slowness import Slowness
from nettests.report.incidents.traits import (
    MEBIBYTE,
    TRANSPORTS,
    WITNESSED,
    Kind,
    Trait,
    speaks_of_first_packets,
)
from nettests.report.incidents.untrusted import listed
from nettests.report.results import CheckResult
from nettests.resources import lines_of

_TEXTS = [line.partition(": ") for line in lines_of("nettests.report.incidents", "phrases.txt")]
_OF_ONE, _SUBJECTS = (
    {Kind[name.split()[1]]: text for name, _, text in _TEXTS if name.startswith(use)}
    for use in ("cause", "subject")
)
"""Sentences for causes of a single trait, and what the others are about."""
_WITH_ERRORS = "answers with errors (SERVFAIL)"
_TO = {"other-node": " to other nodes", "outside": " to the outside"}
_WHOLE_OR_PODS = {"node": "{} itself", "pod": "Pods of {}"}
_STARTS = {"node": "nodes themselves", "external": "outside", "pod": "Pods"}
_ELSEWHERE = {"node": "other {} themselves", "external": "outside", "pod": "Pods of other {}"}
_SOME = 5
"""With more than one positive answer in this many checks, a failure is intermittent."""
_WHOSE = {
    SourceSeen.CLIENT_POD.value: "the client Pod's",
    SourceSeen.CLIENT_NODE.value: "that of the client's node",
    SourceSeen.TARGET_NODE.value: "that of the target node",
}


def cause_of(
    traits: Sequence[Trait], results: Sequence[CheckResult], *, smaller_arrive: bool = False
) -> str:
    """Return the cause of these red checks in one sentence without a full stop.

    ``smaller_arrive`` is whether a green check proves the same path for less than what failed.
    """
    of_family = [trait for trait in traits if trait.kind is Kind.FAMILY and len(traits) > 1]
    traits = [trait for trait in traits if trait not in of_family]
    sentence = _cause_of(traits, results)
    sizes = [trait.value for trait in traits if trait.kind is Kind.SIZE]
    if sizes and smaller_arrive and not limits_of(results) and UNJUDGED not in sentence:
        sentence += "; shorter ones do" if MEBIBYTE in sizes else "; small ones arrive"
    sentence += "".join(f" over {trait.value} alone" for trait in of_family)
    plain = UNJUDGED in sentence and not any(trait.kind in _OF_ONE for trait in traits)
    why = untrusted.shared_reason(results) if plain else ""
    return f"{sentence} ({why})" if why and why not in sentence else sentence


def _cause_of(traits: Sequence[Trait], results: Sequence[CheckResult]) -> str:
    of = {trait.kind: trait.value for trait in traits}
    happens = happened(results)
    for kind, sentence in _OF_ONE.items():
        if kind in of:
            return sentence.format(of[kind])
    if sentence := untrusted.cause(of, results):
        return sentence
    if Kind.SETTINGS in of:
        return _settings_cause(of[Kind.SETTINGS], results)
    if Kind.NAMES_OUTSIDE in of:
        where = f" from {of[Kind.SOURCE_NODE]}" if Kind.SOURCE_NODE in of else ""
        often = " now and then" if _sometimes(results) else ""
        return f"Names outside the cluster{often} do not resolve{where}"
    if answers := _of_answers(of, results):
        return answers
    if {Kind.NEW_PODS, Kind.MANY_PODS} & of.keys():
        return _new_pods_cause(of, results, happens)
    if {Kind.RULE, Kind.ON_NODE} & of.keys() and (cases := _case_cause(of, results, happens)):
        return cases
    if Kind.DNS in of or Kind.DNS_SERVICE in of:
        return _dns_cause(of, results)
    if Kind.PROPERTY in of or Kind.SEEN_AS in of:
        return _property_cause(of)
    if {Kind.SIZE, Kind.MUCH} & of.keys():
        return _amount_cause(of, results, happens)
    return f"{_subject(of)} {_direction_outcome(of, results) or _stale_answers(results) or happens}"


def _settings_cause(whose: str, results: Sequence[CheckResult]) -> str:
    cause = f"Settings of {whose} are not as documented ({listed(rules_of(results))})"
    seen = results[0].observation
    if len(results) > 1 or seen is None:
        return cause
    return f"{cause}: {seen.last_detail.partition(';')[0]}"


def _of_answers(of: Mapping[Kind, str], results: Sequence[CheckResult]) -> str:
    if {Kind.DENIAL, Kind.DNS_ERRORS} & of.keys():
        denied = f"denies {of[Kind.DENIAL]}" if Kind.DENIAL in of else _WITH_ERRORS
        return f"Cluster DNS {'now and then ' if _sometimes(results) else ''}{denied}"
    if Kind.UNCOMPLETED in of:
        where = f" on {of[Kind.SOURCE_NODE]}" if Kind.SOURCE_NODE in of else ""
        tool = of[Kind.UNCOMPLETED]
        return f"{tool} in Windows Pods{where} adds no DNS suffix to names that contain a dot"
    return ""


def _case_cause(of: Mapping[Kind, str], results: Sequence[CheckResult], happens: str) -> str:
    if Kind.ON_NODE in of:
        rules = f": {listed(names)}" if (names := rules_of(results)) else ""
        return f"Checks of {of[Kind.FLOW]} on {of[Kind.ON_NODE]} {happens}{rules}"
    return f"Pods of the test case {of[Kind.RULE]} {happens}" if _only_start(results) else ""


def _direction_outcome(of: Mapping[Kind, str], results: Sequence[CheckResult]) -> str:
    if (router := expired_at(results)) and {Kind.DIRECTION, Kind.LINK, Kind.POD_ROUTE} & of.keys():
        return f"do not arrive, because their TTL is used up on the way (reported by {router})"
    ways = lost_directions(results)
    if len(ways) == 1 and {Kind.DIRECTION, Kind.POD_ROUTE} & of.keys():
        return "do not arrive; those in the other direction do"
    if len(ways) > 1 and {Kind.LINK, Kind.POD_PAIR} & of.keys():
        return "do not arrive, in either direction"
    return ""


def _amount_cause(of: Mapping[Kind, str], results: Sequence[CheckResult], happens: str) -> str:
    if Kind.SIZE in of:
        return _size_cause(of, results, happens)
    node, system = of.get(Kind.SOURCE_NODE, ""), of.get(Kind.SOURCE_OS, "")
    return amount_sentence(of[Kind.MUCH], node, system, happens, judged=happens != UNJUDGED)


def _stale_answers(results: Sequence[CheckResult]) -> str:
    """Return who still answers at changed Services, if most of the checks observed stale rules."""
    stale = [
        result.observation for result in results if result.observation and result.observation.stale
    ]
    names = Counter(name for observation in stale for name in observation.backends)
    if 2 * len(stale) <= len(results):
        return ""
    if not names:
        return "get no answer after a change"
    return (
        f"are still answered by {listed([name for name, _ in names.most_common()])} after a change"
    )


def _named(protocol: str) -> str:
    return protocol.upper().replace(" AND ", " and ")


def _size_cause(of: Mapping[Kind, str], results: Sequence[CheckResult], happens: str) -> str:
    rest = dict(of)
    if rest.pop(Kind.SIZE) == MEBIBYTE:
        return f"{_subject(rest, f'Transfers of {MEBIBYTE}')} do not end in time"
    protocol = f"{_named(rest[Kind.PROTOCOL])} " if Kind.PROTOCOL in rest else ""
    limits = limits_of(results)
    if not limits:
        return f"{_subject(rest, f'Large {protocol}packets')} {happens}"
    carried = f"{protocol}packets" if protocol else "Packets"
    subject = _subject(rest, f"{carried} above {min(limits):,} bytes")
    clamped = any(size.finding is SizeFinding.CLAMP for size in sizes_of(results))
    late = "arrive only after ICMP has told their senders"
    verb = late if clamped else "do not arrive; smaller ones do"
    return f"{subject} {verb}: Pods need an MTU of {min(limits):,} bytes or less"


def _new_pods_cause(of: Mapping[Kind, str], results: Sequence[CheckResult], happens: str) -> str:
    node = of.get(Kind.NEW_PODS) or of[Kind.MANY_PODS]
    sentence = _first_packets(node, results) or f"New Pods on {node} {happens}"
    return sentence if Kind.NEW_PODS in of else f"{sentence} when many are made at once"


def _first_packets(node: str, results: Sequence[CheckResult]) -> str:
    """Return what new Pods on a node did not reach at first, and for how long; empty if unknown."""
    details = [result.observation.last_detail for result in results if result.observation]
    delays = [delay for delay in map(lateness, details) if delay]
    if not delays:
        if never := Counter(filter(None, map(lacked, details))).most_common(1):
            return f"New Pods on {node} reach {never[0][0]}"
        lost = Counter(filter(None, map(lost_later, details))).most_common(1)
        return f"New Pods on {node} lose requests to {lost[0][0]}" if lost else ""
    what = Counter(delay.what for delay in delays).most_common(1)[0][0]
    seconds = max(delay.seconds for delay in delays)
    return _new_pods_sentence(node, Lateness(what=what, seconds=seconds))


def _new_pods_sentence(node: str, late: Lateness) -> str:
    return f"New Pods on {node} reach {late.what} for their first {late.seconds:.0f} s"


def _sometimes(results: Sequence[CheckResult]) -> bool:
    """Whether more than a few of the checks had some attempts that went well."""
    seen = [result.observation for result in results if result.observation]
    well = sum(
        any(attempt.outcome.positive for attempt in observation.attempts) for observation in seen
    )
    return well * _SOME > len(seen)


def _only_start(results: Sequence[CheckResult]) -> bool:
    return all(
        result.check and result.check.action.question is Question.START for result in results
    )


def _dns_cause(of: Mapping[Kind, str], results: Sequence[CheckResult]) -> str:
    observed = [result.observation for result in results if result.observation is not None]
    if observed and not any(observation.trusted for observation in observed):
        return f"Checks of the cluster DNS cannot be judged{_where(of)}"
    seen = Counter(observation.outcome for observation in observed)
    outcome = seen.most_common(1)[0][0] if seen else None
    verb = {
        Outcome.NXDOMAIN: "denies names that exist",
        Outcome.REFUSED: "refuses queries",
        Outcome.SERVFAIL: _WITH_ERRORS,
        Outcome.RESOLVED: "answers wrongly",
    }.get(outcome or Outcome.TIMED_OUT, "does not answer")
    return f"Cluster DNS {verb}{_where(of)}"


def _where(of: Mapping[Kind, str]) -> str:
    parts = [
        f" at its Service address from {of[Kind.DNS_SERVICE]}" if Kind.DNS_SERVICE in of else "",
        f" from {of[Kind.SOURCE_NODE]}" if Kind.SOURCE_NODE in of else "",
        f" from {of[Kind.LEFT]}" if Kind.LEFT in of else "",
        f" from {of[Kind.DIRECTION]}" if Kind.DIRECTION in of else "",
        f" from {of[Kind.SOURCE_OS].capitalize()} nodes" if Kind.SOURCE_OS in of else "",
        f" through the Service proxy of {of[Kind.PROXY_NODE]}" if Kind.PROXY_NODE in of else "",
        f" at {of[Kind.TARGET_NODE]}" if Kind.TARGET_NODE in of else "",
        f" ({of[Kind.SYSTEMS]})" if Kind.SYSTEMS in of else "",
        f" {of[Kind.SOME_PODS]}" if Kind.SOME_PODS in of else "",
        f" over {_named(of[Kind.PROTOCOL])}"
        if of.get(Kind.PROTOCOL, TRANSPORTS) != TRANSPORTS
        else "",
        f" over {of[Kind.QUERIES_OVER].upper()}" if Kind.QUERIES_OVER in of else "",
    ]
    return "".join(parts)


def _property_cause(of: Mapping[Kind, str]) -> str:
    rest: dict[Kind, str] = {**of}
    name = rest.pop(Kind.PROPERTY, "source address")
    if seen := rest.pop(Kind.SEEN_AS, ""):
        address = f"another source address than {_WHOSE.get(seen, seen)}"
        return f"Servers see {address}{_connections(rest)}"
    sentences = {
        WITNESSED: "Captured packets contradict what servers report and settings imply",
        "source address": "Servers see another source address than documented",
        "session affinity": "Session affinity is not kept",
        "distribution": "Backends do not share connections as documented",
    }
    return sentences[name] + _connections(rest)


def _connections(of: Mapping[Kind, str]) -> str:
    where = _where(of)
    return f", for connections{where}" if where else ""


def _subject(of: Mapping[Kind, str], carried: str = "") -> str:
    rest = dict(of)
    if carried:
        rest.pop(Kind.PROTOCOL, None)  # already in the sentence
    else:
        carried = f"{_named(of[Kind.PROTOCOL])} packets" if Kind.PROTOCOL in of else "Packets"
    if Kind.TARGET in of and {Kind.ENTERED, Kind.NODE, Kind.DIRECTION} & of.keys():
        return _path_subject(rest, carried)
    for kind, text in _SUBJECTS.items():
        if kind in rest:
            value = rest.pop(kind)
            if kind is Kind.LEFT:
                value = _WHOLE_OR_PODS.get(rest.pop(Kind.VANTAGE, ""), "{}").format(value)
                value += _TO.get(rest.pop(Kind.PLACEMENT, ""), " to other nodes or outside")
            if kind in {Kind.POD_ROUTE, Kind.DIRECTION, Kind.ADDRESSED_BY}:
                value = value.replace(" → ", " to Pods of " if kind is Kind.POD_ROUTE else " to ")
            value = value.replace(" ↔ ", " and ")
            if "{carried}" in text:
                rest.pop(Kind.PROTOCOL, None)
            system = rest.pop(Kind.SOURCE_OS, "") if "{where}" in text else ""
            senders = f" (sent by {system.capitalize()} nodes)" if system else ""
            return text.format(carried=carried, value=value, where=senders) + _where(rest)
    return _path_subject(rest, carried)


def _path_subject(of: dict[Kind, str], carried: str) -> str:
    if Kind.TARGET in of:
        kind = of.pop(Kind.TARGET)
        vantage = of.pop(Kind.VANTAGE, "")
        start = {"node": " from nodes themselves", "external": " from outside"}.get(vantage, "")
        article = "an" if kind[0] in "aeiou" else "a"
        if Kind.NODE in of:
            return f"Connections to {article} {kind} with {of[Kind.NODE]} at either end{_where(of)}"
        if Kind.ENTERED in of:
            system = of.pop(Kind.SOURCE_OS, "") if vantage in {"node", "pod"} else ""
            others = f"{system.capitalize()} nodes".lstrip()
            whose = _ELSEWHERE.get(vantage, "other nodes or outside").format(others)
            return f"Connections from {whose} to {article} {kind} on {of[Kind.ENTERED]}{_where(of)}"
        start += " on its own node" if of.pop(Kind.PLACEMENT, "") == "same-node" else ""
        return f"Connections to {article} {kind}{start}{_where(of)}"
    if Kind.PROXY_NODE in of:
        node, start = of.pop(Kind.PROXY_NODE), _STARTS.get(of.pop(Kind.VANTAGE, ""), "")
        whose = f" from {start}" if start else ""
        return f"Connections{whose} through the Service proxy of {node}{_where(of)}"
    if Kind.PLACEMENT in of:
        within = of.get(Kind.SOURCE_NODE, "a node")
        place = {"other-node": "between nodes", "same-node": f"within {within}"}
        if (kind := of.pop(Kind.PLACEMENT)) == "same-node":
            of.pop(Kind.SOURCE_NODE, None)
        where = place.get(kind, "out of the cluster")
        of.pop(Kind.PROTOCOL, None)
        return f"{carried} {where}{_where(of)}"
    if Kind.FAMILY in of:
        return f"{of.pop(Kind.FAMILY)} {carried.lower()}{_where(of)}"
    if Kind.VANTAGE in of:
        return f"Connections from {_STARTS.get(of.pop(Kind.VANTAGE), 'the API')}{_where(of)}"
    of.pop(Kind.PROTOCOL, None)
    return f"{carried}{_where(of)}"


def cause_alone(check: Check | None, message: str) -> tuple[str, tuple[Trait, ...]]:
    """Return the cause of a check that shares it with no other, and the nodes involved.

    ``check`` has the action that made it red.
    """
    if check is None:
        return message, ()
    source, target = check.source.node, check.target.node
    if speaks_of_first_packets(check) and source and (late := lateness(message)):
        return _new_pods_sentence(source, late), (Trait(Kind.NEW_PODS, source),)
    nodes = dict.fromkeys(node for node in (source, target) if node)
    if check.action.question.has_path and source and target and source != target:
        trait = Trait(Kind.DIRECTION, f"{source} → {target}")
    elif nodes:
        trait = Trait(Kind.NODE, next(iter(nodes)))
    else:
        return message, ()
    return f"A single check ({trait.value}): {message}", (trait,)


def cause_of_slowness(slowness: Slowness) -> str:
    """Return how late answers are, and where."""
    of = {trait.kind: trait.value for trait in slowness.scope}
    late = f"are answered only after {slowness.least:.1f} s or more"
    if slowness.single:
        others = f"queries for IPv4 addresses (A) alone are answered sooner, and none of {slowness.single:,} was lost"
        return (
            f"Lookups in the cluster DNS{_where(of)} take {slowness.least:.1f} s or more; {others}"
        )
    if Kind.DNS in of or Kind.DNS_SERVICE in of:
        return f"Queries to the cluster DNS{_where(of)} {late}"
    if not of:
        return f"Packets across the cluster {late}"
    return f"{_subject(of)} {late}"


_SEVERAL = {Kind.PROXY_NODE, Kind.BACKEND, Kind.TARGET, Kind.DNS, Kind.DNS_SERVICE}
"""Traits that lead to several backends: a backend that is gone looks like a lossy path."""


def cause_of_loss(loss: Loss) -> str:
    """Return how much is lost, and where."""
    of = {trait.kind: trait.value for trait in loss.scope}
    packets = f"{_named(of[Kind.PROTOCOL])} packets" if Kind.PROTOCOL in of else "Packets"
    if Kind.DNS_SERVICE in of:
        what = f"Queries to the cluster DNS at its Service address from {of[Kind.DNS_SERVICE]}"
    elif Kind.DNS in of:
        what = "Queries to the cluster DNS"
    elif Kind.PROXY_NODE in of:
        what = f"{packets} through the Service proxy of {of[Kind.PROXY_NODE]}"
    elif of.keys() - {Kind.PROTOCOL}:
        what = _subject(of)
    else:
        what = f"{packets} across the cluster"
    figures = []
    if loss.lost or not (loss.resent or loss.unclear):
        figures.append(f"{loss.lost:,} of {loss.attempts:,} attempts got no answer")
    if loss.resent:
        answer = "one" if figures else "an answer"
        figures.append(f"{plural(loss.resent, 'check')} got {answer} only after a retransmission")
    if loss.unclear:
        figures.append(f"{plural(loss.unclear, 'check')} waited for a lost SYN or a busy probe")
    if loss.whole and not of.keys() & _SEVERAL:
        figures.append(
            f"{plural(loss.whole, 'TCP connection')} got none at all, as if one of several paths were broken"
        )
    often = "most of the time" if 2 * loss.lost > loss.attempts else "now and then"
    return f"{what} are lost {often}: {', '.join(figures)}"
