"""Pods without an address of an IP family, as a limitation says: what they would have a part in is not asked. Pure.

Used by ``observe`` before a check is asked. A Pod that lacks a family although the documents promise it is no
matter of this module: its checks stay unknown, and ``dual-stack-pods`` fails.
"""

from collections.abc import Iterator, Mapping

from nettests.model.check import Ask
from nettests.model.words import Family, VantageKind
from nettests.probes.addresses import Directory
from nettests.probes.deployment import StandingPod


def why_lacking(ask: Ask, directory: Directory, documented: Mapping[str, str]) -> str:
    """Return why a question cannot be asked in its family, or nothing.

    ``documented`` names, by role, the limitation by which Pods there need not have both families.
    """
    facts = directory.facts
    if not ask.question.has_path or len(facts.families) < 2:
        return ""
    for pod in _parties(ask, directory):
        limitation = documented.get(facts.node(pod.node).role)
        if limitation is None or _has(pod, ask.family):
            continue
        why = f"{pod.name} has no {ask.family} address, which limitation {limitation} allows"
        if ask.source.kind is VantageKind.NODE and pod.node == ask.source.node:
            why += f": no Pod of its own could show that {pod.node} asks over {ask.family}"
        return why
    return ""


def can_ask(probe: str, family: Family, directory: Directory) -> bool:
    """Whether a Pod has an address from which it could ask in a family; one that does not stand is not judged."""
    pod = directory.deployment.pods.get(probe)
    return pod is None or len(directory.facts.families) < 2 or _has(pod, family)


def _parties(ask: Ask, directory: Directory) -> Iterator[StandingPod]:
    """Yield the Pods that ask or answer; for a node those that stand on it, which its controls ask."""
    pods = directory.deployment.pods
    target = [ask.target.pod] if ask.target.pod else []
    names = [*target, *ask.target.backends]
    if ask.source.kind is VantageKind.POD:
        names.insert(0, ask.source.probe)
    if ask.source.kind is VantageKind.NODE:
        here = (pod for pod in pods.values() if pod.node == ask.source.node)
        names += [pod.name for pod in here if pod.purpose == "server"]
    yield from (pods[name] for name in names if name in pods)


def _has(pod: StandingPod, family: Family) -> bool:
    return any(address.version == family.version for address in pod.addresses)
