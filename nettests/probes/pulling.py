"""Pull each image onto each node that needs it, before any check that needs it there.

One Pod per image and node, pinned, with tolerations and pull Secrets like every Pod of a run. It is
removed as soon as its container exists, whatever its program does. A failed pull is only recorded:
checks that need the image report it themselves.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import count

from nettests.bounds import Bounds
from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from nettests.model.check import Plan
from nettests.model.cluster_profile import Timing
from nettests.model.facts import ClusterFacts
from nettests.model.json_text import Object
from nettests.model.observation import Pull
from nettests.model.pod_problem import PULLS, STARTING, problem_of
from nettests.model.words import OS
from nettests.plan.images import needed_images
from nettests.probes.objects import Blank, outfitted
from nettests.probes.seams import Pods

LOOK_SECONDS = 1.0
"""Seconds between two looks whether the run was stopped (``ready`` limits the pulls)."""
_FAILED = PULLS | {
    *("InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable", "ImageInspectError"),
}


@dataclass(frozen=True, slots=True)
class _Wanted:
    image: str
    node: str
    pod: Object


def pulling_pods(plan: Plan, facts: ClusterFacts, blank: Blank) -> list[Object]:
    """Return the Pods that pull the images of ``plan``, by image and node."""
    return [wanted.pod for wanted in _wanted(plan, facts, blank)]


def pull_images(
    pods: Pods,
    plan: Plan,
    facts: ClusterFacts,
    *,
    blank: Blank,
    timing: Timing,
    on_progress: Callable[[int, int], None],
) -> tuple[Pull, ...]:
    """Pull every image onto every node that needs it; return the time or failure of each.

    ``on_progress`` gets the numbers of finished and of all pulls; its exceptions end the pulling.
    """
    wanted = list(_wanted(plan, facts, blank))
    on_progress(0, len(wanted))
    pool = ThreadPoolExecutor(Bounds.of(timing).pulls, "pull")
    try:
        pulls = [pool.submit(_pull, pods, image, blank.namespace, timing) for image in wanted]
        pending: set[Future[Pull]] = set(pulls)
        while pending:
            _, pending = wait(pending, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
            on_progress(len(pulls) - len(pending), len(pulls))
        return tuple(pull.result() for pull in pulls)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def image_is_there(pod: Object) -> bool:
    """Whether the Pod's container has got past its image pull."""
    for state in _states(pod):
        waiting = state.get("waiting")
        if waiting is None:
            return "running" in state or "terminated" in state
        reason = waiting.get("reason") or ""
        return bool(reason) and reason not in STARTING | _FAILED
    return False


def _wanted(plan: Plan, facts: ClusterFacts, blank: Blank) -> Iterable[_Wanted]:
    numbers = count(1)
    for needed in needed_images(plan, facts, blank.images):
        for name in needed.nodes:
            node = facts.node(name)
            item: Object = {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "name": f"pull-{next(numbers)}",
                    "namespace": blank.namespace,
                    "labels": dict(blank.labels),
                },
                "spec": {
                    "os": {"name": node.os.value},
                    "restartPolicy": "Never",
                    "terminationGracePeriodSeconds": 0 if node.os is OS.LINUX else 1,
                    "containers": [{"name": "pull"}],
                },
            }
            item = outfitted(item, node, blank)
            item["spec"]["containers"][0]["image"] = needed.image
            yield _Wanted(needed.image, name, item)


def _pull(pods: Pods, wanted: _Wanted, namespace: str, timing: Timing) -> Pull:
    name, began = wanted.pod["metadata"]["name"], time.monotonic()
    problem = ""
    try:
        pods.create(wanted.pod)
        pod = pods.follow_pod(
            namespace,
            name,
            settled=image_is_there,
            seconds=timing.ready,
            stuck=timing.stuck,
        )
        if not image_is_there(pod):
            problem = problem_of(pod, pods.events_of(namespace, name))
    except (ClusterError, ChannelError) as error:
        problem = error.message
    seconds = round(time.monotonic() - began, 3)
    pods.delete_pod(namespace, name)
    return Pull(image=wanted.image, node=wanted.node, seconds=seconds, problem=problem)


def _states(pod: Object) -> list[Object]:
    return [
        status.get("state", {}) for status in pod.get("status", {}).get("containerStatuses") or ()
    ]
