"""What admission and the namespace allow: privileges, Pod Security, quota, leftovers, ports."""

from fractions import Fraction

from nettests.model.labels import ENFORCED_LEVEL_LABEL
from nettests.model.visible import plural
from nettests.preflight.demand import full_name, left_open, needed, spelled
from nettests.preflight.evidence import Evidence, Finding, Level, Quota, note, ok, worst

POD_KINDS = {
    "pod-linux": "the probes' pods for Linux nodes",
    "pod-windows": "the probes' pods for Windows nodes",
    "node-linux": "hostNetwork pods, the vantage of Linux nodes",
    "node-windows": "HostProcess pods, the vantage of Windows nodes",
}
"""The kinds of Pods that admission may treat differently, in words."""
NODE_PORTS = (19080, 19081)
"""TCP and UDP ports of Pods in the host network (``manifests/probes``)."""
_LIVING = ("alive", "kept")
_STATED = ("requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
"""What every container must state if a quota limits it."""


def pod_security(evidence: Evidence) -> Finding:
    """Say which of a run's Pods the namespace's Pod Security level refuses."""
    topic, name = "Pod Security", evidence.facts.namespace
    if not name:
        return ok(topic, "a namespace of the run's own, at level privileged")
    level = evidence.facts.pod_security
    enforced = f"namespace {name} is at level {level.value or 'unknown'} ({level.origin})"
    # sample: the namespace's Pod Security level 'baseline' forbids hostNetwork and HostProcess
    skips = tuple(skip for skip in evidence.plan.skips if "Pod Security level" in skip.reason)
    present = {node.os for node in evidence.usable}
    stopped = all(f"pod-{os.value}" in evidence.refusals for os in present)
    worse = Level.BLOCKER if stopped else evidence.cost(skips)
    if not evidence.refusals and not skips:
        return ok(topic, f"{enforced}, which allows all Pods of a run")
    return Finding(
        topic=topic,
        level=worst((worse, Level.WARNING)),
        summary=f"{enforced}; {plural(len(skips), 'check')} left out",
        details=tuple(f"{POD_KINDS[kind]}: {why}" for kind, why in evidence.refusals.items()),
        next_step=f"label it {ENFORCED_LEVEL_LABEL}=privileged, or do without these checks",
    )


def privileged(evidence: Evidence) -> Finding:
    """Say whether the API server accepts privileged containers, and which checks that costs."""
    topic, fact = "privileged Pods", evidence.facts.privileged
    if fact.value is None:
        return note(topic, f"it is not known whether the API server accepts them: {fact.origin}")
    if fact.value:
        return ok(topic, "the API server accepts privileged and HostProcess containers")
    # sample: the API server takes no HostProcess containers: spec: Forbidden: hostProcess containers are …
    skips = tuple(skip for skip in evidence.plan.skips if "the API server takes no" in skip.reason)
    return Finding(
        topic=topic,
        level=worst((evidence.cost(skips), Level.NOTE)),
        summary="the API server accepts neither privileged nor HostProcess containers; "
        f"{plural(len(skips), 'check')} left out",
        details=(fact.origin,),
        next_step="start kube-apiserver with --allow-privileged=true, or do without these checks",
    )


def quota(evidence: Evidence) -> Finding:
    """Compare what a run creates with what the namespace's quotas leave."""
    topic = "quota"
    if not evidence.facts.namespace:
        return ok(topic, "a namespace of the run's own has none")
    if evidence.unread:
        return note(topic, f"quotas cannot be read: {evidence.unread}")
    wanted = needed(evidence.objects, evidence.passing, evidence.defaults)
    lacking = [
        limit for limit in evidence.quotas if wanted[limit.resource] > limit.hard - limit.used
    ]
    everything = [
        *evidence.objects,
        *(item for group in evidence.passing for item in group.objects),
    ]
    pods = [item for item in everything if item["kind"] == "Pod"]
    unstated = [
        limit
        for limit in evidence.quotas
        if (name := full_name(limit.resource)) in _STATED
        and name not in evidence.defaults
        and left_open(pods, name)
    ]
    lines = (
        *(_shortage(limit, wanted[limit.resource]) for limit in lacking),
        *(
            f"{limit.name}: every container has to state {full_name(limit.resource)}, "
            "and no LimitRange does so"
            for limit in unstated
        ),
    )
    if lines:
        return Finding(
            topic=topic,
            level=Level.BLOCKER,
            summary=f"namespace {evidence.facts.namespace} has no room for a run",
            details=lines,
            next_step="raise the quota, add a LimitRange with defaults, lower pods.resources in the "
            "cluster profile, or use another namespace",
        )
    if not evidence.quotas:
        return ok(topic, f"namespace {evidence.facts.namespace} has none")
    limits = plural(len(evidence.quotas), "limit")
    return ok(topic, f"{limits} of quotas leave{'s' if len(evidence.quotas) == 1 else ''} enough")


def _shortage(limit: Quota, wanted: Fraction) -> str:
    left, hard, need = (
        spelled(amount, limit.resource)
        for amount in (max(Fraction(0), limit.hard - limit.used), limit.hard, wanted)
    )
    return f"{limit.name}: {limit.resource} leaves {left} of {hard}; a run needs {need}"


def leftovers(evidence: Evidence) -> Finding:
    """Name the leftovers of earlier runs, and the run that holds the namespace."""
    topic, here = "leftovers", evidence.facts.namespace
    if evidence.unlisted:
        return note(topic, f"leftovers cannot be looked for: {evidence.unlisted}")
    holding = [
        leftover
        for leftover in evidence.remains
        if leftover.namespace == here and leftover.state in _LIVING
    ]
    lines = tuple(
        f"run {leftover.run} by {leftover.owner}: {leftover.state}, {plural(leftover.objects, 'object')} "
        f"in namespace {leftover.namespace}"
        for leftover in evidence.remains
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
            summary=f"{plural(len(lines), 'run')} left objects behind, or is going on",
            details=lines,
            next_step="nettests gc",
        )
    return ok(topic, "nothing is left of earlier runs")


def exposure(evidence: Evidence) -> Finding:
    """Name each port that is reachable from outside the pod network during a run."""
    topic, many = "exposure", len(evidence.exposed)
    if not many:
        return ok(topic, "nothing is reachable from outside the pod network")
    return Finding(
        topic=topic,
        level=Level.NOTE,
        summary=f"{plural(many, 'kind')} of ports are reachable from outside the pod network in a run",
        details=evidence.exposed,
    )
