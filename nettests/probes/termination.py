"""Delete a check's own Pod and note how it ends: when it is gone, and when its container ended.

Used by ``starting``. How long the Pod takes to go is measured by this machine's clock, and holds what the kubelet does
once the container has ended. When a server was told to end, and when its container ended, are both times of the Pod's
node, so that clocks that differ do not matter. ``parse.endings`` reads what is noted.
"""

import threading
import time
from contextlib import suppress
from typing import Any

from nettests.model.channel import ChannelError
from nettests.parse import endings
from nettests.probes.beside import begin
from nettests.probes.seams import Pods

Object = dict[str, Any]

TOLD_PAUSE_SECONDS = 1.0
"""Between two looks at the log of a server that is to be told to end; it may not be read once its Pod is gone."""


def ended(pods: Pods, item: Object) -> Object:
    """Delete the Pod by its own grace period and measure until it is gone."""
    namespace, name, grace = _of(item)
    began = time.monotonic()
    pods.delete_pod(namespace, name)
    gone = pods.wait_gone(namespace, name, seconds=2 * grace)
    return {"seconds": round(time.monotonic() - began, 1), "gone": gone, "grace": grace}


def terminated(pods: Pods, item: Object) -> Object:
    """Delete the Pod likewise; note when its server was told to end, and how and when its container ended."""
    namespace, name, grace = _of(item)
    container = str(item["spec"]["containers"][0]["name"])
    over = threading.Event()
    began = time.monotonic()
    pods.delete_pod(namespace, name)
    reading = begin(lambda _: _told(pods, (namespace, name, container), over))
    try:
        last, gone = pods.follow_end(namespace, name, seconds=2 * grace)
    finally:
        over.set()
    return {
        "seconds": round(time.monotonic() - began, 1),
        "gone": gone,
        "grace": grace,
        "told": reading.result(),
        **endings.end_of(last or {}, container),
    }


def _told(pods: Pods, names: tuple[str, str, str], over: threading.Event) -> str:
    """Return when the server says in its log that it was told to end; nothing where it never does."""
    while not over.wait(TOLD_PAUSE_SECONDS):
        with suppress(ChannelError):
            if moment := endings.told_to_end(pods.log_of(*names, timed=True)):
                return moment
    return ""


def _of(item: Object) -> tuple[str, str, float]:
    metadata = item["metadata"]
    grace = float(item["spec"]["terminationGracePeriodSeconds"])
    return metadata["namespace"], metadata["name"], grace
