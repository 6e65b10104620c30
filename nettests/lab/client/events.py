"""Write the Events of components; repeated ones are counted.

Two shapes exist, as recorded from Kubernetes 1.36: the kubelet's (``count``, ``firstTimestamp``) and the
scheduler's (``eventTime``, ``action``). ``Recorder.run`` writes events in the background, in order; failures to
write one do not affect the component.
"""

import asyncio
import logging
from datetime import UTC, datetime
from itertools import count

from nettests.lab.client.rest import FAILURES, Client, Json

_LOG = logging.getLogger(__name__)
_MAX_REMEMBERED = 2000
_MAX_WAITING = 10_000


def timestamp(moment: datetime | None = None) -> str:
    """Return a moment, by default now, as in the API: ``2026-11-21T01:22:03Z``."""
    return (moment or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_timestamp() -> str:
    """Return a ``MicroTime`` of now: ``2026-11-21T01:22:50.556418Z``."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Recorder:
    """Writes the events of one component on one host."""

    def __init__(self, client: Client, component: str, host: str = "") -> None:
        self._client = client
        self._component = component
        self._host = host
        self._written: dict[tuple[str, ...], Json] = {}
        self._serial = count(int(datetime.now(UTC).timestamp() * 1e6))
        self._queue: asyncio.Queue[tuple[Json, Json | None]] = asyncio.Queue(_MAX_WAITING)

    async def run(self) -> None:
        """Write events until cancelled."""
        while True:
            event, patch = await self._queue.get()
            await self._send(event, patch)

    def kubelet(
        self, about: Json, kind: str, reason: str, message: str, container: str = ""
    ) -> None:
        """Record an event in the kubelet's format, about a Pod unless it says its kind; repeated ones are counted."""
        now = timestamp()
        key = (about["metadata"].get("uid", ""), kind, reason, message, container)
        previous = self._written.get(key)
        if previous is not None:
            previous["count"] += 1
            previous["lastTimestamp"] = now
            patch = {"count": previous["count"], "lastTimestamp": now}
            self._put(previous, patch)
            return
        event = {
            **self._frame(about, kind, reason, message),
            "source": {"component": self._component, "host": self._host},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "eventTime": None,
            "reportingComponent": self._component,
            "reportingInstance": self._host,
        }
        if container:
            event["involvedObject"]["fieldPath"] = f"spec.containers{{{container}}}"
        if len(self._written) < _MAX_REMEMBERED:
            self._written[key] = event
        self._put(event)

    def scheduler(self, about: Json, kind: str, reason: str, message: str, action: str) -> None:
        """Record an event in the scheduler's format (``events.k8s.io`` fields)."""
        self._put(
            {
                **self._frame(about, kind, reason, message),
                "source": {},
                "firstTimestamp": None,
                "lastTimestamp": None,
                "eventTime": micro_timestamp(),
                "action": action,
                "reportingComponent": self._component,
                "reportingInstance": f"{self._component}-lab",
            }
        )

    def _frame(self, about: Json, kind: str, reason: str, message: str) -> Json:
        metadata = about["metadata"]
        namespace = metadata.get("namespace", "default")
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": f"{metadata['name']}.{next(self._serial):x}",
                "namespace": namespace,
            },
            "involvedObject": {
                "kind": about.get("kind", "Pod"),
                "apiVersion": about.get("apiVersion", "v1"),
                "name": metadata["name"],
                "uid": metadata.get("uid", ""),
                "resourceVersion": metadata.get("resourceVersion", ""),
                **({"namespace": metadata["namespace"]} if "namespace" in metadata else {}),
            },
            "type": kind,
            "reason": reason,
            "message": message,
        }

    def _put(self, event: Json, patch: Json | None = None) -> None:
        try:
            self._queue.put_nowait((event, patch))
        except asyncio.QueueFull:
            _LOG.info("event %s dropped: too many are waiting", event["reason"])

    async def _send(self, event: Json, patch: Json | None) -> None:
        path = f"/api/v1/namespaces/{event['metadata']['namespace']}/events"
        try:
            if patch is None:
                await self._client.create(path, event)
            else:
                await self._client.patch(f"{path}/{event['metadata']['name']}", patch)
        except FAILURES as error:
            _LOG.debug("event %s lost: %s", event["reason"], error)
