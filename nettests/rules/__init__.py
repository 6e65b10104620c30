"""Documented configuration rules, one value each: where it applies, readings, demand, remedy.

A module holds the rules of one topic, with their shared readings. ``RULES`` is the only table of
them: the label of an ``INSPECT`` case names its rule. Planning checks a rule's subjects and the
permissions of its readings; ``probes.configuration`` takes the readings and records what is kept of
them; ``parse.inspection`` evaluates the demand; ``judge`` shows the remedy. All pure.
"""

from collections.abc import Iterable, Mapping

from nettests.rules import (
    cni,
    families,
    flannel,
    hns_networks,
    host,
    host_proxy,
    kube_proxy,
    kubelet,
    load_balancers,
    node,
    peers,
    plugin,
    readiness,
    windows_services,
)
from nettests.rules.evidence import Evidence, Finding, NothingThereError, Rule, UnreadableError
from nettests.rules.readings import reduced

__all__ = [
    "RULES",
    "Evidence",
    "Finding",
    "NothingThereError",
    "Rule",
    "UnreadableError",
    "reduced",
    "table_of",
]
_TOPICS = (
    *(kube_proxy, host_proxy, windows_services, kubelet, node, readiness, plugin),
    *(families, flannel, hns_networks, load_balancers, host, cni, peers),
)


def table_of(rules: Iterable[Rule]) -> Mapping[str, Rule]:
    """Return rules by name; ``ValueError`` if two have the same name."""
    by_name: dict[str, Rule] = {}
    for rule in rules:
        if rule.name in by_name:
            raise ValueError(f"two rules of configuration are called {rule.name}")
        by_name[rule.name] = rule
    return by_name


RULES: Mapping[str, Rule] = table_of(
    value for topic in _TOPICS for value in vars(topic).values() if isinstance(value, Rule)
)
