"""The components' client of the Kubernetes API: requests and resumed watches over HTTP.

Scheduler, node agents, controllers, service proxies and the DNS feeder use only this, so that the API
server behind it can be replaced. ``informer`` builds caches on it. Callers pass paths, not kinds.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Self

import aiohttp

Json = dict[str, Any]

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"

_WATCH_SECONDS = 300
_FIRST_RETRY = 0.1
_LAST_RETRY = 5.0
_EVENTS_KEPT = 1024


class ApiError(Exception):
    """The API answered with a ``Status``; ``status`` is the HTTP code, ``reason`` its reason."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message


FAILURES = (ApiError, aiohttp.ClientError, OSError)
"""What requests raise if the API refuses them or cannot be reached."""


class Client:
    """One component's connection pool. ``agent`` is its name, as field managers see it."""

    def __init__(
        self, base_url: str, token: str, *, agent: str, tls: ssl.SSLContext | None = None
    ) -> None:
        self.agent = agent
        self._base_url = base_url
        self._headers = {"Authorization": f"Bearer {token}", "User-Agent": agent}
        self._tls = tls
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(limit=0, ssl=self._tls or False)
        self._session = aiohttp.ClientSession(
            self._base_url,
            headers=self._headers,
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=10),
            read_bufsize=2**20,
            trust_env=False,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def get(self, path: str, **query: str) -> Json:
        """Return an object or a list."""
        return await self._send("GET", path, query=query)

    async def create(self, path: str, body: Json) -> Json:
        """POST ``body`` to a collection or subresource."""
        return await self._send("POST", path, body=body)

    async def replace(self, path: str, body: Json) -> Json:
        """PUT ``body``; a stale ``resourceVersion`` raises ``ApiError`` 409."""
        return await self._send("PUT", path, body=body)

    async def patch(self, path: str, body: Json, *, kind: str = MERGE) -> Json:
        """Apply a merge (or strategic merge) patch."""
        return await self._send("PATCH", path, body=body, content_type=kind)

    async def delete(self, path: str, body: Json | None = None) -> Json:
        """DELETE an object, with delete options in ``body``."""
        return await self._send("DELETE", path, body=body)

    async def ensure(self, path: str, body: Json) -> None:
        """POST ``body`` to a collection; no error if the object exists."""
        try:
            await self.create(path, body)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise

    async def remove(self, path: str) -> None:
        """DELETE an object; no error if it does not exist."""
        try:
            await self.delete(path)
        except ApiError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise

    async def watch(self, path: str, resource_version: str, **query: str) -> AsyncIterator[Json]:
        """Yield watch events from ``resource_version`` on until the server ends the watch.

        An ``ERROR`` event (410 Gone) is raised as ``ApiError``; the caller has to list again. Events must not
        be changed in place, because watches share them.
        """
        parameters = {
            "watch": "1",
            "resourceVersion": resource_version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(_WATCH_SECONDS),
            **query,
        }
        async with self._require().get(path, params=parameters) as response:
            await _raise_for_status(response)
            async for line in response.content:
                if not line.strip():
                    continue
                event = _read_event(line)
                if event["type"] == "ERROR":
                    raise _from_status(int(event["object"].get("code", 500)), event["object"])
                yield event

    async def _send(
        self,
        method: str,
        path: str,
        *,
        body: Json | None = None,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Json:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": content_type} if body is not None else {}
        async with self._require().request(
            method, path, params=query, data=data, headers=headers
        ) as response:
            await _raise_for_status(response)
            answer: Json = json.loads(await response.read())
            return answer

    def _require(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("the client is used outside its context")
        return self._session


def pod_path(pod: Json) -> str:
    """Return the path of a Pod."""
    metadata = pod["metadata"]
    return f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"


@lru_cache(maxsize=_EVENTS_KEPT)
def _read_event(line: bytes) -> Json:
    """Parse the line of a watch event, cached for clients that get the same line.

    With hundreds of nodes every kubelet and service proxy gets the same Services.
    """
    event: Json = json.loads(line)
    return event


async def _raise_for_status(response: aiohttp.ClientResponse) -> None:
    if response.status < HTTPStatus.BAD_REQUEST:
        return
    text = await response.text()
    try:
        status = json.loads(text)
    except json.JSONDecodeError:
        status = {"reason": response.reason or "", "message": text}
    raise _from_status(response.status, status)


def _from_status(code: int, status: Json) -> ApiError:
    return ApiError(code, str(status.get("reason", "")), str(status.get("message", "")))


class Retry:
    """Waits longer each time, up to five seconds; call ``reset`` after a success."""

    def __init__(self) -> None:
        self._delay = _FIRST_RETRY

    def reset(self) -> None:
        """Start with the shortest wait again."""
        self._delay = _FIRST_RETRY

    async def wait(self) -> None:
        """Sleep for the current delay and double it."""
        await asyncio.sleep(self._delay)
        self._delay = min(self._delay * 2, _LAST_RETRY)
