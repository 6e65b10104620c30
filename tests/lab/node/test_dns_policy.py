"""The mechanism ``dns-policy``: whether Windows pods resolve as their spec says."""

from dataclasses import replace
from ipaddress import IPv4Address

import pytest

from nettests.lab.node.environment import resolver
from nettests.lab.topology import OS, profiles

IGNORING = replace(profiles.load("win2019-l2bridge"), mechanisms=(("dns-policy", 0),))
CLUSTER, OUTSIDE, NAMED = "10.96.0.10", "198.51.100.10", "192.0.2.53"
SPECS = {
    "None": {"dnsPolicy": "None", "dnsConfig": {"nameservers": [NAMED], "searches": ["x"]}},
    "Default": {"dnsPolicy": "Default"},
}


@pytest.mark.parametrize(
    ("policy", "os", "on_host", "server"),
    [
        ("None", OS.WINDOWS, False, CLUSTER),
        ("Default", OS.WINDOWS, False, CLUSTER),
        ("Default", OS.WINDOWS, True, OUTSIDE),
        ("None", OS.LINUX, False, NAMED),
        ("Default", OS.LINUX, False, OUTSIDE),
    ],
)
def test_windows_pods_may_ignore_their_policy(
    policy: str, os: OS, *, on_host: bool, server: str
) -> None:
    """With the mechanism off, ordinary Windows pods query the cluster's DNS alone; all others do as they say."""
    pod = {"metadata": {"name": "p", "namespace": "ns"}, "spec": SPECS[policy]}
    made = resolver(pod, IGNORING, os, IPv4Address("10.244.1.2"), on_host=on_host)
    assert made.servers == (server,)
