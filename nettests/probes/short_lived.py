"""Short-lived objects of a run: Pods and workloads of checks, dry runs, captures, many Services.

``starting``, ``bulk_services`` and ``examine`` create them; preflight counts them for quotas. Pure.
"""

from collections import defaultdict
from collections.abc import Iterator

from nettests.bounds import Bounds
from nettests.model.check import Plan
from nettests.model.facts import ClusterFacts
from nettests.model.json_text import Object
from nettests.model.labels import HOSTNAME_LABEL
from nettests.model.words import Question
from nettests.model.workload import Workload
from nettests.probes.bulk_services import service
from nettests.probes.capturing import capture_pod
from nettests.probes.examine import case_of, tried
from nettests.probes.objects import Blank
from nettests.probes.start_objects import pod_of, pods_of


def short_lived_objects(
    plan: Plan, facts: ClusterFacts, blank: Blank, bounds: Bounds
) -> list[tuple[tuple[Object, ...], int]]:
    """Return groups of such objects, each with how many of them exist at the same time.

    A dry run of a Pod is checked against a quota but not counted: one at a time is enough.
    """
    by_node: defaultdict[tuple[str, str], list[Object]] = defaultdict(list)
    crowds: defaultdict[str, int] = defaultdict(int)
    singles: defaultdict[str, int] = defaultdict(lambda: bounds.starts_per_node)
    for action in (
        action for check in plan.checks for action in check.actions if action.makes_many_pods
    ):
        node = facts.node(action.source.node or "")
        name = node.hostname or node.name
        crowds[name] = max(crowds[name], action.connections)
    for workload in pods_of(plan, facts, blank):
        pod = pod_of(workload)
        where = pod["spec"]["nodeSelector"][HOSTNAME_LABEL]
        by_node[where, "Pod"].append(pod)
        if (
            workload["kind"] == Workload.DEPLOYMENT
        ):  # it has two Pods, or one that is being replaced
            by_node[where, "Pod"].append(pod)
            singles[where] += 1
        if workload is not pod:
            by_node[where, workload["kind"]].append(workload)
    probed = [check.action for check in plan.checks if check.action.question is Question.ADMIT]
    in_own_namespace = [action for action in probed if not case_of(action).level]
    items = [tried(action, blank.namespace, blank.pod_security) for action in in_own_namespace]
    pods = tuple(item for item in items if item["kind"] == "Pod")
    return [
        *(
            (tuple(items), max(crowds[where], singles[where]))
            for (where, _), items in by_node.items()
        ),
        *([(pods, 1)] if pods else []),
        *_services(plan, blank),
        *_captures(plan, facts, blank),
    ]


def _captures(
    plan: Plan, facts: ClusterFacts, blank: Blank
) -> Iterator[tuple[tuple[Object, ...], int]]:
    """Yield the capturing Pods, which exist on all nodes of a captured connection at once."""
    names = dict.fromkeys(name for check in plan.each for name in check.action.captured_on)
    pods = tuple(capture_pod(facts.node(name), blank) for name in names)
    if pods:
        yield pods, len(pods)


def _services(plan: Plan, blank: Blank) -> Iterator[tuple[tuple[Object, ...], int]]:
    """Yield the many Services, all of which exist at once, if a check tests them."""
    actions = (action for check in plan.checks for action in check.actions)
    numbers = {action.connections for action in actions if action.question is Question.SCALE}
    for number in numbers:
        yield tuple(service(ordinal, "", blank) for ordinal in range(1, number + 1)), number
