"""Delete a check's own Pod and record when it is gone, and when its container ended.

Used by ``starting``. The time until the Pod is gone is by this machine's clock, and includes the
kubelet's work after the container's end. The times of the server's signal and of its container's
end are both by the Pod's node, so clocks may differ. ``parse.endings`` reads the record.
"""

import threading
import time
from contextlib import suppress

from nettests.model.channel import ChannelError
from nettests.model.json_text import Object
from nettests.parse import endings
from nettests.probes.pending import begin
from nettests.probes.seams import Pods

TOLD_PAUSE_SECONDS = 1.0
"""Seconds between reads of a terminating server's log, which cannot be read once its Pod is gone."""


def ended(pods: Pods, item: Object) -> Object:
    """Delete the Pod with its own grace period, and measure the time until it is gone."""
    namespace, name, grace = _of(item)
    began = time.monotonic()
    pods.delete_pod(namespace, name)
    gone = pods.wait_gone(namespace, name, seconds=2 * grace)
    return {"seconds": round(time.monotonic() - began, 1), "gone": gone, "grace": grace}


def terminated(pods: Pods, item: Object) -> Object:
    """Do the same; record also when the server got its signal and how its container ended."""
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
    """Return when the server's log says that it was told to end; empty if it never does."""
    while not over.wait(TOLD_PAUSE_SECONDS):
        with suppress(ChannelError):
            if moment := endings.told_to_end(pods.log_of(*names, timed=True)):
                return moment
    return ""


def _of(item: Object) -> tuple[str, str, float]:
    metadata = item["metadata"]
    grace = float(item["spec"]["terminationGracePeriodSeconds"])
    return metadata["namespace"], metadata["name"], grace
