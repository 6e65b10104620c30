"""What versions and plugins say of a Windows node: HostProcess containers, and the type of its HNS network."""

import pytest

from nettests.model.facts import Fact, known, unknown
from nettests.model.network_drivers import by_backend, by_plugin
from nettests.model.versions import KubernetesVersion
from nettests.model.windows_programs import host_process

NEW, OLD = KubernetesVersion(1, 23), KubernetesVersion(1, 22, 17)


@pytest.mark.parametrize(
    ("kubelet", "runtime", "able"),
    [
        (NEW, "containerd://1.6.0", True),
        (NEW, "containerd://2.1.9+unknown", True),
        (NEW, "containerd://1.10.0", True),
        (NEW, "containerd://1.5.18", False),
        (OLD, "containerd://1.7.20", False),
        (NEW, "docker://20.10.9", False),
        (None, "containerd://1.7.20", None),
        (None, "docker://20.10.9", None),
        (NEW, "cri-o://1.30.0", None),
        (NEW, "", None),
    ],
)
def test_host_process_takes_kubelet_and_runtime(
    kubelet: KubernetesVersion | None, runtime: str, able: bool | None
) -> None:
    """Kubernetes 1.23 and containerd 1.6, or later; Docker never had them, and of others nothing is known."""
    assert host_process(kubelet, runtime).value is able


def test_why_host_process_is_known_or_not_is_told() -> None:
    """The origin names both versions, or the one that is missing."""
    assert host_process(NEW, "containerd://1.7.20").origin == "kubelet 1.23.0, containerd://1.7.20"
    assert host_process(None, "x").origin == "the kubelet's version is unknown"
    assert host_process(NEW, "cri-o://1.30.0").origin == "the runtime is 'cri-o://1.30.0'"
    docker = host_process(NEW, "docker://20.10.9")
    assert docker.origin == "runtime docker://20.10.9: Docker never had them"


@pytest.mark.parametrize(
    ("plugin", "backend", "driver"),
    [
        ("flannel", "host-gw", "l2bridge"),
        ("flannel", "vxlan", "overlay"),
        (None, "vxlan", "overlay"),
        ("calico", "vxlan", "overlay"),
        ("calico", "windows-bgp", "l2bridge"),
        ("calico", "host-gw", None),
        ("antrea", "vxlan", None),
        ("flannel", None, None),
    ],
)
def test_a_backend_makes_one_type_of_network(
    plugin: str | None, backend: str | None, driver: str | None
) -> None:
    """Of a plugin that is not known, Flannel's backends are recognised; the same word may mean nothing elsewhere."""
    found = by_backend(Fact(plugin, "a DaemonSet"), Fact(backend, "its ConfigMap"))
    assert (found and found.value) == driver
    if found:
        assert found.origin == f"its ConfigMap: {backend}"


@pytest.mark.parametrize(
    ("plugin", "platform", "driver"),
    [
        ("antrea", "other", "transparent"),
        ("aws-vpc-cni", "eks", "l2bridge"),
        ("azure-cni", "aks", "l2bridge"),
        ("azure-cni", "other", None),
        ("calico", "aks", None),
    ],
)
def test_some_plugins_make_one_type_of_network_only(
    plugin: str, platform: str, driver: str | None
) -> None:
    """Everywhere, or on a managed service; of all others it has to be stated, and the reason says where."""
    found = by_plugin(known(plugin, "a DaemonSet"), known(platform, "a label"))
    assert found.value == driver
    if driver is None:
        assert found.origin == (
            f"the HNS network type of {plugin} cannot be read from the API; "
            "state facts.cni.driver in the cluster profile"
        )


def test_of_an_unknown_plugin_nothing_is_read() -> None:
    """It has no name that could be told."""
    assert (
        "of an unknown plugin cannot be read"
        in by_plugin(unknown("no right to list"), known("other", "x")).origin
    )
