"""Wait for the rollout of an edited DaemonSet: until its Pods are replaced, or one of them fails.

Used by ``edited_objects``. A rollout stops at the first Pod that does not become Ready, because the DaemonSet
controller replaces one Pod at a time: that counts as an end, too.
"""

import asyncio
from collections.abc import Iterable

from nettests.lab.client import Client, Json
from nettests.lab.client.informer import Informer
from nettests.lab.controllers.workloads import HASH_OF_REVISION, is_ready, owned_by, template_hash
from nettests.lab.errors import LabError

_SECONDS = 30


async def rolled_out(client: Client, path: str) -> None:
    """Return when the rollout of the DaemonSet at ``path`` is done or stuck; ``LabError`` after half a minute."""
    daemon = await client.get(path)
    pods = Informer(client, f"/api/v1/namespaces/{daemon['metadata']['namespace']}/pods")
    changed = asyncio.Event()
    pods.subscribe(lambda _key, _old, _new: changed.set())
    following = asyncio.create_task(pods.run())
    try:
        async with asyncio.timeout(_SECONDS):
            while not settled(daemon, pods.objects.values()):
                await changed.wait()
                changed.clear()
    except TimeoutError as error:
        raise LabError(f"DaemonSet {daemon['metadata']['name']} was not rolled out.") from error
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


def settled(daemon: Json, pods: Iterable[Json]) -> bool:
    """Whether all Pods of a DaemonSet are new and Ready, or one of the new ones has failed."""
    daemon_pods = owned_by(daemon, pods)
    digest = template_hash(daemon["spec"]["template"])
    new = [
        pod
        for pod in daemon_pods
        if pod["metadata"].get("labels", {}).get(HASH_OF_REVISION) == digest
    ]
    wanted = daemon.get("status", {}).get("desiredNumberScheduled", 0)
    done = len(new) == len(daemon_pods) == wanted and all(map(is_ready, new))
    return done or any(map(_failed, new))


def _failed(pod: Json) -> bool:
    containers = pod.get("status", {}).get("containerStatuses") or ()
    return any(
        "terminated" in container["state"] or container.get("restartCount")
        for container in containers
    )
