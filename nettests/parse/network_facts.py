"""Add facts of the Pods' network that nodes and Pods report: plugin, driver, OutBoundNAT's exceptions, DNS domain. Pure.

Beside ``host_facts``, which completes facts of nodes. A fact of the whole cluster counts if all nodes that were read agree.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from nettests.model import network_drivers
from nettests.model.facts import ClusterFacts, CniFacts, Fact, NodeFacts, known, unknown
from nettests.model.node_reading import NodeReading
from nettests.model.words import OS
from nettests.parse.reading import one_line
from nettests.rules.cni import loopback_dsr
from nettests.rules.cni_files import CNI
from nettests.rules.dns_suffixes import IN_POD, SEARCH_LIST, domain_of, suffixes_of
from nettests.rules.evidence import Evidence, UnreadableError
from nettests.rules.hns_networks import NETWORKS
from nettests.rules.pod_network import BACKENDS, driver_of, nat_exceptions, plugin_of
from nettests.rules.readings import ToolOutput

T = TypeVar("T")
ByNode = Mapping[str, Mapping[str, NodeReading]]
"""Readings by node and name."""


def with_domain(facts: ClusterFacts, readings: Iterable[NodeReading]) -> ClusterFacts:
    """Return the facts with the cluster's domain as the search lists of Pods show it, if nothing else told it."""
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
    """Return the facts with plugin, backend and drivers as HNS shows them, and OutBoundNAT's exceptions."""
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
    """Return the backend that follows from the plugin and the type of its networks."""
    drivers = {node.cni_driver.value: node.cni_driver for node in nodes if node.cni_driver.known}
    if cni.backend.known or len(drivers) != 1:
        return cni.backend
    ((name, driver),) = drivers.items()
    backend = BACKENDS.get((plugin.value or "", name or ""))
    return known(backend, f"{driver.origin}: {name}") if backend else cni.backend


def _following(node: NodeFacts, cni: CniFacts, before: ClusterFacts) -> NodeFacts:
    """Return a node that was not read with the driver that follows from a plugin that others have shown."""
    if node.cni_driver.known or node.os is not OS.WINDOWS or cni == before.cni:
        return node
    driver = network_drivers.by_backend(cni.plugin, cni.backend)
    driver = driver or network_drivers.by_plugin(cni.plugin, before.platform)
    return replace(node, cni_driver=driver) if driver.known else node


def _read(
    by_node: ByNode, reading: ToolOutput, read: Callable[[Evidence], T]
) -> tuple[Mapping[str, T], str, str]:
    """Return what nodes show, the words for where, and the first reason why one shows nothing."""
    shown, problems = _each(by_node, reading, read)
    return shown, f"{reading.name} of", next(iter(problems.values()), "")


def _each(
    by_node: ByNode, reading: ToolOutput, read: Callable[[Evidence], T]
) -> tuple[dict[str, T], dict[str, str]]:
    """Return what each node shows, and why others show nothing, by their names."""
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
    """Return what all agree on; otherwise the unknown fact, with what was seen instead."""
    values = list(dict.fromkeys(shown.values()))
    if len(values) == 1:
        names = ", ".join(sorted(shown))
        return known(values[0], f"{where} {names}")
    if values:
        problem = f"{', '.join(sorted(shown))} differ in it: {', '.join(map(str, values))}"
    return unknown(f"{before.origin}; {problem}") if problem else before
