"""Facts after an upgrade: what was stated, what follows from it, and what nobody can know yet."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from nettests.errors import PlanError
from nettests.forecast.facts_after import changed
from nettests.forecast.keys import KEYS, read_change, stated_changes
from nettests.model.cluster_profile import StatedFacts, StatedKubeProxy
from nettests.model.facts import ClusterFacts, Fact, NodeFacts, known, unknown
from nettests.model.versions import KubernetesVersion
from nettests.model.words import OS
from tests.facts import PROFILES, cluster_facts, with_windows
from tests.forecast.forecasts import NEW, OLD, TO_NEW, forecast_of


def after(facts: str | ClusterFacts, *to: str) -> ClusterFacts:
    """Return the facts of a profile, or these, after the changes."""
    before = cluster_facts(facts) if isinstance(facts, str) else facts
    return changed(before, [read_change(word) for word in to])


def windows(facts: ClusterFacts) -> NodeFacts:
    """Return the first Windows node."""
    return next(node for node in facts.nodes if node.os is OS.WINDOWS)


def linux(facts: ClusterFacts) -> NodeFacts:
    """Return the first Linux node."""
    return next(node for node in facts.nodes if node.os is OS.LINUX)


def valued(value: Any) -> Any:
    """Return facts without where they were read."""
    if isinstance(value, Fact):
        return value.value
    if isinstance(value, tuple):
        return tuple(map(valued, value))
    if is_dataclass(value):
        return {one.name: valued(getattr(value, one.name)) for one in fields(value)}
    return value


def test_stated_changes_turn_one_profile_into_another() -> None:
    """But for where a fact was read, the facts are those that discovery reads after the upgrade."""
    assert valued(after(OLD, *TO_NEW)) == valued(cluster_facts(NEW))


def test_the_order_of_changes_does_not_matter() -> None:
    """The narrower key wins, whichever was written first."""
    words = ("kubernetes=1.34.2", "windows.kubelet=1.33.1", "kubeProxy.version=1.32.1")
    assert after(OLD, *words) == after(OLD, *reversed(words))
    node = windows(after(OLD, *words))
    assert node.kubelet.value == KubernetesVersion(1, 33, 1)
    assert node.kube_proxy.version.value == KubernetesVersion(1, 32, 1)


def test_kubernetes_takes_kubelets_and_kube_proxies_along() -> None:
    """A cluster is upgraded as a whole unless somebody says otherwise; each fact says who stated it."""
    found = after(OLD, "kubernetes=1.34.2")
    version = KubernetesVersion(1, 34, 2)
    assert (found.server_version, found.server_git_version) == (version, "v1.34.2")
    for node in found.nodes:
        assert node.kubelet == known(version, "--to kubernetes")
        assert node.kube_proxy.version == known(version, "--to kubernetes")


def test_a_vendor_s_build_is_no_fact_that_changes() -> None:
    """What it adds to the next version nobody knows, and no condition speaks of it."""
    ours = replace(cluster_facts(OLD), server_git_version="v1.24.17-eks-036c24b")
    found = forecast_of(ours, "kubernetes=1.34.2")
    assert "Kubernetes build" not in {one.name for one in found.facts}
    assert "Kubernetes" in {one.name for one in found.facts}


def test_versions_that_were_not_known_stay_unknown() -> None:
    """A kube-proxy that is a service of its host has some version after the upgrade too."""
    hidden = with_windows(cluster_facts(OLD), kube_proxy={"version": unknown("a host service")})
    node = windows(after(hidden, "kubernetes=1.34.2"))
    assert node.kube_proxy.version == unknown("a host service")
    assert node.kubelet.known
    silent = with_windows(cluster_facts(OLD), kubelet=unknown("unreadable"))
    assert windows(after(silent, "kubernetes=1.34.2")).kubelet == unknown("unreadable")


def test_a_fact_of_windows_is_one_of_each_windows_node() -> None:
    """And of no other."""
    found = after("mixed-builds", "windows.build=26100.x", "windowsFirewall=on")
    builds = {str(node.build.value) for node in found.nodes if node.os is OS.WINDOWS}
    assert builds == {"26100"}
    assert linux(found) == linux(cluster_facts("mixed-builds"))


def test_a_fact_of_windows_needs_a_windows_node() -> None:
    """Where there is none the forecast would be of another cluster."""
    with pytest.raises(PlanError, match="this cluster has none"):
        after("linux", "windows.build=26100.x")
    assert after("linux", "kubelet=1.36.1").nodes[0].kubelet.known


@pytest.mark.parametrize(
    ("backend", "driver"), [("vxlan", "overlay"), ("host-gw", "l2bridge"), ("wireguard", None)]
)
def test_the_driver_follows_the_backend(backend: str, driver: str | None) -> None:
    """By discovery's own rule, and unknown where that knows none."""
    found = windows(after("azure-l2tunnel", "cni.plugin=flannel", f"cni.backend={backend}"))
    assert found.cni_driver.value == driver


def test_a_stated_driver_goes_before_the_rule() -> None:
    """Somebody knows better."""
    found = after(OLD, "cni.backend=vxlan", "cni.driver=l2tunnel")
    assert windows(found).cni_driver == known("l2tunnel", "--to cni.driver")


def test_what_was_read_of_one_network_is_unknown_of_another() -> None:
    """MTU, exceptions and options are the old configuration's, until somebody states the new one's."""
    found = after(OLD, "cni.backend=vxlan", "cni.mtu=1450").cni
    assert found.mtu == known(1450, "--to cni.mtu")
    assert not found.nat_exceptions.known
    assert "--to cni.natExceptions=" in found.nat_exceptions.origin
    assert not found.loopback_dsr.known
    back = after("win2022-overlay-dsr", "cni.backend=host-gw").cni
    assert not back.vni.known
    assert "--to" not in back.vni.origin


def test_another_plugin_has_a_backend_that_nobody_knows() -> None:
    """Unless it is stated, too."""
    assert not after(OLD, "cni.plugin=calico").cni.backend.known
    assert after(OLD, "cni.plugin=calico", "cni.backend=vxlan").cni.backend.value == "vxlan"
    assert windows(after(OLD, "cni.plugin=antrea")).cni_driver.value == "transparent"


def test_the_same_network_keeps_what_was_read_of_it() -> None:
    """Naming what is there already changes no other fact."""
    found = after(OLD, "cni.plugin=flannel", "cni.backend=host-gw")
    assert valued(found) == valued(cluster_facts(OLD))


@pytest.mark.parametrize(
    ("to", "possible"),
    [
        (("windows.kubelet=1.22.1",), False),
        (("windows.kubelet=1.23.1",), True),
        (("windows.runtime=containerd://1.5.9",), False),
        (("windows.runtime=docker://20.10.9",), False),
        (("windows.runtime=cri-o://1.30",), None),
        (("windows.kubelet=1.22.1", "windows.hostProcess=true"), True),
    ],
)
def test_host_process_follows_kubelet_and_runtime(to: Sequence[str], possible: bool | None) -> None:
    """By discovery's own rule, unless it is stated."""
    facts = with_windows(cluster_facts(OLD), runtime=known("containerd://1.7.20", "test"))
    assert windows(after(facts, *to)).host_process.value is possible


def test_host_process_stays_where_no_version_changes() -> None:
    """What was read of a node is worth more than a rule."""
    facts = with_windows(cluster_facts(OLD), host_process=known(value=False, origin="tried"))
    assert windows(after(facts, "windows.build=20348.1")).host_process.value is False


def test_where_kube_proxy_goes_its_settings_go() -> None:
    """A plugin that serves Services has neither DSR nor a version of kube-proxy."""
    proxy = windows(after(NEW, "kubeProxy.windows.mode=none")).kube_proxy
    assert proxy.replaced
    assert not any(fact.known for fact in (proxy.version, proxy.dsr, proxy.source_vip))


@pytest.mark.parametrize("profile", PROFILES)
def test_what_is_stated_as_it_is_changes_nothing(profile: str) -> None:
    """Of every profile: its own version and plugin, and builds where nodes have one."""
    facts = cluster_facts(profile)
    words = [f"kubernetes={facts.server_version}", f"cni.plugin={facts.cni.plugin.value}"]
    builds = {node.build.value for node in facts.nodes if node.build.known}
    words += [f"windows.build={build}" for build in builds if len(builds) == 1]
    assert valued(after(facts, *words)) == valued(facts)


def test_a_cluster_profile_states_the_same_changes() -> None:
    """Each of its facts, by the key of the command line."""
    stated = StatedFacts(
        cni_backend="vxlan",
        cni_loopback_dsr=False,
        kube_proxy_windows=StatedKubeProxy(dsr=True, mode="kernelspace"),
        kube_proxy_linux=StatedKubeProxy(localhost_node_ports=False),
    )
    changes = stated_changes(stated)
    assert {str(one) for one in changes} == {
        "cni.backend=vxlan",
        "cni.loopbackDSR=false",
        "kubeProxy.windows.mode=kernelspace",
        "kubeProxy.windows.dsr=true",
        "kubeProxy.linux.localhostNodePorts=false",
    }
    by_profile = changed(cluster_facts(OLD), changes)
    assert valued(by_profile) == valued(after(OLD, *map(str, changes)))
    assert windows(by_profile).kube_proxy.dsr.origin == "--to-profile"


SAMPLES = {
    "_version": ["1.30.1"],
    "_build": ["20348.7"],
    "_runtime": ["containerd://2.0.1"],
    "_on_off": ["true", "false"],
    "_mtu": ["1400"],
    "_name": ["acme"],
}


@pytest.mark.parametrize("name", KEYS)
def test_every_change_can_be_made(name: str) -> None:
    """Each key's place is there in the facts: some value of it makes them others."""
    words = {"platform": "aks", "cni.driver": "nat", "cni.natExceptions": "10.0.0.0/8"}
    word = words.get(name, "none")
    texts = SAMPLES.get(KEYS[name].read.__name__, [word])
    was = valued(cluster_facts(OLD))
    assert any(valued(after(OLD, f"{name}={text}")) != was for text in texts)
