"""What rules of configuration are about: the words of ``Case.when``, read from facts.

Used by ``applies``. A rule about overlays is not asked of an l2bridge node, and not where the driver is
unknown either: the check is then skipped with the reason why the fact is unknown, never taken for good.
"""

from collections.abc import Callable, Mapping

from nettests.errors import PlanError
from nettests.model.facts import ClusterFacts, Fact, NodeFacts
from nettests.model.words import OS

Reader = Callable[[ClusterFacts, NodeFacts | None], Fact[str]]


def _driver(_facts: ClusterFacts, node: NodeFacts | None) -> Fact[str]:
    return node.cni_driver if node else Fact(None, "a driver is a matter of nodes")


def _mode(_facts: ClusterFacts, node: NodeFacts | None) -> Fact[str]:
    return node.kube_proxy.mode if node else Fact(None, "kube-proxy's mode is a matter of nodes")


def _dsr(_facts: ClusterFacts, node: NodeFacts | None) -> Fact[str]:
    if node is None:
        return Fact(None, "DSR is a matter of nodes")
    dsr = node.kube_proxy.dsr
    return Fact(None if dsr.value is None else ("on" if dsr.value else "off"), dsr.origin)


def _proxy_pod(_facts: ClusterFacts, node: NodeFacts | None) -> Fact[str]:
    """Return whether kube-proxy runs as a Pod: only then its image names a version."""
    if node is None:
        return Fact(None, "kube-proxy's Pod is a matter of nodes")
    version = node.kube_proxy.version
    return Fact("pod" if version.known else None, version.origin)


def _plugin(facts: ClusterFacts, _node: NodeFacts | None) -> Fact[str]:
    return facts.cni.plugin


def _backend(facts: ClusterFacts, _node: NodeFacts | None) -> Fact[str]:
    return facts.cni.backend


def _windows(facts: ClusterFacts, _node: NodeFacts | None) -> Fact[str]:
    count = sum(node.os is OS.WINDOWS for node in facts.nodes)
    return Fact("some" if count else "none", f"{count} Windows nodes")


def _classes(facts: ClusterFacts, _node: NodeFacts | None) -> Fact[str]:
    classes = facts.runtime_classes
    if classes.value is None:
        return Fact(None, classes.origin)
    return Fact("some" if classes.value else "none", classes.origin)


_SUBJECTS: Mapping[str, tuple[str, Reader, frozenset[str]]] = {
    "overlay": ("the driver", _driver, frozenset({"overlay"})),
    "l2bridge": ("the driver", _driver, frozenset({"l2bridge"})),
    "hns": ("the driver", _driver, frozenset({"l2bridge", "l2tunnel", "overlay"})),
    "kernelspace": ("kube-proxy's mode", _mode, frozenset({"kernelspace"})),
    "dsr": ("DSR", _dsr, frozenset({"on"})),
    "kube-proxy-pod": ("kube-proxy", _proxy_pod, frozenset({"pod"})),
    "antrea": ("the network plugin", _plugin, frozenset({"antrea"})),
    "calico": ("the network plugin", _plugin, frozenset({"calico"})),
    "ovn-kubernetes": ("the network plugin", _plugin, frozenset({"ovn-kubernetes"})),
    "sdnbridge": ("the network plugin", _plugin, frozenset({"sdnbridge"})),
    "flannel": ("the network plugin", _plugin, frozenset({"flannel"})),
    "windows": ("the number of Windows nodes", _windows, frozenset({"some"})),
    "runtime-classes": (
        "the number of RuntimeClasses that steer Pods",
        _classes,
        frozenset({"some"}),
    ),
    "vxlan": ("the plugin's backend", _backend, frozenset({"vxlan"})),
}


def why_not_about(word: str, facts: ClusterFacts, node: NodeFacts | None) -> str:
    """Return why a rule about ``word`` is not asked of this node or cluster, or nothing."""
    if word not in _SUBJECTS:
        raise PlanError(f"a rule cannot be about {word!r}; valid: {', '.join(sorted(_SUBJECTS))}")
    name, read, wanted = _SUBJECTS[word]
    fact = read(facts, node)
    where = (
        f" of {node.name}" if node and read not in {_plugin, _backend, _windows, _classes} else ""
    )
    if fact.value is None:
        return f"{name}{where} is not known: {fact.origin}"
    if fact.value in wanted:
        return ""
    return f"{name}{where} is {fact.value}; the rule is about {' or '.join(sorted(wanted))}"
