"""The facts that a forecast can change: a key for each, how its value is parsed, and where it is stored.

Keys are those of the cluster profile's ``facts`` (``cni.driver``, ``kubeProxy.windows.dsr``, ``windowsFirewall``)
and, for facts that a cluster reports itself, those of conditions in limitation manifests with the OS before them
(``windows.build``). Pure; ``changing`` applies the values.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_network
from typing import Any

from nettests.compare.dependencies import DRIVER, Dependency
from nettests.compare.known_facts import (
    BACKEND,
    KUBE_PROXY,
    KUBERNETES,
    LOOPBACK_DSR,
    MODE,
    NAT_EXCEPTIONS,
    PLATFORM,
    PLUGIN,
    RUNTIME_VERSION,
)
from nettests.errors import PlanError
from nettests.model.facts import Network
from nettests.model.nearest import nearest
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.model.words import OS
from nettests.resources import manifests_path

LAST_PATCH = 999
"""Stands for the newest patch release of a minor that somebody names without one."""
_ANY_PATCH = ".x"
_VERSION = re.compile(r"v?\d+\.\d+(?:\.(?P<patch>\d+))?(?:[-+][0-9A-Za-z.+-]+)?")
"""A release as people write it; discovery reads less strictly, because a cluster may report more."""
_CONTAINER_RUNTIME = re.compile(r"[a-z][a-z0-9-]*://\d+\.\d+\S*")
_MTU = range(576, 65536)
"""As the cluster profile's schema has it."""
_WORDS = {"true": True, "on": True, "false": False, "off": False}
WINDOWS, LINUX, EVERY = (OS.WINDOWS,), (OS.LINUX,), tuple(OS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key of ``--to``: the facts that it changes, as ``compare`` names them, and their place.

    ``systems`` are those of the nodes that have the fact, none where it is one of the cluster. ``read`` returns the
    value of a text, or raises ``ValueError`` with what is expected and a hint.
    """

    name: str
    facts: tuple[str, ...]
    place: tuple[str, ...]
    read: Callable[[str], Any]
    systems: tuple[OS, ...] = ()

    @property
    def subject(self) -> tuple[tuple[str, ...], tuple[OS, ...]]:
        """What it is of: two keys with one subject, such as kubeProxy.dsr and kubeProxy.windows.dsr, are one fact."""
        return self.place, self.systems


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One fact that a cluster will have: ``text`` as it was written, ``last`` the value at the newest patch release.

    ``last`` differs from ``value`` only where a Kubernetes version was named without its patch release.
    """

    key: Key
    text: str
    value: Any
    last: Any
    origin: str

    @property
    def names_no_patch(self) -> bool:
        """Whether it stands for any patch release of a minor."""
        return bool(self.value != self.last)

    def __str__(self) -> str:
        return f"{self.key.name}={self.text}"


def read_change(word: str) -> Change:
    """Return the change that ``KEY=VALUE`` says; ``PlanError`` for an unknown key or another kind of value."""
    name, equals, text = word.partition("=")
    if name not in KEYS:
        raise PlanError(f"--to: there is no fact {name!r} to change", hint=nearest(name, KEYS))
    if not equals:
        raise PlanError(f"--to {name}: no value", hint=f"write --to {name}=VALUE")
    return change(name, text, f"--to {name}")


def change(name: str, text: str, origin: str) -> Change:
    """Return a change of a key that is known; ``PlanError`` where the text is none of its values."""
    key = KEYS[name]
    try:
        value = key.read(text.strip())
    except ValueError as error:
        reason, *hints = error.args
        raise PlanError(f"{origin}: {reason}", hint="; ".join(hints)) from error
    last = _newest(value, text.strip()) if key.read is _version else value
    return Change(key=key, text=text.strip(), value=value, last=last, origin=origin)


def _newest(version: KubernetesVersion, text: str) -> KubernetesVersion:
    named = _VERSION.fullmatch(text.removesuffix(_ANY_PATCH))
    if named is not None and named["patch"] is not None:
        return version
    return KubernetesVersion(version.major, version.minor, LAST_PATCH)


def settling(dependency: Dependency, os: OS | None) -> str | None:
    """Return the key that changes a fact, preferably one for this OS alone; ``None`` if there is none."""
    names = [
        key.name
        for key in KEYS.values()
        if dependency.name in key.facts and (not key.systems or os in key.systems)
    ]
    return names[-1] if names else None


def _version(text: str) -> KubernetesVersion:
    # samples: "1.34", "v1.34.2", "1.34.x", "v1.34.2+rke2r1"
    plain = text.removesuffix(_ANY_PATCH)
    if not _VERSION.fullmatch(plain):
        raise ValueError(
            f"not a Kubernetes version: {text!r}", "write 1.34.2, or 1.34 for any patch"
        )
    return KubernetesVersion.parse(plain)


def _build(text: str) -> WindowsBuild:
    # samples: "26100", "26100.x", "10.0.20348.3207"
    try:
        return WindowsBuild.parse(text.removesuffix(_ANY_PATCH))
    except ValueError as error:
        raise ValueError(str(error), "write 26100.4061, or 26100.x for any patch level") from None


def _runtime(text: str) -> str:
    # sample: "containerd://2.1.4"
    if not _CONTAINER_RUNTIME.fullmatch(text):
        raise ValueError(f"not a runtime as nodes tell it, such as containerd://2.1.4: {text!r}")
    return text


def _on_off(text: str) -> bool:
    if text.lower() not in _WORDS:
        raise ValueError(f"true or false is expected, not {text!r}")
    return _WORDS[text.lower()]


def _mtu(text: str) -> int:
    # sample: "1450"
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) not in _MTU:
        raise ValueError(f"an MTU of {_MTU[0]} to {_MTU[-1]} bytes is expected, not {text!r}")
    return int(text)


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())


def _suffixes(text: str) -> tuple[str, ...]:
    # sample: "svc.cluster.local, cluster.local"
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _name(text: str) -> str:
    if not text:
        raise ValueError("a name is expected, and none is given")
    return text


def _word(*path: str) -> Callable[[str], str]:
    """Return a reader of the words that the cluster profile's schema lists at a path below its ``facts``."""

    def read(text: str) -> str:
        allowed = _listed(path)
        if text not in allowed:
            raise ValueError(f"{text!r} is none of its values", nearest(text, allowed))
        return text

    return read


@cache
def _listed(path: tuple[str, ...]) -> tuple[str, ...]:
    file = manifests_path() / "schema" / "cluster-profile.schema.json"
    schema = json.loads(file.read_text(encoding="utf-8"))["properties"]["facts"]
    for part in path:
        schema = schema["properties"][part]
    return tuple(schema["enum"])


def _of_proxy(os: OS) -> tuple[Key, ...]:
    named = f"kubeProxy.{os.value}"
    place, modes = ("kube_proxy", "mode"), _word("kubeProxy", os.value, "mode")
    version = ("kube_proxy", "version")
    return (
        Key(name=f"{named}.version", facts=(KUBE_PROXY,), place=version, read=_version, systems=(os,)),
        Key(name=f"{named}.mode", facts=(MODE,), place=place, read=modes, systems=(os,)),
    )  # fmt: skip


def _of_node(os: OS) -> tuple[Key, ...]:
    named, runtimes = os.value, ("runtime", RUNTIME_VERSION)
    return (
        Key(name=f"{named}.kubelet", facts=("kubelet",), place=("kubelet",), read=_version, systems=(os,)),
        Key(name=f"{named}.runtime", facts=runtimes, place=("runtime",), read=_runtime, systems=(os,)),
    )  # fmt: skip


def _on_windows(name: str, fact: str, *place: str) -> Key:
    return Key(name=name, facts=(fact,), place=place, read=_on_off, systems=WINDOWS)


def _of_plugin(name: str, fact: str, field: str, read: Callable[[str], Any]) -> Key:
    return Key(name=f"cni.{name}", facts=(fact,), place=("cni", field), read=read)


_TABLE = (
    Key(name="kubernetes", facts=(KUBERNETES,), place=(), read=_version),
    Key(name="platform", facts=(PLATFORM,), place=("platform",), read=_word("platform")),
    _of_plugin("plugin", PLUGIN, "plugin", _name),
    _of_plugin("backend", BACKEND, "backend", _name),
    _of_plugin("mtu", "MTU of Pods", "mtu", _mtu),
    _of_plugin("natExceptions", NAT_EXCEPTIONS, "nat_exceptions", _networks),
    _of_plugin("loopbackDSR", LOOPBACK_DSR, "loopback_dsr", _on_off),
    Key(
        name="cni.driver",
        facts=(DRIVER,),
        place=("cni_driver",),
        read=_word("cni", "driver"),
        systems=WINDOWS,
    ),
    Key(name="kubelet", facts=("kubelet",), place=("kubelet",), read=_version, systems=EVERY),
    *_of_node(OS.LINUX),
    *_of_node(OS.WINDOWS),
    Key(name="windows.build", facts=("build",), place=("build",), read=_build, systems=WINDOWS),
    _on_windows("windows.hostProcess", "HostProcess", "host_process"),
    _on_windows("windowsFirewall", "firewall", "firewall"),
    Key(
        name="windows.dnsSuffixes",
        facts=("DNS suffixes",),
        place=("dns_suffixes",),
        read=_suffixes,
        systems=WINDOWS,
    ),
    Key(
        name="kubeProxy.version",
        facts=(KUBE_PROXY,),
        place=("kube_proxy", "version"),
        read=_version,
        systems=EVERY,
    ),
    *_of_proxy(OS.LINUX),
    *_of_proxy(OS.WINDOWS),
    _on_windows("kubeProxy.dsr", "DSR", "kube_proxy", "dsr"),
    _on_windows("kubeProxy.windows.dsr", "DSR", "kube_proxy", "dsr"),
    Key(
        name="kubeProxy.linux.localhostNodePorts",
        facts=("NodePorts at loopback",),
        place=("kube_proxy", "localhost_node_ports"),
        read=_on_off,
        systems=LINUX,
    ),
)
KEYS = {key.name: key for key in _TABLE}
"""Every key by its name, wider ones before narrower ones: changes are made in this order, so that the narrower wins."""
