"""What the namespace allows: its level of Pod Security, its quota, what earlier runs left, what a run exposes."""

from collections import Counter

from nettests.model.service import LOAD_BALANCER
from nettests.preflight.evidence import Evidence, Quota, counted
from nettests.preflight.finding import Finding, Level, worst

POD_KINDS = {
    "pod-linux": "the probes' pods for Linux nodes",
    "pod-windows": "the probes' pods for Windows nodes",
    "node-linux": "hostNetwork pods, the vantage of Linux nodes",
    "node-windows": "HostProcess pods, the vantage of Windows nodes",
}
"""The kinds of pods that admission may tell apart, and how people call them."""
NODE_PORTS = (19080, 19081)
"""TCP and UDP, where pods on a node's own network listen (``manifests/probes``)."""
_LIVING = ("alive", "kept")


def pod_security(evidence: Evidence) -> Finding:
    """Say what the namespace's admission makes of a run's pods."""
    topic, name = "Pod Security", evidence.facts.namespace
    if not name:
        text = "a namespace of the run's own, at level privileged"
        return Finding(topic=topic, level=Level.OK, summary=text)
    level = evidence.facts.pod_security
    said = f"namespace {name} is at level {level.value or 'unknown'} ({level.origin})"
    # sample: the namespace's Pod Security level 'baseline' forbids hostNetwork and HostProcess
    skips = tuple(one for one in evidence.plan.skips if "Pod Security level" in one.reason)
    present = {node.os for node in evidence.usable}
    stopped = all(f"pod-{os.value}" in evidence.refusals for os in present)
    worse = Level.BLOCKER if stopped else evidence.cost(skips)
    if not evidence.refusals and not skips:
        return Finding(topic=topic, level=Level.OK, summary=f"{said}; it takes all pods of a run")
    return Finding(
        topic=topic,
        level=worst((worse, Level.WARNING)),
        summary=f"{said}; {counted(len(skips), 'check')} left out",
        details=tuple(f"{POD_KINDS[kind]}: {why}" for kind, why in evidence.refusals.items()),
        next_step="label it pod-security.kubernetes.io/enforce=privileged, or go without these checks",
    )


def quota(evidence: Evidence) -> Finding:
    """Compare what a run makes with what the namespace's quotas leave."""
    topic = "quota"
    if not evidence.facts.namespace:
        text = "a namespace of the run's own has none"
        return Finding(topic=topic, level=Level.OK, summary=text)
    if evidence.unread:
        text = f"quotas cannot be read: {evidence.unread}"
        return Finding(topic=topic, level=Level.NOTE, summary=text)
    wanted = _wanted(evidence)
    lacking = [one for one in evidence.quotas if wanted.get(one.resource, 0) > one.hard - one.used]
    unstated = [one for one in evidence.quotas if _demands(one) - evidence.defaults]
    lines = (
        *(
            f"{one.name}: {one.resource} leaves {max(0, one.hard - one.used):g} of {one.hard:g}; "
            f"a run needs {wanted[one.resource]}"
            for one in lacking
        ),
        *(
            f"{one.name}: every container has to state {one.resource}, and no LimitRange does so"
            for one in unstated
        ),
    )
    if lines:
        return Finding(
            topic=topic,
            level=Level.BLOCKER,
            summary=f"namespace {evidence.facts.namespace} has no room for a run",
            details=lines,
            next_step="raise the quota, add a LimitRange with defaults, or use another namespace",
        )
    many = counted(len(evidence.quotas), "limit")
    return Finding(topic=topic, level=Level.OK, summary=f"{many} of quotas leave enough")


def _wanted(evidence: Evidence) -> Counter[str]:
    """Return what a run makes, by the names that quotas give it."""
    services = evidence.plan.services
    balanced = sum(one.settings.type == LOAD_BALANCER for one in services)
    ports = sum(3 for one in services if one.settings.type == "NodePort") + 2 * balanced
    pods = len(evidence.plan.pods)
    extra = 1 if services else 0  # the Service that shows which nodes know the others
    return Counter(
        {
            "pods": pods,
            "count/pods": pods,
            "services": len(services) + extra,
            "count/services": len(services) + extra,
            "services.nodeports": ports,
            "services.loadbalancers": balanced,
        }
    )


def _demands(one: Quota) -> set[str]:
    """Return the resource that a quota makes every container state."""
    spelled = {"cpu": "requests.cpu", "memory": "requests.memory"}
    name = spelled.get(one.resource, one.resource)
    compute = {"requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}
    return {name} & compute


def leftovers(evidence: Evidence) -> Finding:
    """Say what earlier runs left, and whether one of them holds the namespace."""
    topic, here = "leftovers", evidence.facts.namespace
    if evidence.unlisted:
        text = f"leftovers cannot be looked for: {evidence.unlisted}"
        return Finding(topic=topic, level=Level.NOTE, summary=text)
    holding = [one for one in evidence.remains if one.namespace == here and one.state in _LIVING]
    lines = tuple(
        f"run {one.run} by {one.owner}: {one.state}, {counted(one.objects, 'object')} "
        f"in namespace {one.namespace}"
        for one in evidence.remains
    )
    if holding:
        return Finding(
            topic=topic,
            level=Level.BLOCKER,
            summary=f"namespace {here} is held by run {holding[0].run}",
            details=lines,
            next_step="wait for its end, or use another namespace",
        )
    if lines:
        return Finding(
            topic=topic,
            level=Level.WARNING,
            summary=f"{counted(len(lines), 'run')} left something, or is going on",
            details=lines,
            next_step="nettests gc",
        )
    return Finding(topic=topic, level=Level.OK, summary="nothing is left of earlier runs")


def exposure(evidence: Evidence) -> Finding:
    """Name each port that can be reached from outside the pod network while a run is on."""
    topic, many = "exposure", len(evidence.exposed)
    if not many:
        text = "nothing is reachable from outside the pod network"
        return Finding(topic=topic, level=Level.OK, summary=text)
    return Finding(
        topic=topic,
        level=Level.NOTE,
        summary=f"{counted(many, 'kind')} of ports are reachable from outside the pod network in a run",
        details=evidence.exposed,
    )
