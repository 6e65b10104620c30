"""Faults between the lab's API server and its users: throttling, resets, expired tokens, in a given share.

They act on incoming requests, before or after the server handles them, and only on users: the lab's own
components connect without TLS and keep working. Each fault draws random numbers from its own seed: over
many requests it keeps its share; which request is hit depends on their order.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from nettests.lab.apiserver import Access, failure, unauthorized

Trouble = Callable[[web.Request, Handler], Awaitable[web.StreamResponse]]
"""Serves a request, by calling the handler or instead of it."""

from_user: ContextVar[bool] = ContextVar("from_user", default=False)
"""Whether a user sent the request, for the hooks inside the server."""

RETRY_AFTER = "1"
LATEST_RESET = 0.5
"""Seconds after which a stream is reset."""


class Troubles:
    """The faults in force between users and server; ``middleware`` goes into the application."""

    def __init__(self) -> None:
        self._troubles: dict[object, Trouble] = {}

    def add(self, trouble: Trouble) -> Callable[[], object]:
        """Start a fault; return the function that ends it."""
        key = object()
        self._troubles[key] = trouble
        return partial(self._troubles.pop, key, None)

    def middleware(self) -> Middleware:
        """Return the middleware that applies the faults to every request."""

        @web.middleware
        async def serve(request: web.Request, handler: Handler) -> web.StreamResponse:
            from_user.set(request.secure)
            if not request.secure:
                return await handler(request)
            served = handler
            for trouble in self._troubles.values():
                served = _around(trouble, served)
            return await served(request)

        return serve


def _around(trouble: Trouble, handler: Handler) -> Handler:
    async def served(request: web.Request) -> web.StreamResponse:
        return await trouble(request, handler)

    return served


def throttling(rate: float, seed: int) -> Trouble:
    """Answer a share of requests like API priority and fairness: 429, plain text, Retry-After."""
    dice = random.Random(seed)  # noqa: S311  # a share, not a secret

    async def trouble(request: web.Request, handler: Handler) -> web.StreamResponse:
        if dice.random() >= rate:
            return await handler(request)
        return web.Response(
            status=429,
            text="Too many requests, please try again later.\n",
            headers={"Retry-After": RETRY_AFTER},
        )

    return trouble


def resets(rate: float, seed: int) -> Trouble:
    """Reset the connection of a share of requests: before they are served, or when the answer is ready.

    A stream (watch, exec, port-forward) is reset a moment after it began. In the second case the request
    has taken effect, which a client's retry has to cope with.
    """
    dice = random.Random(seed)  # noqa: S311  # as above

    async def trouble(request: web.Request, handler: Handler) -> web.StreamResponse:
        if dice.random() >= rate:
            return await handler(request)
        if request.headers.get("Upgrade") or "watch" in request.query:
            loop = asyncio.get_running_loop()
            timer = loop.call_later(dice.uniform(0, LATEST_RESET), _abort, request)
            try:
                return await handler(request)
            finally:
                timer.cancel()
        if dice.random() < 1 / 2:
            answer: web.StreamResponse = web.Response(status=500)
        else:
            answer = await handler(request)
        _abort(request)
        return answer

    return trouble


def expired_tokens(rate: float, seed: int, access: Access) -> Trouble:
    """Expire the tokens of a share of requests.

    An issued token stays expired; a kubeconfig's token is refused for this request only.
    """
    dice = random.Random(seed)  # noqa: S311  # as above

    async def trouble(request: web.Request, handler: Handler) -> web.StreamResponse:
        if dice.random() >= rate:
            return await handler(request)
        _, _, token = request.headers.get("Authorization", "").partition(" ")
        access.revoke(token)
        return failure(unauthorized())

    return trouble


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
