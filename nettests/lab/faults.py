"""Faults of a running lab, by name, at the level of the mechanism that would really fail.

``dns-down`` drops packets to port 53 of the DNS pod, ``dns-upstream-down`` those of the resolver that it forwards
to, ``service-rules-missing`` takes a Service's rules, or
those of one of its ports, from a node, ``slow-rules`` lets new ones wait, ``slow-pull`` and ``registry-down``
take a node's images and let pulls last or fail, ``channel-down`` breaks exec, port-forward and proxying to a node's
pods, ``kubelet-silent`` stops a node's kubelet; ``privileged-refused`` lets the API server be one without ``--allow-privileged``; ``api-errors`` and ``slow-api`` act in the API server, the faults of ``api_faults`` in front of it.
Nothing here knows what a check will see. Each fault says how it is undone.
"""

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from nettests.lab.api_faults import (
    Trouble,
    Troubles,
    expired_tokens,
    from_user,
    resets,
    throttling,
)
from nettests.lab.apiserver import Access, ApiError, ChannelRequest, Request
from nettests.lab.apiserver import Faults as ApiFaults
from nettests.lab.client import Json
from nettests.lab.errors import LabError
from nettests.lab.interfaces import Namespace
from nettests.lab.network.fabric import LabFabric
from nettests.lab.silence import Silence
from nettests.lab.topology import Profile

Undo = Callable[[], Awaitable[None]]
Inject = Callable[[Json], Awaitable[Undo]]

_DOWN_TEXT = "connect: connection refused"
GRACE_SECONDS = 40.0
"""How long a kubelet may be silent: ``--node-monitor-grace-period`` (50 s from 1.32 on)."""
_CHANNELS = frozenset({"exec", "attach", "portforward", "pod-proxy", "service-proxy"})
"""What goes through a node to a container; logs stay readable, as they do when a runtime hangs."""
_OF_KUBELETS = frozenset({"exec", "attach", "portforward", "log", "node-proxy"})
"""What the API asks of a kubelet; it proxies to Pods and Services past the kubelet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """A fault in force."""

    number: int
    name: str
    options: Json
    undo: Undo


class Faults:
    """The faults of one lab.

    ``dns_pod`` returns uid and node of the DNS pod, ``services`` the Services as ``namespace/name``.
    """

    def __init__(
        self,
        profile: Profile,
        fabric: LabFabric,
        api: ApiFaults,
        dns_pod: Callable[[], tuple[str, str]],
        *,
        troubles: Troubles,
        access: Access,
        silence: Silence,
    ) -> None:
        self._profile = profile
        self._fabric = fabric
        self._api = api
        self._dns_pod = dns_pod
        self._troubles = troubles
        self._access = access
        self._silence = silence
        self._numbers = itertools.count(1)
        self._injected: dict[int, Injected] = {}
        self._withheld: dict[int, tuple[str, str, str]] = {}
        self._kinds: dict[str, Inject] = {
            "dns-down": self._dns_down,
            "dns-upstream-down": self._dns_upstream_down,
            "service-rules-missing": self._service_rules_missing,
            "slow-rules": self._slow_rules,
            "slow-pull": self._slow_pull,
            "registry-down": self._registry_down,
            "channel-down": self._channel_down,
            "kubelet-silent": self._kubelet_silent,
            "api-errors": self._api_errors,
            "slow-api": self._slow_api,
            "privileged-refused": self._privileged_refused,
            "api-throttling": self._api_throttling,
            "api-resets": self._api_resets,
            "expired-tokens": self._expired_tokens,
        }

    async def inject(self, name: str, options: Json) -> Injected:
        """Put a fault in force."""
        kind = self._kinds.get(name)
        if kind is None:
            raise LabError(
                f'There is no fault "{name}".', hint=f"Faults: {', '.join(sorted(self._kinds))}."
            )
        undo = await kind(options)
        fault = Injected(number=next(self._numbers), name=name, options=options, undo=undo)
        self._injected[fault.number] = fault
        return fault

    def list(self) -> tuple[Injected, ...]:
        """Return the faults in force, oldest first."""
        return tuple(self._injected.values())

    async def clear(self, name: str | None = None) -> int:
        """Undo all faults, or those called ``name``; return how many there were."""
        chosen = [f for f in self._injected.values() if name in {None, f.name}]
        for fault in reversed(chosen):
            await fault.undo()
            del self._injected[fault.number]
        return len(chosen)

    async def _dns_down(self, _options: Json) -> Undo:
        uid, node = self._dns_pod()
        namespaces = self._fabric.nodes[node].pod_namespaces()
        if uid not in namespaces:
            raise LabError("The DNS pod is not running.")
        return await self._without_names(namespaces[uid])

    async def _dns_upstream_down(self, _options: Json) -> Undo:
        return await self._without_names(self._fabric.outside_server)

    async def _without_names(self, server: Namespace) -> Undo:
        drops = [
            await self._fabric.drop_traffic(server, match)
            for match in ("udp dport 53", "tcp dport 53")
        ]

        async def undo() -> None:
            for drop in drops:
                await self._fabric.clear(drop)

        return undo

    async def _service_rules_missing(self, options: Json) -> Undo:
        node = self._node(options)
        if node is None:
            raise LabError("service-rules-missing needs --node.")
        service = str(options.get("service") or "")
        if not service:
            raise LabError("service-rules-missing needs --service [NAMESPACE/]NAME.")
        # The Service need not be there yet: a run makes its own after the fault is in force.
        token = next(self._numbers)
        self._withheld[token] = (node, service, str(options.get("port") or ""))
        await self._apply_withheld(node)

        async def undo() -> None:
            del self._withheld[token]
            await self._apply_withheld(node)

        return undo

    async def _apply_withheld(self, node: str) -> None:
        chosen = frozenset((s, port) for n, s, port in self._withheld.values() if n == node)

        def withheld(key: str) -> bool:
            # key: default/web:http; a Service is named "web" or "default/web"
            full, _, port = key.partition(":")
            names = (full, full.partition("/")[2])
            return any((name, one) in chosen for name in names for one in ("", port))

        await self._fabric.nodes[node].suppress_services(withheld)

    async def _slow_rules(self, options: Json) -> Undo:
        node = self._node(options)
        slow = [self._fabric.nodes[name] for name in self._fabric.nodes if node in {None, name}]
        before = [one.rules_delay for one in slow]
        for one in slow:
            one.rules_delay = _number(options, "seconds", 3.0)

        async def undo() -> None:
            for one, seconds in zip(slow, before, strict=True):
                one.rules_delay = seconds

        return undo

    async def _slow_pull(self, options: Json) -> Undo:
        return self._without_images(options, seconds=_number(options, "seconds", 5.0))

    async def _registry_down(self, options: Json) -> Undo:
        return self._without_images(options, down=True)

    def _without_images(self, options: Json, *, seconds: float = 0, down: bool = False) -> Undo:
        """Take all images from nodes: they have to be pulled again by whoever starts a container."""
        node = self._node(options)
        disks = [
            self._fabric.nodes[name].disk for name in self._fabric.nodes if node in {None, name}
        ]
        for disk in disks:
            disk.images.clear()
            disk.pull_seconds, disk.registry_down = (
                seconds or disk.pull_seconds,
                down or disk.registry_down,
            )

        async def undo() -> None:
            for disk in disks:
                if seconds:
                    disk.pull_seconds = 0
                if down:
                    disk.registry_down = False

        return undo

    async def _channel_down(self, options: Json) -> Undo:
        node = self._node(options)

        def concerned(channel: ChannelRequest) -> bool:
            return channel.kind in _CHANNELS and node in {None, channel.node}

        return self._refuse(concerned)

    async def _kubelet_silent(self, options: Json) -> Undo:
        """Stop a kubelet; its node is NotReady after a while, as the node controller has it."""
        node = self._node(options)
        if node is None:
            raise LabError("kubelet-silent needs --node.")
        open_again = self._refuse(
            lambda channel: channel.kind in _OF_KUBELETS and channel.node == node
        )
        go_on = await self._silence.begin(node, _number(options, "seconds", GRACE_SECONDS))

        async def undo() -> None:
            await open_again()
            await go_on()

        return undo

    def _refuse(self, concerned: Callable[[ChannelRequest], bool]) -> Undo:
        """Let the connections that the API makes to nodes be refused, and cut those that are open."""

        async def broken(channel: ChannelRequest) -> str | None:
            if not concerned(channel):
                return None
            return f"dial tcp {self._address(channel.node)}:10250: {_DOWN_TEXT}"

        if self._api.channel_down is not None:
            raise LabError(
                "A fault of channels is in force already.", hint="nettests lab fault clear"
            )
        self._api.channel_down = broken
        self._api.cut(concerned)

        async def undo() -> None:
            self._api.channel_down = None

        return undo

    async def _api_errors(self, options: Json) -> Undo:
        rate = _number(options, "rate", 0.2)
        dice = random.Random(_seed(options))  # noqa: S311  # a share, not a secret

        async def fail(_request: Request) -> None:
            if from_user.get() and dice.random() < rate:
                raise ApiError(500, "InternalError", "etcdserver: request timed out", {})

        return self._before_requests(fail)

    async def _slow_api(self, options: Json) -> Undo:
        seconds, rate = _number(options, "seconds", 1.0), _number(options, "rate", 1.0)
        dice = random.Random(_seed(options))  # noqa: S311  # as above

        async def wait(_request: Request) -> None:
            if from_user.get() and dice.random() < rate:
                await asyncio.sleep(seconds)

        return self._before_requests(wait)

    async def _privileged_refused(self, _options: Json) -> Undo:
        """Refuse what is created or changed from now on; Pods that stand are left alone."""
        self._api.allow_privileged = False

        async def undo() -> None:
            self._api.allow_privileged = True

        return undo

    async def _api_throttling(self, options: Json) -> Undo:
        return self._trouble(throttling(_number(options, "rate", 0.2), _seed(options)))

    async def _api_resets(self, options: Json) -> Undo:
        return self._trouble(resets(_number(options, "rate", 0.2), _seed(options)))

    async def _expired_tokens(self, options: Json) -> Undo:
        rate = _number(options, "rate", 0.2)
        return self._trouble(expired_tokens(rate, _seed(options), self._access))

    def _trouble(self, trouble: Trouble) -> Undo:
        end = self._troubles.add(trouble)

        async def undo() -> None:
            end()

        return undo

    def _before_requests(self, hook: Callable[[Request], Awaitable[None]]) -> Undo:
        if self._api.before_request is not None:
            raise LabError(
                "A fault of the API server is in force already.", hint="nettests lab fault clear"
            )
        self._api.before_request = hook

        async def undo() -> None:
            self._api.before_request = None

        return undo

    def _node(self, options: Json) -> str | None:
        name = options.get("node")
        if name is not None and name not in self._fabric.nodes:
            raise LabError(
                f'There is no node "{name}".', hint=f"Nodes: {', '.join(self._fabric.nodes)}."
            )
        return name

    def _address(self, node: str) -> str:
        try:
            return str(self._profile.node(node).address)
        except KeyError:
            return "0.0.0.0"  # noqa: S104  # words of an error, nothing is bound


def _number(options: Json, name: str, default: float) -> float:
    value = options.get(name)
    return default if value is None else float(value)


def _seed(options: Json) -> int:
    return int(options.get("seed") or 0)
