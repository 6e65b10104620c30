"""What pods and containers of one node share: the node, its network, its client, how programs start, and how images are pulled.

A kubelet pulls one image at a time (``serializeImagePulls``) and logs in with the pod's pull Secrets. Pulled images are recorded in
the node's ``Disk``, so that a fault can remove them. ``images`` defines which images exist.
"""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from typing import Any

from nettests.lab.client import ApiError, Client, Json
from nettests.lab.client.events import Recorder
from nettests.lab.interfaces import Disk, Namespace, NodeNetwork, Process, ResolverConfig
from nettests.lab.mounted.files import Volume
from nettests.lab.node import images
from nettests.lab.topology import Address, NodeSpec, Profile, Shim, shim_of

Wait = Callable[[float], Awaitable[None]]
"""Waits for some seconds, or raises if the pod stops meanwhile."""


@dataclass(slots=True)
class Puller:
    """Pulls the images of one node."""

    spec: NodeSpec
    disk: Disk
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def pull(
        self, reference: str, logins: images.Logins, wait: Wait, *, host_process: bool
    ) -> tuple[images.Image, float | None]:
        """Return the image, pulled if needed, and the seconds that this took; errors are those of ``find``."""
        if reference in self.disk.images:
            everybody = {images.PRIVATE: (images.PRIVATE_LOGIN,)}  # no registry checks credentials
            present = images.find(reference, self.spec, host_process=host_process, logins=everybody)
            return present, None
        async with self._one_at_a_time:
            if self.disk.registry_down:
                raise images.unreachable(reference)
            image = images.find(reference, self.spec, host_process=host_process, logins=logins)
            there = reference in self.disk.images
            seconds = 0.0 if there else self.disk.pull_seconds
            if seconds:
                await wait(seconds)
            self.disk.images.add(reference)
            return image, seconds


async def credentials(client: Client, pod: Json) -> tuple[images.Logins, list[str]]:
    """Return the logins of a pod's ``imagePullSecrets``, and the names of Secrets that could not be read."""
    logins: dict[str, list[tuple[str, str]]] = {}
    lacking: list[str] = []
    for named in pod["spec"].get("imagePullSecrets") or ():
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/secrets/{named['name']}"
        try:
            secret = await client.get(path)
        except ApiError:
            lacking.append(str(named["name"]))
            continue
        for registry, login in _logins_of(secret):
            logins.setdefault(registry, []).append(login)
    return logins, lacking


def _logins_of(secret: Json) -> list[tuple[str, tuple[str, str]]]:
    """Return the registries and logins of a ``.dockerconfigjson``; none if it is invalid."""
    text = (secret.get("data") or {}).get(".dockerconfigjson", "")
    logins = []
    try:
        auths = json.loads(base64.b64decode(text)).get("auths", {})
        for address, entry in auths.items():
            host = address.removeprefix("https://").partition("/")[0]
            packed = base64.b64decode(entry.get("auth", "")).decode().partition(":")
            user, password = entry.get("username") or packed[0], entry.get("password") or packed[2]
            logins.append((host, (user, password)))
    except (ValueError, AttributeError):
        return []
    return logins


Launch = Callable[[images.Kind, Process], Coroutine[Any, Any, int]]
"""Runs a container's main program, by the kind of its image; raises ``ProgramNotFoundError``."""

Execute = Callable[[Process], Coroutine[Any, Any, int]]
"""Runs a program for exec or a probe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeContext:
    """One node, as its agent sees it. ``services`` returns the Services of the cluster."""

    profile: Profile
    network: NodeNetwork
    client: Client
    recorder: Recorder
    launch: Launch
    execute: Execute
    services: Callable[[], Iterable[Json]]
    puller: Puller

    @property
    def spec(self) -> NodeSpec:
        """The node's own description."""
        return self.network.spec

    @property
    def shim(self) -> Shim:
        """The shim by which a Windows node starts containers."""
        spec = self.spec
        return shim_of(spec.runtime, spec.windows_release, self.profile.windows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """A pod's network namespace, its own or its node's, and the volumes that its containers share."""

    namespace: Namespace
    address: Address
    ipv6: IPv6Address | None
    """The address of the second family, if any."""
    gateway: Address
    hostname: str
    resolver: ResolverConfig
    on_host: bool
    host_process: bool
    volumes: Mapping[str, Volume] = field(default_factory=dict)

    @property
    def addresses(self) -> tuple[str, ...]:
        """The pod's addresses, the primary family's first."""
        return tuple(str(address) for address in (self.address, self.ipv6) if address is not None)
