"""Create several Pods at once: each is created, followed and recorded by its own thread.

Used by ``starting``, which decides what is done with one Pod.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from nettests.bounds import Bounds
from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from nettests.model.json_text import Object


def followed(
    pods: Sequence[Object],
    bounds: Bounds,
    *,
    create: Callable[[Object], object],
    watch: Callable[[Object], Object],
) -> list[Object]:
    """Create all Pods; return each one's record with its name, or why it could not be followed."""

    def follow(item: Object) -> Object:
        name = {"name": item["metadata"]["name"]}
        try:
            return name | watch(item)
        except ChannelError as error:
            return name | {"error": error.message}

    with ThreadPoolExecutor(bounds.pods_at_once, "crowd") as threads:
        # All are created before the first one is watched, because watching takes requests too.
        created = list(threads.map(lambda item: _created(item, create), pods))
        return list(
            threads.map(lambda pair: pair[1] or follow(pair[0]), zip(pods, created, strict=True))
        )


def _created(item: Object, create: Callable[[Object], object]) -> Object:
    """Return an empty record for a Pod that was created, else its record."""
    try:
        create(item)
    except (ClusterError, ChannelError) as error:
        return {"name": item["metadata"]["name"], "error": error.message}
    return {}
