"""The objects of network plugins, without a lab."""

import pytest

from nettests.lab.installers import plugin_objects
from nettests.lab.topology import Profile, profiles


@pytest.mark.parametrize("profile", profiles.available(), ids=lambda one: one.name)
def test_a_lab_waits_for_all_daemons_of_its_plugin(profile: Profile) -> None:
    """They stand in kube-system or in a namespace of the plugin's own: Pods of others are not waited for."""
    waited_for = {"kube-system", *plugin_objects.namespaces(profile)}
    assert {daemon.namespace for daemon in plugin_objects.daemons(profile)} <= waited_for


@pytest.mark.parametrize(
    ("profile", "nodes"),
    [
        ("calico-overlay-dsr", {"linux-1", "linux-2", "win-2022", "win-2025"}),
        ("ovn-hybrid-overlay", {"linux-1", "linux-2"}),
        ("win2022-l2bridge-dsr", set()),
    ],
)
def test_policies_bind_where_the_plugin_brings_an_agent(profile: str, nodes: set[str]) -> None:
    """OVN-Kubernetes enforces NetworkPolicies on the nodes that it runs on, Flannel on none."""
    assert set(plugin_objects.nodes_with_policies(profiles.load(profile))) == nodes
