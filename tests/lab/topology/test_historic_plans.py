"""What a run on historic clusters would say, 1709 to 20H2, Docker and kube-proxy's userspace mode: the lines of ``nettests plan``.

Offline, on the facts of each profile as discovery reads them, with the probe image that its cluster profile names.
"""

import pytest

from nettests.cli.discover_commands import planned_lines
from nettests.lab.kubeconfig import documents
from nettests.lab.topology import profiles
from nettests.plan import load
from nettests.resources import suites_path
from nettests.session.blueprint import blueprint, read_manifests
from tests.lab.topology.test_discovered_profiles import HISTORIC, discovered

FLOWS = load([suites_path()]).flows
MANIFESTS = read_manifests()
DOCKER = "win-1 has no HostProcess containers: runtime docker://{}: Docker never had them"
OF_NODE = "node-to-service-clusterip/windows-1/linux-1/other-node/tcp"
SEEN = "dsr-source-address/windows-1/linux-1/other-node/tcp"
STICKY = "session-affinity/windows-1/linux-1/other-node/tcp"
MODE = "kube-proxy-mode/windows-1/proxy-mode"
FIELD = "windows-pod-fields/api/hostPID"
PING = "icmp-egress/windows-1/external/outside/icmp"
IGNORED = "connected, several-backends (aff-clientip-hns), 2 nodes"
LINES: dict[str, dict[str, str]] = {
    "k8s-19-1709-l2bridge": {
        SEEN: "connected, source = client-node (dsr-source-ip-non-dsr), 2 pairs of nodes",
        STICKY: IGNORED,
        FIELD: "accepted (plat-pod-os-field-api)",
        OF_NODE: f"skipped: {DOCKER.format('17.6.2')}",
        PING: "timed_out or unreachable (icmp-pod-external), 2 nodes",
    },
    "k8s-114-1803-overlay": {
        SEEN: "connected, source = source-vip (dsr-source-vip-non-dsr), 2 pairs of nodes",
        STICKY: IGNORED,
        OF_NODE: f"skipped: {DOCKER.format('18.9.9')}",
    },
    "k8s-114-1809-userspace": {
        SEEN: "connected, source = client-node (svc-userspace-source), 2 pairs of nodes",
        STICKY: "open (svc-userspace-default), 2 nodes",
        MODE: "deviates (svc-userspace-default-mode), 2 nodes",
        OF_NODE: f"skipped: {DOCKER.format('18.9.9')}",
    },
    "k8s-118-1903-userspace": {
        SEEN: "connected, source = client-node (svc-userspace-source), 2 pairs of nodes",
        MODE: "deviates (svc-userspace-default-mode), 2 nodes",
        OF_NODE: f"skipped: {DOCKER.format('19.3.14')}",
    },
    "k8s-119-1909-overlay": {
        SEEN: "connected, source = source-vip (dsr-source-vip-non-dsr), 2 pairs of nodes",
        STICKY: IGNORED,
        MODE: "conforms, 2 nodes",
        OF_NODE: f"skipped: {DOCKER.format('19.3.14')}",
    },
    "k8s-123-20h2-overlay-dsr": {
        SEEN: "connected, source = client-pod, 2 pairs of nodes",
        STICKY: IGNORED,
        OF_NODE: "open (node-svc-vip-dsr-host-rules), 2 pairs of nodes",
        FIELD: "open (fields-behind-gates)",
    },
}


def test_every_historic_profile_has_its_lines() -> None:
    """None is without a plan that somebody looked at."""
    assert set(LINES) == set(HISTORIC)


@pytest.mark.parametrize("name", LINES)
def test_a_plan_says_what_a_run_would_expect(name: str) -> None:
    """Windows nodes take part, and their checks name what old builds, Docker and old modes of kube-proxy do."""
    profile = profiles.load(str(HISTORIC[name]))
    facts = discovered(profile, documents.OWN_IMAGE)
    lines = list(planned_lines(blueprint(facts, FLOWS, MANIFESTS, ())))
    said = dict(line.split("  ", 1) for line in lines[:-1])
    assert {check: said[check] for check in LINES[name]} == LINES[name]
    assert sum("/windows-1" in check for check in said) > 300
    assert lines[-1].endswith("Services")


@pytest.mark.parametrize(
    ("name", "named"), [("k8s-119-1909-overlay", True), ("k8s-114-1809-userspace", False)]
)
def test_an_image_is_named_where_there_is_none_of_the_build(name: str, named: bool) -> None:
    """The cluster profile names one of the owner's; Windows Server 2019 has today's."""
    profile = profiles.load(str(HISTORIC[name]))
    text = documents.cluster_profile(
        profile, "http://x:1", "socks5://x:2", mtu=1500, nat_exceptions=()
    )
    assert (f"image: {documents.OWN_IMAGE}" in text) is named
