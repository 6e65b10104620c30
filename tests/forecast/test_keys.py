"""Keys of ``--to``: those of the cluster profile and of conditions, each with values of its own kind."""

import json
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest

from nettests.compare.known_facts import (
    BACKEND,
    CONDITIONED,
    KUBERNETES,
    LOOPBACK_DSR,
    NAT_EXCEPTIONS,
    OF_CLUSTER,
    OF_NODE,
    PLATFORM,
    PLUGIN,
    Dependency,
)
from nettests.errors import PlanError
from nettests.forecast.keys import KEYS, LAST_PATCH, left_alone, read_change, settling
from nettests.model.cluster_profile import StatedFacts, StatedKubeProxy
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.model.words import OS
from nettests.resources import manifests_path
from tests.forecast.forecasts import forecast_of

VALUES = {
    "kubernetes=1.34.2": KubernetesVersion(1, 34, 2),
    "kubernetes=v1.34.2": KubernetesVersion(1, 34, 2),
    "kubernetes=v1.34.2+rke2r1": KubernetesVersion(1, 34, 2),
    "windows.kubelet=1.33.1": KubernetesVersion(1, 33, 1),
    "kubeProxy.linux.version=1.33.1": KubernetesVersion(1, 33, 1),
    "windows.build=26100": WindowsBuild(26100),
    "windows.build=26100.x": WindowsBuild(26100),
    "windows.build=26100.4061": WindowsBuild(26100, 4061),
    "windows.build=10.0.20348.3207": WindowsBuild(20348, 3207),
    "windows.runtime=containerd://2.1.4": "containerd://2.1.4",
    "cni.driver=overlay": "overlay",
    "cni.plugin=acme": "acme",
    "cni.mtu=1450": 1450,
    "cni.natExceptions=10.244.0.0/16, fd00::/64": (
        ip_network("10.244.0.0/16"),
        ip_network("fd00::/64"),
    ),
    "cni.natExceptions=": (),
    "windows.dnsSuffixes=svc.cluster.local, cluster.local": ("svc.cluster.local", "cluster.local"),
    "windows.dnsSuffixes=": (),
    "kubeProxy.dsr=true": True,
    "kubeProxy.dsr=off": False,
    "kubeProxy.windows.mode=none": "none",
    "platform=aks": "aks",
    "windowsFirewall=On": True,
}
REFUSED = {
    "kuberntes=1.34": "did you mean 'kubernetes'?",
    "build=20348": "did you mean 'windows.build'?",
    "kubeProxy.windows.dSR=true": "did you mean 'kubeProxy.windows.dsr'?",
    "zzz=1": "valid: kubernetes, platform, cni.plugin",
    "kubernetes": "write --to kubernetes=VALUE",
    "kubernetes=next": "not a Kubernetes version: 'next'",
    "windows.build=ltsc2022": "not a Windows build: 'ltsc2022'",
    "kubeProxy.dsr=maybe": "true or false is expected, not 'maybe'",
    "cni.driver=overlya": "did you mean 'overlay'?",
    "kubeProxy.windows.mode=nftables": "not one of its values",
    "kubernetes=1.34.X": "not a Kubernetes version: '1.34.X'",
    "kubernetes=1.34.": "write 1.34.2, or 1.34 for any patch",
    "kubernetes=1.34junk": "not a Kubernetes version: '1.34junk'",
    "windows.build=26100.X": "write 26100.4061, or 26100.x for any patch level",
    "cni.mtu=large": "an MTU of 576 to 65535 bytes is expected",
    "cni.mtu=0": "an MTU of 576 to 65535 bytes is expected",
    "windows.runtime=containerd://new": "such as containerd://2.1.4",
    "cni.natExceptions=10.0.0.1/8": "10.0.0.1/8 has host bits set",
    "windows.runtime=containerd": "such as containerd://2.1.4",
    "cni.plugin=": "a name is expected",
}


@pytest.mark.parametrize(("word", "value"), VALUES.items())
def test_a_value_is_read_as_that_fact_has_it(word: str, value: object) -> None:
    """Versions, builds, switches, words and networks, as discovery would hold them."""
    assert read_change(word).value == value


@pytest.mark.parametrize(("word", "said"), REFUSED.items())
def test_what_is_no_fact_or_no_value_says_what_is(word: str, said: str) -> None:
    """The error names the option, and the nearest word that is known."""
    with pytest.raises(PlanError) as refused:
        read_change(word)
    assert str(refused.value).startswith("--to")
    assert said in str(refused.value)


@pytest.mark.parametrize("word", ["kubernetes=1.34", "kubelet=1.34.x", "kubeProxy.version=1.34"])
def test_a_minor_without_patch_stands_for_each_of_its_patches(word: str) -> None:
    """From the first one to one above the newest."""
    found = read_change(word)
    assert found.names_no_patch
    assert (found.value, found.last) == (
        KubernetesVersion(1, 34),
        KubernetesVersion(1, 34, LAST_PATCH),
    )


@pytest.mark.parametrize("word", ["kubernetes=1.34.0", "windows.build=26100", "cni.mtu=1450"])
def test_nothing_else_stands_for_several_values(word: str) -> None:
    """A build without its patch level is one value, of which conditions know that it has none."""
    assert not read_change(word).names_no_patch


def test_every_fact_of_a_condition_has_a_key() -> None:
    """Whatever an expectation may depend on can be changed, and is named where it would settle something."""
    cluster = {KUBERNETES, PLATFORM, PLUGIN, BACKEND, LOOPBACK_DSR, NAT_EXCEPTIONS}
    assert {*cluster, *CONDITIONED} - {fact for key in KEYS.values() for fact in key.facts} == set()
    assert all(settling(Dependency(one), None) for one in cluster)


def test_every_key_changes_facts_by_which_runs_are_told_apart() -> None:
    """So that a changed fact is among those that a difference lists."""
    known = {*OF_CLUSTER, *OF_NODE}
    assert {fact for key in KEYS.values() for fact in key.facts} - known == set()


def test_the_key_for_one_system_goes_before_the_one_for_all() -> None:
    """What would settle something on a Windows node is asked for Windows nodes alone."""
    assert settling(Dependency("kubelet", "target"), OS.WINDOWS) == "windows.kubelet"
    assert settling(Dependency("kubelet", "source"), OS.LINUX) == "linux.kubelet"
    assert settling(Dependency("kube-proxy", "source"), OS.LINUX) == "kubeProxy.linux.version"
    assert settling(Dependency("DSR", "source"), OS.WINDOWS) == "kubeProxy.windows.dsr"
    assert settling(Dependency("zone", "source"), OS.LINUX) is None


def leaves(schema: Any, *path: str) -> Iterator[str]:
    """Yield the dotted keys of a schema's values."""
    for name, one in schema.get("properties", {}).items():
        if "properties" in one:
            yield from leaves(one, *path, name)
        else:
            yield ".".join((*path, name))


def test_each_fact_of_a_cluster_profile_is_changed_or_named_as_left_alone() -> None:
    """The profile's keys are keys of a forecast, but for those on which no limitation can depend."""
    file = manifests_path() / "schema" / "cluster-profile.schema.json"
    stated = set(leaves(json.loads(file.read_text("utf-8"))["properties"]["facts"]))
    everything = StatedFacts(
        pod_cidrs=(ip_network("10.0.0.0/8"),),
        service_cidrs=(ip_network("10.0.0.0/8"),),
        cluster_domain="example.test",
        dns_address=ip_network("10.0.0.0/8")[10],
        kube_proxy_windows=StatedKubeProxy(source_vip={"win-1": ip_network("10.0.0.0/8")[2]}),
    )
    assert stated - set(KEYS) == set(left_alone(everything))
    assert left_alone(StatedFacts()) == ()


def test_what_was_written_is_what_is_shown() -> None:
    """A forecast names its changes as its user did."""
    found = forecast_of("win2019-l2bridge", "kubernetes=1.34", "windows.build=20348.x")
    assert found.to == ("kubernetes=1.34", "windows.build=20348.x")
