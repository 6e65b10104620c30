"""What the lab's installers make of network plugins, by the harness' rules about them: in order, and as switches break it."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from nettests.lab.installers import system_objects
from nettests.lab.topology import Profile, profiles
from nettests.rules import RULES, Evidence, Finding
from tests.rules.made import FACTS

CALICO = ("calico-bgp-l2bridge", "calico-overlay-dsr")
FLANNEL = ("win2019-l2bridge", "win2019-overlay", "win2022-overlay-services")


def profile_of(name: str, **switches: int) -> Profile:
    """Return a profile with these mechanisms switched."""
    return replace(profiles.load(name), mechanisms=tuple(switches.items()))


def judged(rule: str, profile: Profile, texts: Mapping[str, str]) -> Finding:
    """Return what a rule finds in these readings of a lab of that profile."""
    own = {"driver": profile.cni.driver.value, "backend": profile.cni.backend}
    return RULES[rule].demand(Evidence(texts=texts, facts={**FACTS, **own}))


@pytest.mark.parametrize("name", CALICO)
@pytest.mark.parametrize(("ipip", "conforms"), [(0, True), (1, False)])
def test_calicos_pool_encapsulates_as_windows_can(name: str, ipip: int, *, conforms: bool) -> None:
    """As its operator makes it, unless a switch gives it IP in IP."""
    profile = profile_of(name, **{"calico-ipip": ipip})
    items = [item for _, item in system_objects.objects(profile) if item["kind"] == "IPPool"]
    assert len(items) == 1
    found = judged("calico-pools", profile, {"calico-ip-pools": json.dumps({"items": items})})
    assert found.conforms is conforms


@pytest.mark.parametrize("name", CALICO)
@pytest.mark.parametrize(("borrowing", "conforms"), [(0, True), (1, False)])
def test_calicos_nodes_borrow_no_addresses(name: str, borrowing: int, *, conforms: bool) -> None:
    """As its documents require beside Windows nodes, unless a switch allows it."""
    profile = profile_of(name, **{"calico-borrowing": borrowing})
    items = [item for _, item in system_objects.objects(profile) if item["kind"] == "IPAMConfig"]
    texts = {"calico-ipam-configs": json.dumps({"items": items})}
    assert judged("calico-strict-affinity", profile, texts).conforms is conforms


@pytest.mark.parametrize(
    ("name", "minor", "conforms"),
    [
        *((name, 21, True) for name in FLANNEL),
        ("win2019-overlay", 11, False),
        ("win2019-l2bridge", 11, True),
        ("win2019-l2bridge", 9, False),
    ],
)
def test_flannel_on_windows_is_a_release_that_documents_take(
    name: str, minor: int, *, conforms: bool
) -> None:
    """Its image tells; on overlay an older one gives nodes no way to their own Pods."""
    profile = profile_of(name, **{"flannel-release": minor})
    (made,) = [
        item
        for _, item in system_objects.objects(profile)
        if item["metadata"]["name"] == "kube-flannel-ds-windows-amd64"
    ]
    own = {"name": "kube-flannel-x", "namespace": "kube-flannel"}
    pod = {**made["spec"]["template"], "metadata": own}
    found = judged("flannel-release", profile, {"node-pods": json.dumps({"items": [pod]})})
    assert found.conforms is conforms


@pytest.mark.parametrize("name", FLANNEL)
def test_no_other_plugin_has_pools_of_calico(name: str) -> None:
    """They are its own."""
    kinds = {item["kind"] for _, item in system_objects.objects(profiles.load(name))}
    assert "IPPool" not in kinds
