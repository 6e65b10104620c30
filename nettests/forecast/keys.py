"""The facts that a forecast can change: a key for each, how to parse its value, where to store it.

Keys are those of the cluster profile's ``facts`` (``cni.driver``, ``kubeProxy.windows.dsr``,
``windowsFirewall``) and, for facts that a cluster reports itself, those of conditions in limitation
manifests, with the OS in front (``windows.build``). Pure; ``facts_after`` applies the values.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_network
from operator import attrgetter
from typing import Any

from nettests.compare.known_facts import (
    BACKEND,
    DRIVER,
    KUBE_PROXY,
    KUBERNETES,
    LOOPBACK_DSR,
    MODE,
    NAT_EXCEPTIONS,
    PLATFORM,
    PLUGIN,
    RUNTIME_VERSION,
    Dependency,
)
from nettests.errors import PlanError
from nettests.model.cluster_profile import StatedFacts
from nettests.model.nearest import nearest
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.model.words import OS
from nettests.resources import schema_of

LAST_PATCH = 999
"""Stands for the newest patch release of a minor version."""
_ANY_PATCH = ".x"
_VERSION = re.compile(r"v?\d+\.\d+(?:\.(?P<patch>\d+))?(?:[-+][0-9A-Za-z.+-]+)?")
"""A version as people write it; discovery reads less strictly, as a cluster may report more."""
_CONTAINER_RUNTIME = re.compile(r"[a-z][a-z0-9-]*://\d+\.\d+\S*")
_MTU = range(576, 65536)
"""As in the cluster profile's schema."""
_WORDS = {"true": True, "on": True, "false": False, "off": False}
WINDOWS, LINUX, EVERY = (OS.WINDOWS,), (OS.LINUX,), tuple(OS)


@dataclass(frozen=True, slots=True)
class Key:
    """A key of ``--to``: the facts that it changes, as ``compare`` names them, and their path.

    ``systems`` are the OSes of nodes with the fact, empty for a cluster fact. ``read`` parses a
    value, or raises ``ValueError`` with the expected form and a hint. ``stated`` is the path in a
    cluster profile's facts.
    """

    name: str
    fact: str
    path: str
    read: Callable[[str], Any]
    systems: tuple[OS, ...] = ()
    stated: str = ""

    @property
    def facts(self) -> tuple[str, ...]:
        """The names of the facts: a runtime has a version as well."""
        return (self.fact, RUNTIME_VERSION) if self.fact == "runtime" else (self.fact,)

    @property
    def subject(self) -> tuple[str, tuple[OS, ...]]:
        """Its subject, equal for keys of one fact, like kubeProxy.dsr and kubeProxy.windows.dsr."""
        return self.path, self.systems


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One fact that a cluster will have: ``text`` as written, ``last`` at the newest patch release.

    ``last`` differs from ``value`` only if a Kubernetes version has no patch release.
    """

    key: Key
    text: str
    value: Any
    last: Any
    origin: str

    @property
    def names_no_patch(self) -> bool:
        """Whether it stands for any patch release of a minor version."""
        return bool(self.value != self.last)

    def __str__(self) -> str:
        return f"{self.key.name}={self.text}"


def read_change(word: str) -> Change:
    """Return the change in ``KEY=VALUE``; ``PlanError`` for an unknown key or an invalid value."""
    name, equals, written = word.partition("=")
    if name not in KEYS:
        raise PlanError(f"--to: there is no fact {name!r} to change", hint=nearest(name, KEYS))
    origin, text, key = f"--to {name}", written.strip(), KEYS[name]
    if not equals:
        raise PlanError(f"{origin}: no value", hint=f"write {origin}=VALUE")
    try:
        value = last = key.read(text)
    except ValueError as error:
        reason, *hints = error.args
        raise PlanError(f"{origin}: {reason}", hint="; ".join(hints)) from error
    if key.read is _version:
        release = _VERSION.fullmatch(text.removesuffix(_ANY_PATCH))
        if release is None or release["patch"] is None:
            last = KubernetesVersion(value.major, value.minor, LAST_PATCH)
    return Change(key=key, text=text, value=value, last=last, origin=origin)


def settling(dependency: Dependency, os: OS | None) -> str | None:
    """Return the key that changes a fact, preferably for this OS only; ``None`` without one."""
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
        raise ValueError(f"not a runtime as nodes report it, such as containerd://2.1.4: {text!r}")
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


def _suffixes(text: str) -> tuple[str, ...]:
    # sample: "svc.cluster.local, cluster.local"
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _name(text: str) -> str:
    if not text:
        raise ValueError("a name is expected, and none is given")
    return text


def _word(*path: str) -> Callable[[str], str]:
    """Return a parser for the words in the cluster profile's schema at a path below ``facts``."""

    def read(text: str) -> str:
        allowed = _listed(path)
        if text not in allowed:
            raise ValueError(f"{text!r} is not one of its values", nearest(text, allowed))
        return text

    return read


@cache
def _listed(path: tuple[str, ...]) -> tuple[str, ...]:
    schema = schema_of("cluster-profile")["properties"]["facts"]
    for part in path:
        schema = schema["properties"][part]
    return tuple(schema["enum"])


def _of(os: OS) -> tuple[tuple[Key, ...], tuple[Key, ...]]:
    """Return the keys for nodes of one OS, and for its kube-proxy."""
    proxy, of = f"kubeProxy.{os.value}", (os,)
    modes, stated = _word("kubeProxy", os.value, "mode"), f"kube_proxy_{os.value}"
    return (
        Key(f"{os.value}.kubelet", "kubelet", "kubelet", _version, of),
        Key(f"{os.value}.runtime", "runtime", "runtime", _runtime, of),
    ), (
        Key(f"{proxy}.version", KUBE_PROXY, "kube_proxy.version", _version, of, stated=f"{stated}.version"),
        Key(f"{proxy}.mode", MODE, "kube_proxy.mode", modes, of, stated=f"{stated}.mode"),
    )  # fmt: skip


_DSR = ("DSR", "kube_proxy.dsr", _on_off, WINDOWS)
_AT_LOOPBACK = ("NodePorts at loopback", "kube_proxy.localhost_node_ports", _on_off, LINUX)
_TABLE = (
    Key("kubernetes", KUBERNETES, "", _version),
    Key("platform", PLATFORM, "platform", _word("platform"), stated="platform"),
    Key("cni.plugin", PLUGIN, "cni.plugin", _name, stated="cni_plugin"),
    Key("cni.backend", BACKEND, "cni.backend", _name, stated="cni_backend"),
    Key("cni.mtu", "MTU of Pods", "cni.mtu", _mtu, stated="cni_mtu"),
    Key("cni.natExceptions", NAT_EXCEPTIONS, "cni.nat_exceptions", lambda text: tuple(map(ip_network, _suffixes(text))), stated="cni_nat_exceptions"),
    Key("cni.loopbackDSR", LOOPBACK_DSR, "cni.loopback_dsr", _on_off, stated="cni_loopback_dsr"),
    Key("cni.driver", DRIVER, "cni_driver", _word("cni", "driver"), WINDOWS, stated="cni_driver"),
    Key("kubelet", "kubelet", "kubelet", _version, EVERY),
    *_of(OS.LINUX)[0],
    *_of(OS.WINDOWS)[0],
    Key("windows.build", "build", "build", _build, WINDOWS),
    Key("windows.hostProcess", "HostProcess", "host_process", _on_off, WINDOWS),
    Key("windowsFirewall", "firewall", "firewall", _on_off, WINDOWS, stated="windows_firewall"),
    Key("networkPolicies", "NetworkPolicies enforced", "policies", _on_off, EVERY),
    Key("windows.dnsSuffixes", "DNS suffixes", "dns_suffixes", _suffixes, WINDOWS),
    Key("kubeProxy.version", KUBE_PROXY, "kube_proxy.version", _version, EVERY),
    *_of(OS.LINUX)[1],
    *_of(OS.WINDOWS)[1],
    Key("kubeProxy.dsr", *_DSR),
    Key("kubeProxy.windows.dsr", *_DSR, stated="kube_proxy_windows.dsr"),
    Key("kubeProxy.linux.terminatingEndpoints", "terminating endpoints", "kube_proxy.terminating", _on_off, LINUX),
    Key("kubeProxy.linux.localhostNodePorts", *_AT_LOOPBACK, stated="kube_proxy_linux.localhost_node_ports"),
)  # fmt: skip
KEYS = {key.name: key for key in _TABLE}
"""Every key by name, wider ones first: changes are applied in this order, so the narrower wins."""


def stated_changes(facts: StatedFacts) -> tuple[Change, ...]:
    """Return a change for each fact with a key in a cluster profile, for ``--to-profile``."""
    values = {key: attrgetter(key.stated)(facts) for key in _TABLE if key.stated}
    return tuple(
        Change(key=key, text=_text(value), value=value, last=value, origin="--to-profile")
        for key, value in values.items()
        if value is not None
    )


def left_alone(facts: StatedFacts) -> tuple[str, ...]:
    """Return the keys in the profile that no expectation depends on."""
    proxies = (facts.kube_proxy_windows, facts.kube_proxy_linux)
    stated = {
        "podCIDRs": facts.pod_cidrs,
        "serviceCIDRs": facts.service_cidrs,
        "clusterDomain": facts.cluster_domain,
        "dnsAddress": facts.dns_address,
        "kubeProxy.windows.sourceVIP": any(proxy.source_vip for proxy in proxies),
    }
    return tuple(name for name, value in stated.items() if value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
