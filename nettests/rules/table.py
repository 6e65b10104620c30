"""All rules of configuration by their names: every one that a module of rules declares."""

from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType

from nettests.rules import (
    calico_pools,
    clouds,
    cni,
    cni_policies,
    families,
    flannel,
    hns_endpoints,
    hns_networks,
    host,
    host_proxy,
    kube_proxy,
    kubelet,
    load_balancers,
    node,
    plugin,
    readiness,
    skew,
    support,
    updates,
    windows_services,
)
from nettests.rules.rule import Rule

_MODULES = (
    kube_proxy,
    host_proxy,
    windows_services,
    kubelet,
    skew,
    support,
    node,
    readiness,
    updates,
    plugin,
    calico_pools,
    clouds,
    families,
    flannel,
    hns_networks,
    hns_endpoints,
    load_balancers,
    host,
    cni,
    cni_policies,
)
"""The module of each topic; the rules are found in it."""


def table_of(rules: Iterable[Rule]) -> Mapping[str, Rule]:
    """Return rules by their names; ``ValueError`` where two have the same."""
    by_name: dict[str, Rule] = {}
    for rule in rules:
        if rule.name in by_name:
            raise ValueError(f"two rules of configuration are called {rule.name}")
        by_name[rule.name] = rule
    return by_name


def _declared(module: ModuleType) -> Iterator[Rule]:
    return (value for value in vars(module).values() if isinstance(value, Rule))


RULES: Mapping[str, Rule] = table_of(rule for module in _MODULES for rule in _declared(module))
