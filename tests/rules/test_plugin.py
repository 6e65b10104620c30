"""The rules about releases of network plugins."""

import json

import pytest

from nettests.rules import NothingThereError, UnreadableError
from tests.rules.made import found, pods

AGENT = {
    "metadata": {"name": "antrea-agent-windows-abcde"},
    "spec": {"hostNetwork": True, "containers": [{"image": "antrea/antrea-agent-windows:v2.2.0"}]},
}


def with_agent(image: str | None) -> str:
    """Return the Pods of a node with kube-proxy, and Antrea's agent of an image."""
    items = json.loads(pods())["items"]
    if image:
        items.append({**AGENT, "spec": {"containers": [{"image": image}]}})
    return json.dumps({"items": items})


def test_antrea_runs_alone() -> None:
    """Without kube-proxy all is well."""
    texts = {"node-pods": json.dumps({"items": [AGENT]})}
    assert found("antrea-alone", texts).conforms


@pytest.mark.parametrize(
    ("image", "conforms"),
    [
        ("antrea/antrea-agent-windows:v2.2.0", False),
        ("docker.io/antrea/antrea-windows:v1.13.0", False),
        ("projects.registry.vmware.com/antrea/antrea-windows:v1.12.1", True),
    ],
)
def test_antrea_before_1_13_may_have_kube_proxy(image: str, conforms: bool) -> None:
    """The image of the agent tells the release."""
    assert found("antrea-alone", {"node-pods": with_agent(image)}).conforms is conforms


def test_kube_proxy_beside_an_unknown_antrea_is_unreadable() -> None:
    """Without a release nothing is demanded and nothing is good."""
    with pytest.raises(UnreadableError, match="the release of antrea"):
        found("antrea-alone", {"node-pods": with_agent(None)})


@pytest.mark.parametrize(
    ("image", "backend", "conforms"),
    [
        ("quay.io/calico/node-windows:v3.29.1", "vxlan", True),
        ("docker.io/calico/windows:v3.16.0", "windows-bgp", True),
        ("calico/windows:v3.15.5", "vxlan", False),
        ("calico/windows:v3.12.0", "none", True),
    ],
)
def test_calico_carries_pods_since_3_16(image: str, backend: str, conforms: bool) -> None:
    """Older releases are policy engines beside another plugin."""
    agent = {
        "metadata": {"name": "calico-node-windows"},
        "spec": {"containers": [{"image": image}]},
    }
    texts = {"node-pods": json.dumps({"items": [agent]})}
    assert found("calico-networking", texts, backend=backend).conforms is conforms


def test_calico_without_a_known_backend_is_unreadable() -> None:
    """Whether it carries Pods is then not known."""
    with pytest.raises(UnreadableError, match="backend"):
        found("calico-networking", {"node-pods": pods()})


def flannel(*images: str) -> dict[str, str]:
    """Return the Pods of a node with kube-proxy for Flannel, and Flannel's of these images."""
    items = json.loads(pods())["items"]
    items += [
        {"metadata": {"name": f"kube-flannel-{n}"}, "spec": {"containers": [{"image": image}]}}
        for n, image in enumerate(images)
    ]
    return {"node-pods": json.dumps({"items": items})}


@pytest.mark.parametrize(
    ("image", "driver", "conforms"),
    [
        ("docker.io/sigwindowstools/flannel:v0.21.5-hostprocess", "overlay", True),
        ("docker.io/sigwindowstools/flannel:v0.12.0-hostprocess", "overlay", True),
        ("docker.io/sigwindowstools/flannel:v0.11.0", "overlay", False),
        ("docker.io/sigwindowstools/flannel:0.11.0", "l2bridge", True),
        ("quay.io/coreos/flannel:v0.9.1-amd64", "l2bridge", False),
        ("rancher/mirrored-flannel-flannel:v0.26.1", "overlay", True),
        ("ghcr.io/flannel-io/flannel:v0.26.1@sha256:0123", "overlay", True),
    ],
)
def test_flannels_image_tells_its_release(image: str, driver: str, conforms: bool) -> None:
    """Overlay needs HostRoute, which gives a node a way to its own Pods."""
    said = found("flannel-release", flannel(image), driver=driver)
    assert said.conforms is conforms
    assert "Flannel 0." in said.detail


@pytest.mark.parametrize("images", [(), ("registry.example/flannel@sha256:0123",), ("own:v1.0",)])
def test_a_flannel_that_no_image_tells_is_not_judged(images: tuple[str, ...]) -> None:
    """A script started it, or somebody built the image: kube-proxy's tag names Flannel and is none."""
    with pytest.raises(NothingThereError, match="tells Flannel's release"):
        found("flannel-release", flannel(*images))


def test_the_oldest_of_several_counts() -> None:
    """While it is brought to another release a node may have both."""
    both = flannel("sigwindowstools/flannel:v0.21.5", "sigwindowstools/flannel:v0.11.0")
    assert not found("flannel-release", both, driver="overlay").conforms
