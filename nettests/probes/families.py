"""Which Pods lack an address of an IP family, as limitations of some clusters allow. Pure."""

from collections.abc import Iterator, Mapping

from nettests.model.check import Action
from nettests.model.words import Family, VantageKind
from nettests.probes.addresses import Directory
from nettests.probes.deployment import StandingPod


def why_lacking(action: Action, directory: Directory, documented: Mapping[str, str]) -> str:
    """Return why an action cannot run in its IP family, or an empty string.

    ``documented`` holds, by node pool, the limitation that allows its Pods a single family.
    """
    facts = directory.facts
    if not action.question.has_path or len(facts.families) < 2:
        return ""
    for pod in _parties(action, directory):
        limitation = documented.get(facts.node(pod.node).pool)
        if limitation is None or _has(pod, action.family):
            continue
        why = f"{pod.name} has no {action.family} address, which limitation {limitation} allows"
        if action.source.kind is VantageKind.NODE and pod.node == action.source.node:
            why += f": no Pod of its own could show that {pod.node} probes over {action.family}"
        return why
    return ""


def can_probe(probe: str, family: Family, directory: Directory) -> bool:
    """Whether a Pod has an address of a family to probe from; true for a missing Pod."""
    pod = directory.deployment.pods.get(probe)
    return pod is None or len(directory.facts.families) < 2 or _has(pod, family)


def _parties(action: Action, directory: Directory) -> Iterator[StandingPod]:
    """Yield the Pods that are source or target; for a node its servers, its controls' targets."""
    pods = directory.deployment.pods
    target = [action.target.pod] if action.target.pod else []
    names = [*target, *action.target.backends]
    if action.source.kind is VantageKind.POD:
        names.insert(0, action.source.probe)
    if action.source.kind is VantageKind.NODE:
        here = (pod for pod in pods.values() if pod.node == action.source.node)
        names += [pod.name for pod in here if pod.purpose == "server"]
    yield from (pods[name] for name in names if name in pods)


def _has(pod: StandingPod, family: Family) -> bool:
    return any(address.version == family.version for address in pod.addresses)
