"""The host name that a container sees, from its pod's fields."""

import pytest

from nettests.lab.client import Json
from nettests.lab.node.environment import kernel_hostname
from nettests.lab.topology import profiles

PROFILE = profiles.load("win2019-l2bridge")


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ({"hostname": "w", "subdomain": "own"}, "w"),
        ({"hostname": "w", "setHostnameAsFQDN": True}, "w"),
        (
            {"hostname": "w", "subdomain": "own", "setHostnameAsFQDN": True},
            "w.own.ns.svc.cluster.local",
        ),
    ],
)
def test_the_host_name_is_whole_where_it_is_requested(spec: Json, name: str) -> None:
    """``setHostnameAsFQDN`` needs a subdomain to have an effect."""
    assert (
        kernel_hostname({"metadata": {"name": "p", "namespace": "ns"}, "spec": spec}, PROFILE)
        == name
    )
