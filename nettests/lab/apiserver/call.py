"""The argument of request handlers, and the state of the whole server.

``Server`` has the parts that live as long as the application; ``Call`` is one request with its user, resource and
aiohttp request.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from nettests.lab.apiserver.access import Access
from nettests.lab.apiserver.generic_registry import Objects
from nettests.lab.apiserver.request import Request
from nettests.lab.apiserver.resources import Resource
from nettests.lab.apiserver.settings import ApiSettings, ChannelRequest, Ending, User
from nettests.lab.apiserver.status import ApiError, invalid, not_supported
from nettests.lab.apiserver.store import Store
from nettests.lab.interfaces import Dial, Kubelet


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The parts of a running API server."""

    store: Store
    objects: Objects
    access: Access
    kubelets: Mapping[str, Kubelet]
    """The kubelet of each node."""
    dial: Dial
    settings: ApiSettings
    requests: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """How often each verb, resource and subresource was requested."""
    watches: set[int] = field(default_factory=set)
    """Open watches, by ``id()``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One authorised request for a resource."""

    server: Server
    http: web.Request
    request: Request
    resource: Resource
    user: User

    @property
    def namespace(self) -> str:
        """The namespace of the path."""
        return self.request.namespace

    @property
    def name(self) -> str:
        """The object's name in the path."""
        return self.request.name

    @property
    def dry_run(self) -> bool:
        """Whether the request is a dry run; the only valid value is ``All`` (422 otherwise)."""
        values = self.http.query.getall("dryRun", [])
        for value in values:
            if value != "All":
                error = not_supported("dryRun", value, ("All",))
                raise ApiError(422, "Invalid", f' "" is invalid: {error.field}: {error.text}', {})
        return bool(values)

    @property
    def field_validation(self) -> str:
        """What to do with unknown fields: ``Ignore``, ``Warn`` or ``Strict``."""
        value = self.http.query.get("fieldValidation", "") or "Warn"
        if value not in {"Ignore", "Warn", "Strict"}:
            error = not_supported("fieldValidation", value, ("Ignore", "Strict", "Warn"))
            raise invalid(self.resource, "", [error])
        return value

    @property
    def accept(self) -> str:
        """The ``Accept`` header."""
        return str(self.http.headers.get("Accept", "*/*"))

    @property
    def include_object(self) -> str:
        """Which part of its object each row of a table includes."""
        return str(self.http.query.get("includeObject", "Metadata"))

    async def body(self) -> tuple[bytes, str]:
        """Return the body, and its content type with parameters."""
        return await self.http.read(), str(self.http.headers.get("Content-Type", ""))

    def channel(self, kind: str, node: str = "") -> ChannelRequest:
        """Describe the connection that this request opens, for faults."""
        return ChannelRequest(
            kind=kind, namespace=self.namespace, name=self.name, node=node, user=self.user.name
        )

    async def broken(self, channel: ChannelRequest) -> str | None:
        """Return why a fault keeps the channel from being opened, or ``None``."""
        hook = self.server.settings.faults.channel_down
        return None if hook is None else await hook(channel)

    def ending(self, channel: ChannelRequest) -> Ending:
        """Return how an exec ends for its client, which a fault may change."""
        hook = self.server.settings.faults.exec_ending
        return Ending.TOLD if hook is None else hook(channel)

    @asynccontextmanager
    async def cuttable(
        self, channel: ChannelRequest, cut: Callable[[], None]
    ) -> AsyncIterator[None]:
        """Register an open channel for the time of the block, so that faults can cut it."""
        faults = self.server.settings.faults
        handle = object()
        faults.channels[handle] = (channel, cut)
        try:
            yield
        finally:
            del faults.channels[handle]
