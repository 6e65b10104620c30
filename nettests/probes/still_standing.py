"""Check the deployed objects before each round of a watch for missing Pods and new addresses.

A node that reboots starts its Pods in new sandboxes: the Pod is the same, its address is not. With
the old address, every path to that node would look broken. A Pod that is not Ready, or was
replaced, counts as missing, with the reason, until it is Ready again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from nettests.model.check import Check
from nettests.model.grouping import grouped
from nettests.model.labels import RUN_LABEL
from nettests.probes.deployment import Deployment, StandingPod, StandingService, standing_pod
from nettests.probes.seams import ShowsPods

GONE = "no longer stands"
STARTED_AGAIN = "was started again while this was run"


def still_standing(
    cluster: ShowsPods, deployed: Deployment, labels: Mapping[str, str]
) -> Deployment:
    """Return what still exists of ``deployed``; ``ClusterError`` if the API does not answer."""
    if not deployed.pods:
        return deployed
    ready, why = cluster.standing_pods(
        deployed.namespace, deployed.pods.keys(), selector=f"{RUN_LABEL}={labels[RUN_LABEL]}"
    )
    now = {name: standing_pod(pod, deployed.pods[name].purpose) for name, pod in ready.items()}
    others = {name: pod for name, pod in now.items() if pod.uid != deployed.pods[name].uid}
    why = {**why, **dict.fromkeys(others, "another Pod has its name")}
    pods = {name: pod for name, pod in now.items() if name not in others}
    stale = dict(_stale(deployed, pods))
    return replace(
        deployed,
        pods=pods,
        services={
            name: service for name, service in deployed.services.items() if name not in stale
        },
        problems={
            **deployed.problems,
            **{name: f"pod {name} {GONE}: {reason}" for name, reason in why.items()},
            **stale,
        },
    )


def _stale(deployed: Deployment, pods: Mapping[str, StandingPod]) -> Iterator[tuple[str, str]]:
    """Yield Services whose EndpointSlices, created by the run, hold outdated Pod addresses."""
    for name, service in deployed.services.items():
        if service.settings is None or service.settings.by_hand is None:
            continue
        moved = next(_moved(service, deployed.pods, pods), None)
        if moved is not None:
            yield name, f"its EndpointSlices have the address that {moved} had before"


def _moved(
    service: StandingService, before: Mapping[str, StandingPod], now: Mapping[str, StandingPod]
) -> Iterator[str]:
    for name in service.backends:
        if name in before and name in now and before[name].addresses != now[name].addresses:
            yield name


def changes(before: Deployment, now: Deployment) -> Iterator[str]:
    """Yield messages, by node, about what happened to the Pods between two looks."""
    names = [*before.pods, *(name for name in now.pods if name not in before.pods)]
    both = [name for name in names if name in before.pods and name in now.pods]

    def moved(name: str) -> bool:
        return before.pods[name].addresses != now.pods[name].addresses

    def restarted(name: str) -> bool:
        return before.pods[name].containers != now.pods[name].containers

    def addresses(name: str) -> str:
        old, new = before.pods[name].addresses, now.pods[name].addresses
        return f"{name} from {', '.join(map(str, old))} to {', '.join(map(str, new))}"

    pods = {**before.pods, **now.pods}
    for phrase, changed, say in (
        (f"{GONE}:", (name for name in names if name not in now.pods), now.problems.__getitem__),
        ("stands again:", (name for name in names if name not in before.pods), str),
        ("changed its address:", filter(moved, both), addresses),
        (
            "was started again:",
            (name for name in both if restarted(name) and not moved(name)),
            lambda name: f"{name} ({ended})" if (ended := now.pods[name].ended) else name,
        ),
    ):
        nodes = grouped((pods[name].node, say(name)) for name in changed)
        for node, described in sorted(nodes.items()):
            yield f"on {node} {phrase} {'; '.join(described)}"


def started_again(pod: StandingPod) -> str:
    """Return the sentence about a Pod whose container was restarted, with how it had ended."""
    # sample: pod server-windows-1-1 was started again while this was run: Error, exit code 2: panic: …
    ended = f": {pod.ended}" if pod.ended else ""
    return f"pod {pod.name} {STARTED_AGAIN}{ended}"


def touched(check: Check, before: Deployment, now: Deployment) -> str:
    """Return that a Pod of the check was restarted or is gone since ``before``; else empty."""
    for name in (check.source.probe, check.target.pod or "", *check.target.backends):
        was, is_now = before.pods.get(name), now.pods.get(name)
        if was is not None and was != is_now:
            return started_again(is_now) if is_now else now.problems[name]
    return ""
