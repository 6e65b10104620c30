"""Add facts that nodes and Pods report: kube-proxy, firewall, DNS suffixes, Pod network. Pure.

Only unknown facts are completed: a reading never overrides an API object or the cluster profile. A
proxy mode that is not a known one is ignored, because anything may listen on that port. The
configuration that kube-proxy serves on its node's loopback address takes precedence over its
command line, which is ignored if it names a configuration file. A cluster-wide fact counts only if
all nodes that were read agree.
"""

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from nettests.model import network_drivers
from nettests.model.facts import (
    Address,
    ClusterFacts,
    CniFacts,
    Fact,
    KubeProxyFacts,
    NodeFacts,
    gate_in,
    known,
    unknown,
)
from nettests.model.flags import Settings, first
from nettests.model.observation import NodeReading
from nettests.model.versions import KubernetesVersion
from nettests.model.words import OS
from nettests.parse.reading import one_line
from nettests.rules.cni import loopback_dsr
from nettests.rules.cni_files import CNI
from nettests.rules.dns_suffixes import IN_POD, SEARCH_LIST, domain_of, suffixes_of
from nettests.rules.evidence import Evidence, UnreadableError
from nettests.rules.hns_networks import NETWORKS
from nettests.rules.host import PROFILES, profiles_of
from nettests.rules.kube_proxy_on_host import (
    COMMAND_LINE,
    CONFIGURATION,
    MODE,
    VERSION,
    flags_of,
    served_settings,
    version_of,
)
from nettests.rules.pod_network import BACKENDS, driver_of, nat_exceptions, plugin_of
from nettests.rules.readings import ToolOutput

T = TypeVar("T")
ByNode = Mapping[str, Mapping[str, NodeReading]]
"""Readings by node and name."""


def with_domain(facts: ClusterFacts, readings: Iterable[NodeReading]) -> ClusterFacts:
    """Return the facts with the cluster domain from Pods' DNS search lists, if it is not known."""
    if facts.cluster_domain.known:
        return facts
    domains = {
        reading.probe: domain for reading in readings if (domain := _domain(reading)) is not None
    }
    return replace(facts, cluster_domain=_agreed(facts.cluster_domain, domains, "search list of"))


def _domain(reading: NodeReading) -> str | None:
    if reading.error or reading.exit_code != 0:
        return None
    if reading.reading == SEARCH_LIST.name:
        return domain_of(reading.stdout.lower().split())
    if reading.reading != IN_POD.name:
        return None
    try:
        return domain_of(suffixes_of(reading.stdout, None))
    except ValueError:
        return None


def with_network(facts: ClusterFacts, by_node: ByNode) -> ClusterFacts:
    """Return the facts with plugin, backend and drivers from HNS, and options of CNI files."""
    cni = facts.cni
    plugin = cni.plugin
    if not plugin.known:
        plugin = _agreed(plugin, *_read(by_node, NETWORKS, plugin_of))
    drivers, problems = _each(by_node, NETWORKS, driver_of)
    nodes = tuple(_with_driver(node, drivers, problems) for node in facts.nodes)
    cni = replace(cni, plugin=plugin, backend=_backend(cni, plugin, nodes))
    if not cni.nat_exceptions.known:
        exceptions = _agreed(cni.nat_exceptions, *_read(by_node, CNI, nat_exceptions))
        cni = replace(cni, nat_exceptions=exceptions)
    if not cni.loopback_dsr.known:
        option = _agreed(cni.loopback_dsr, *_read(by_node, CNI, loopback_dsr))
        cni = replace(cni, loopback_dsr=option)
    followed = tuple(_following(node, cni, facts) for node in nodes)
    return replace(facts, cni=cni, nodes=followed)


def _with_driver(
    node: NodeFacts, drivers: Mapping[str, str], problems: Mapping[str, str]
) -> NodeFacts:
    before = node.cni_driver
    if before.known:
        return node
    if node.name in drivers:
        return replace(
            node, cni_driver=known(drivers[node.name], f"networks of HNS on {node.name}")
        )
    why = problems.get(node.name)
    return replace(node, cni_driver=unknown(f"{before.origin}; {why}")) if why else node


def _backend(cni: CniFacts, plugin: Fact[str], nodes: Iterable[NodeFacts]) -> Fact[str]:
    drivers = {node.cni_driver.value: node.cni_driver for node in nodes if node.cni_driver.known}
    if cni.backend.known or len(drivers) != 1:
        return cni.backend
    ((name, driver),) = drivers.items()
    backend = BACKENDS.get((plugin.value or "", name or ""))
    return known(backend, f"{driver.origin}: {name}") if backend else cni.backend


def _following(node: NodeFacts, cni: CniFacts, before: ClusterFacts) -> NodeFacts:
    """Return an unread node with the driver implied by the plugin that other nodes showed."""
    if node.cni_driver.known or node.os is not OS.WINDOWS or cni == before.cni:
        return node
    driver = network_drivers.by_backend(cni.plugin, cni.backend)
    driver = driver or network_drivers.by_plugin(cni.plugin, before.platform)
    return replace(node, cni_driver=driver) if driver.known else node


def _read(
    by_node: ByNode, reading: ToolOutput, read: Callable[[Evidence], T]
) -> tuple[Mapping[str, T], str, str]:
    """Return what nodes show, a prefix for its origin, and the first problem."""
    shown, problems = _each(by_node, reading, read)
    return shown, f"{reading.name} of", next(iter(problems.values()), "")


def _each(
    by_node: ByNode, reading: ToolOutput, read: Callable[[Evidence], T]
) -> tuple[dict[str, T], dict[str, str]]:
    """Return what each node shows, and for other nodes the problem."""
    shown: dict[str, T] = {}
    problems: dict[str, str] = {}
    for node, readings in by_node.items():
        answer = readings.get(reading.name)
        if answer is None:
            continue
        if answer.error or answer.exit_code != 0:
            why = answer.error or answer.stderr or f"it ended with {answer.exit_code}"
            problems[node] = f"{reading.name} was not read: {one_line(why)}"
            continue
        try:
            shown[node] = read(Evidence(texts={reading.name: answer.stdout}))
        except UnreadableError as error:
            problems[node] = error.message
    return shown, problems


def _agreed(before: Fact[T], shown: Mapping[str, T], where: str, problem: str = "") -> Fact[T]:
    """Return the value that all agree on; otherwise the unknown fact with what was seen."""
    values = list(dict.fromkeys(shown.values()))
    if len(values) == 1:
        names = ", ".join(sorted(shown))
        return known(values[0], f"{where} {names}")
    if values:
        problem = f"{', '.join(sorted(shown))} differ in it: {', '.join(map(str, values))}"
    return unknown(f"{before.origin}; {problem}") if problem else before


MODES = frozenset({"iptables", "ipvs", "nftables", "userspace", "kernelspace"})
"""``--proxy-mode`` of all releases, on Linux and Windows."""
ON_NODE = "read on the node itself"
SWITCHES = {"true": True, "false": False}

Readings = Mapping[str, NodeReading]
"""One node's answers by reading name."""


def completed(facts: ClusterFacts, readings: Iterable[NodeReading]) -> ClusterFacts:
    """Return the facts completed by readings; unknown ones say why the reading did not help."""
    by_node: dict[str, dict[str, NodeReading]] = {}
    for reading in readings:
        by_node.setdefault(reading.node, {})[reading.reading] = reading
    facts = with_domain(facts, (each for node in by_node.values() for each in node.values()))
    domain = facts.cluster_domain.value
    nodes = tuple(
        _completed_node(node, by_node[node.name], domain) if node.name in by_node else node
        for node in facts.nodes
    )
    return with_network(replace(facts, nodes=nodes), by_node)


def _completed_node(node: NodeFacts, readings: Readings, domain: str | None) -> NodeFacts:
    firewall, suffixes = node.firewall, node.dns_suffixes
    if IN_POD.name in readings and not suffixes.known:
        suffixes = _suffixes(suffixes, readings[IN_POD.name], domain)
    if PROFILES.name in readings and not firewall.known:
        firewall = _firewall(firewall, readings[PROFILES.name])
    proxy = _kube_proxy(node, readings)
    return replace(node, kube_proxy=proxy, firewall=firewall, dns_suffixes=suffixes)


def _kube_proxy(node: NodeFacts, readings: Readings) -> KubeProxyFacts:
    before, windows = node.kube_proxy, node.os is OS.WINDOWS
    settings = tuple(_settings(readings))
    version = _or_read(before.version, lambda: _version(readings))
    gates = None if windows else first(settings, "feature-gates")
    return replace(
        before,
        mode=_mode(before.mode, readings, settings),
        version=version,
        dsr=_or_read(before.dsr, lambda: _switch(settings, "enable-dsr") if windows else None),
        source_vip=_or_read(before.source_vip, lambda: _vip(settings) if windows else None),
        localhost_node_ports=_or_read(
            before.localhost_node_ports,
            lambda: None if windows else _switch(settings, "iptables-localhost-nodeports"),
        ),
        terminating=_or_read(
            before.terminating,
            lambda: gate_in(gates[1], gates[0], version.value) if gates else None,
        ),
    )


def _or_read(before: Fact[T], read: Callable[[], Fact[T] | None]) -> Fact[T]:
    """Return a known fact unchanged; else what ``read`` returns, or the unknown fact."""
    return before if before.known else read() or before


def _settings(readings: Readings) -> Iterable[Settings]:
    """Yield the settings of a kube-proxy on the host, highest precedence first."""
    answer = readings.get(CONFIGURATION.name)
    served = served_settings(answer.stdout) if answer is not None and _is_answer(answer) else None
    if answer is not None and served is not None:
        yield f"{answer.command[-1]}, {ON_NODE}", served
    line = readings.get(COMMAND_LINE.name)
    if line is not None and _is_answer(line):
        flags = flags_of(line.stdout)
        if flags and not flags.get("config"):
            yield f"command line of kube-proxy on {line.node}, {ON_NODE}", flags


def _is_answer(reading: NodeReading) -> bool:
    return reading.error is None and reading.exit_code == 0


def _mode(before: Fact[str], readings: Readings, settings: Iterable[Settings]) -> Fact[str]:
    if before.known:
        return before
    mode = _reported_mode(readings.get(MODE.name), before)
    if mode.known:
        return mode
    setting = first(settings, "proxy-mode")
    return known(setting[1], setting[0]) if setting is not None and setting[1] in MODES else mode


def _reported_mode(reading: NodeReading | None, before: Fact[str]) -> Fact[str]:
    if reading is None:
        return before
    address = reading.command[-1]
    reported_mode = reading.stdout.strip()
    # sample: nftables
    if _is_answer(reading) and reported_mode in MODES:
        return known(reported_mode, f"{address}, {ON_NODE}")
    # sample: curl: (7) Failed to connect to 127.0.0.1 port 10249 after 0 ms: Couldn't connect to server
    why = (
        reading.error or reading.stderr.strip() or f"it answers {reported_mode!r}, which is no mode"
    )
    return unknown(f"{before.origin}; {address} does not tell it either: {one_line(why)}")


def _version(readings: Readings) -> Fact[KubernetesVersion] | None:
    answer = readings.get(VERSION.name)
    if answer is None or not _is_answer(answer):
        return None
    try:
        version = KubernetesVersion.parse(version_of(answer.stdout))
    except ValueError:
        return None
    return known(version, f"{answer.command[-1]}, {ON_NODE}")


def _switch(settings: Iterable[Settings], flag: str) -> Fact[bool] | None:
    setting = first(settings, flag)
    if setting is None or setting[1].lower() not in SWITCHES:
        return None
    return known(SWITCHES[setting[1].lower()], setting[0])


def _vip(settings: Iterable[Settings]) -> Fact[Address] | None:
    setting = first(settings, "source-vip")
    if setting is None:
        return None
    origin, text = setting
    if not text:
        return unknown(f"the source VIP is empty in {origin}: the node's own address is used")
    try:
        return known(ipaddress.ip_address(text), origin)
    except ValueError:
        return unknown(f"{origin} says {text!r}, which is no address")


def _suffixes(
    before: Fact[tuple[str, ...]], reading: NodeReading, domain: str | None
) -> Fact[tuple[str, ...]]:
    if not _is_answer(reading):
        why = reading.error or reading.stderr.strip() or f"it ended with {reading.exit_code}"
        return unknown(f"{before.origin}; the registry of a Pod was not read: {one_line(why)}")
    try:
        search_list = suffixes_of(reading.stdout, domain)
    except ValueError as error:
        return unknown(f"{before.origin}; the registry of a Pod was not read: {error}")
    return known(search_list, f"SearchList in the registry of Pod {reading.probe}")


def _firewall(before: Fact[bool], reading: NodeReading) -> Fact[bool]:
    """Return whether the firewall is on, if all profiles agree; the active one is not read."""
    if not _is_answer(reading):
        why = reading.error or reading.stderr.strip() or f"it ended with {reading.exit_code}"
        return unknown(f"{before.origin}; its profiles were not read: {one_line(why)}")
    try:
        profiles = profiles_of(reading.stdout)
    except ValueError as error:
        return unknown(f"{before.origin}; its profiles were not read: {error}")
    if len(set(profiles.values())) == 1:
        state = next(iter(profiles.values()))
        return known(state, f"Get-NetFirewallProfile, {ON_NODE}")
    states = ", ".join(f"{name} {'on' if on else 'off'}" for name, on in profiles.items())
    return unknown(f"its profiles differ ({states}), and which of them applies is not read")
