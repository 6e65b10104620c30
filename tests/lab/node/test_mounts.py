"""Which resolv.conf a container of the lab resolves by: the kubelet's, or one that the pod mounts."""

from typing import Any

import pytest

from nettests.lab.interfaces import ResolverConfig
from nettests.lab.node.environment import mounted

OWN = ResolverConfig(servers=("10.96.0.10",), searches=("svc.cluster.local",), ndots=5)
TEXT = "search a.example b.example\nnameserver 192.0.2.53\nnameserver 192.0.2.54\noptions ndots:2\n"
REFERENCE = {"path": "resolv.conf", "fieldRef": {"fieldPath": "metadata.annotations['text']"}}


def pod(volume: dict[str, Any]) -> dict[str, Any]:
    """Return a pod with one volume."""
    metadata = {"name": "p", "namespace": "n", "uid": "u", "annotations": {"text": TEXT}}
    return {"metadata": metadata, "spec": {"volumes": [{"name": "v", **volume}]}}


@pytest.mark.parametrize(
    "mount",
    [{"mountPath": "/etc/resolv.conf", "subPath": "resolv.conf"}, {"mountPath": "/etc/"}],
    ids=["one file", "a folder"],
)
def test_a_mounted_file_replaces_the_kubelet_s(mount: dict[str, str]) -> None:
    """Servers, suffixes and ndots are those of the file."""
    item = pod({"downwardAPI": {"items": [REFERENCE]}})
    found = mounted(OWN, item, {"volumeMounts": [{"name": "v", **mount}]})
    assert found.servers == ("192.0.2.53", "192.0.2.54")
    assert (found.searches, found.ndots) == (("a.example", "b.example"), 2)


@pytest.mark.parametrize(
    ("volume", "mount"),
    [
        ({"downwardAPI": {"items": [REFERENCE]}}, {"mountPath": "/elsewhere"}),
        (
            {"downwardAPI": {"items": [REFERENCE]}},
            {"mountPath": "/etc/resolv.conf", "subPath": "other"},
        ),
        ({"emptyDir": {}}, {"mountPath": "/etc"}),
    ],
    ids=["elsewhere", "another file", "no content"],
)
def test_other_mounts_change_nothing(volume: dict[str, Any], mount: dict[str, str]) -> None:
    """Only what lies at /etc/resolv.conf is read."""
    assert mounted(OWN, pod(volume), {"volumeMounts": [{"name": "v", **mount}]}) == OWN
