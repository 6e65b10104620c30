"""Faults of the API server, and of what goes through it to nodes: channels, exec, errors, tokens."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping

from nettests.lab.apiserver import ApiError, ChannelRequest, Ending, Request
from nettests.lab.apiserver.troubles import Trouble, expired_tokens, from_user, resets, throttling
from nettests.lab.client import Json
from nettests.lab.errors import LabError
from nettests.lab.faults.targets import Inject, Targets, Undo, number, seed, together

_DOWN_TEXT = "connect: connection refused"
GRACE_SECONDS = 40.0
"""How long a kubelet may be silent: ``--node-monitor-grace-period`` (50 s from 1.32 on)."""
_OF_KUBELETS = frozenset({"exec", "attach", "portforward", "log", "node-proxy"})
"""What the API requires of a kubelet; it proxies to Pods and Services past the kubelet."""
_CHANNELS = frozenset({"exec", "attach", "portforward", "pod-proxy", "service-proxy"})
"""What goes through a node to a container; logs stay readable, as they do when a runtime hangs."""


class ApiFaults:
    """Acts in the API server, in front of it, and between it and nodes."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets

    def actions(self) -> Mapping[str, Inject]:
        """Return what puts each kind in force."""
        return {
            "channel-down": self._channel_down,
            "kubelet-silent": self._kubelet_silent,
            "privileged-refused": self._privileged_refused,
            "exec-hangs": self._exec(Ending.NEVER),
            "exit-code-lost": self._exec(Ending.UNTOLD),
            "attach-silent": self._attach_silent,
            "api-errors": self._api_errors,
            "slow-api": self._slow_api,
            "api-throttling": self._api_throttling,
            "api-resets": self._api_resets,
            "expired-tokens": self._expired_tokens,
        }

    def _exec(self, ending: Ending) -> Inject:
        async def inject(options: Json) -> Undo:
            api, node = self._targets.api, self._targets.node(options)
            if api.exec_ending is not None:
                raise LabError(
                    "A fault of exec is in force already.", hint="nettests lab fault clear"
                )
            rate = number(options, "rate", 1)
            dice = random.Random(seed(options))  # noqa: S311  # a share, not a secret

            def ends(channel: ChannelRequest) -> Ending:
                struck = node in {None, channel.node} and dice.random() < rate
                return ending if struck else Ending.TOLD

            api.exec_ending = ends

            async def undo() -> None:
                api.exec_ending = None

            return undo

        return inject

    async def _attach_silent(self, options: Json) -> Undo:
        api, node = self._targets.api, self._targets.node(options)
        if api.attach_mute is not None:
            raise LabError(
                "A fault of attach is in force already.", hint="nettests lab fault clear"
            )
        api.attach_mute = lambda channel: node in {None, channel.node}

        async def undo() -> None:
            api.attach_mute = None

        return undo

    async def _channel_down(self, options: Json) -> Undo:
        node = self._targets.node(options)

        def concerned(channel: ChannelRequest) -> bool:
            return channel.kind in _CHANNELS and node in {None, channel.node}

        return self._refuse(concerned)

    async def _kubelet_silent(self, options: Json) -> Undo:
        """Stop a kubelet; after the grace period the node controller marks its node NotReady."""
        node = str(self._targets.node(options))
        open_again = self._refuse(
            lambda channel: channel.kind in _OF_KUBELETS and channel.node == node
        )
        seconds = number(options, "seconds", GRACE_SECONDS)
        return await together([open_again, await self._targets.silence.begin(node, seconds)])

    def _refuse(self, concerned: Callable[[ChannelRequest], bool]) -> Undo:
        """Refuse connections from the API server to nodes, and cut open ones."""
        api = self._targets.api

        async def broken(channel: ChannelRequest) -> str | None:
            if not concerned(channel):
                return None
            return f"dial tcp {self._address(channel.node)}:10250: {_DOWN_TEXT}"

        if api.channel_down is not None:
            raise LabError(
                "A fault of channels is in force already.", hint="nettests lab fault clear"
            )
        api.channel_down = broken
        api.cut(concerned)

        async def undo() -> None:
            api.channel_down = None

        return undo

    async def _privileged_refused(self, _options: Json) -> Undo:
        """Refuse new and changed Pods from now on; existing Pods are left alone."""
        self._targets.api.allow_privileged = False

        async def undo() -> None:
            self._targets.api.allow_privileged = True

        return undo

    async def _api_errors(self, options: Json) -> Undo:
        rate = number(options, "rate", 0.2)
        dice = random.Random(seed(options))  # noqa: S311  # a share, not a secret

        async def fail(_request: Request) -> None:
            if from_user.get() and dice.random() < rate:
                raise ApiError(500, "InternalError", "etcdserver: request timed out", {})

        return self._before_requests(fail)

    async def _slow_api(self, options: Json) -> Undo:
        seconds, rate = number(options, "seconds", 1.0), number(options, "rate", 1.0)
        dice = random.Random(seed(options))  # noqa: S311  # as above

        async def wait(_request: Request) -> None:
            if from_user.get() and dice.random() < rate:
                await asyncio.sleep(seconds)

        return self._before_requests(wait)

    async def _api_throttling(self, options: Json) -> Undo:
        return self._trouble(throttling(number(options, "rate", 0.2), seed(options)))

    async def _api_resets(self, options: Json) -> Undo:
        return self._trouble(resets(number(options, "rate", 0.2), seed(options)))

    async def _expired_tokens(self, options: Json) -> Undo:
        rate = number(options, "rate", 0.2)
        return self._trouble(expired_tokens(rate, seed(options), self._targets.access))

    def _trouble(self, trouble: Trouble) -> Undo:
        end = self._targets.troubles.add(trouble)

        async def undo() -> None:
            end()

        return undo

    def _before_requests(self, hook: Callable[[Request], Awaitable[None]]) -> Undo:
        if self._targets.api.before_request is not None:
            raise LabError(
                "A fault of the API server is in force already.", hint="nettests lab fault clear"
            )
        self._targets.api.before_request = hook

        async def undo() -> None:
            self._targets.api.before_request = None

        return undo

    def _address(self, node: str) -> str:
        try:
            return str(self._targets.profile.node(node).address)
        except KeyError:
            return "0.0.0.0"  # noqa: S104  # words of an error, nothing is bound
