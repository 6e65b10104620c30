"""Add facts that nodes report themselves: kube-proxy's settings, and whether the firewall is on. Pure.

Only unknown facts are completed: an answer never overrides an API object or the cluster profile. An answer that is
not a known mode is ignored, because anything may listen on a port. What kube-proxy serves on its node's loopback
address is in effect and comes before its command line, which says nothing if there is a configuration file.
"""

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from nettests.model.facts import (
    Address,
    ClusterFacts,
    Fact,
    KubeProxyFacts,
    NodeFacts,
    known,
    unknown,
)
from nettests.model.node_reading import NodeReading
from nettests.model.versions import KubernetesVersion
from nettests.model.words import OS
from nettests.parse.reading import one_line
from nettests.rules.firewall import PROFILES, profiles_of
from nettests.rules.kube_proxy_on_host import (
    COMMAND_LINE,
    CONFIGURATION,
    MODE,
    VERSION,
    flags_of,
    served_settings,
    version_of,
)

MODES = frozenset({"iptables", "ipvs", "nftables", "userspace", "kernelspace"})
"""``--proxy-mode`` of all releases, on Linux and Windows."""
ON_NODE = "read on the node itself"
SWITCHES = {"true": True, "false": False}

T = TypeVar("T")
Told = Mapping[str, NodeReading]
"""What one node said, by the reading's name."""


def completed(facts: ClusterFacts, readings: Iterable[NodeReading]) -> ClusterFacts:
    """Return the facts with what was read; an unknown one says why its reading did not help either."""
    by_node: dict[str, dict[str, NodeReading]] = {}
    for reading in readings:
        by_node.setdefault(reading.node, {})[reading.reading] = reading
    nodes = tuple(
        _with(node, by_node[node.name]) if node.name in by_node else node for node in facts.nodes
    )
    return replace(facts, nodes=nodes)


def _with(node: NodeFacts, told: Told) -> NodeFacts:
    firewall = node.firewall
    if PROFILES.name in told and not firewall.known:
        firewall = _firewall(firewall, told[PROFILES.name])
    return replace(node, kube_proxy=_kube_proxy(node, told), firewall=firewall)


def _kube_proxy(node: NodeFacts, told: Told) -> KubeProxyFacts:
    before, windows = node.kube_proxy, node.os is OS.WINDOWS
    settings = tuple(_settings(told))
    if before.mode.known and not settings:
        return before
    return replace(
        before,
        mode=_mode(before.mode, told, settings),
        version=_or_read(before.version, lambda: _version(told)),
        dsr=_or_read(before.dsr, lambda: _switch(settings, "enable-dsr") if windows else None),
        source_vip=_or_read(before.source_vip, lambda: _vip(settings) if windows else None),
        localhost_node_ports=_or_read(
            before.localhost_node_ports,
            lambda: None if windows else _switch(settings, "iptables-localhost-nodeports"),
        ),
    )


def _or_read(before: Fact[T], read: Callable[[], Fact[T] | None]) -> Fact[T]:
    """Return a fact that is known, or what the node says of it; without that, as it was."""
    return before if before.known else read() or before


@dataclass(frozen=True, slots=True)
class _Settings:
    """Settings by their flags, and where they stand."""

    origin: str
    values: Mapping[str, str]


def _settings(told: Told) -> Iterable[_Settings]:
    """Yield what a kube-proxy on the host was given, in the order in which it decides."""
    answer = told.get(CONFIGURATION.name)
    served = served_settings(answer.stdout) if answer is not None and _is_answer(answer) else None
    if answer is not None and served is not None:
        yield _Settings(f"{answer.command[-1]}, {ON_NODE}", served)
    line = told.get(COMMAND_LINE.name)
    if line is not None and _is_answer(line):
        flags = flags_of(line.stdout)
        if flags and not flags.get("config"):
            yield _Settings(f"command line of kube-proxy on {line.node}, {ON_NODE}", flags)


def _is_answer(reading: NodeReading) -> bool:
    return reading.error is None and reading.exit_code == 0


def _first(settings: Iterable[_Settings], flag: str) -> tuple[str, str] | None:
    return next(
        ((setting.origin, setting.values[flag]) for setting in settings if flag in setting.values),
        None,
    )


def _mode(before: Fact[str], told: Told, settings: Iterable[_Settings]) -> Fact[str]:
    if before.known:
        return before
    mode = _spoken_mode(told.get(MODE.name), before)
    if mode.known:
        return mode
    found = _first(settings, "proxy-mode")
    return known(found[1], found[0]) if found is not None and found[1] in MODES else mode


def _spoken_mode(told: NodeReading | None, before: Fact[str]) -> Fact[str]:
    if told is None:
        return before
    address = told.command[-1]
    said = told.stdout.strip()
    # sample: nftables
    if _is_answer(told) and said in MODES:
        return known(said, f"{address}, {ON_NODE}")
    # sample: curl: (7) Failed to connect to 127.0.0.1 port 10249 after 0 ms: Couldn't connect to server
    why = told.error or told.stderr.strip() or f"it answers {said!r}, which is no mode"
    return unknown(f"{before.origin}; {address} does not tell it either: {one_line(why)}")


def _version(told: Told) -> Fact[KubernetesVersion] | None:
    answer = told.get(VERSION.name)
    if answer is None or not _is_answer(answer):
        return None
    try:
        version = KubernetesVersion.parse(version_of(answer.stdout))
    except ValueError:
        return None
    return known(version, f"{answer.command[-1]}, {ON_NODE}")


def _switch(settings: Iterable[_Settings], flag: str) -> Fact[bool] | None:
    found = _first(settings, flag)
    if found is None or found[1].lower() not in SWITCHES:
        return None
    return known(SWITCHES[found[1].lower()], found[0])


def _vip(settings: Iterable[_Settings]) -> Fact[Address] | None:
    found = _first(settings, "source-vip")
    if found is None:
        return None
    origin, text = found
    if not text:
        return unknown(f"the source VIP is empty in {origin}: the node's own address is used")
    try:
        return known(ipaddress.ip_address(text), origin)
    except ValueError:
        return unknown(f"{origin} says {text!r}, which is no address")


def _firewall(before: Fact[bool], told: NodeReading) -> Fact[bool]:
    """Return whether the firewall is on: in all profiles, or in none; which one applies is not read."""
    if not _is_answer(told):
        why = told.error or told.stderr.strip() or f"it ended with {told.exit_code}"
        return unknown(f"{before.origin}; its profiles were not read: {one_line(why)}")
    try:
        profiles = profiles_of(told.stdout)
    except ValueError as error:
        return unknown(f"{before.origin}; its profiles were not read: {error}")
    if len(set(profiles.values())) == 1:
        state = next(iter(profiles.values()))
        return known(state, f"Get-NetFirewallProfile, {ON_NODE}")
    states = ", ".join(f"{name} {'on' if on else 'off'}" for name, on in profiles.items())
    return unknown(f"its profiles differ ({states}), and which of them applies is not read")
