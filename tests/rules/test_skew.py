"""The rules about versions beside each other."""

import json

import pytest

from tests.rules.made import found, node
from tests.rules.test_kube_proxy import settings


@pytest.mark.parametrize(
    ("kubelet", "conforms"), [("v1.29.4", True), ("v1.25.1", False), ("v1.30.1", False)]
)
def test_the_kubelet_follows_the_version_skew_policy(kubelet: str, conforms: bool) -> None:
    """Never newer than the API server."""
    texts = {"node": json.dumps(node(kubelet=kubelet))}
    assert found("kubelet-skew", texts).conforms is conforms


@pytest.mark.parametrize(
    ("own", "server", "conforms"),
    [
        ("v1.29.4", "1.29.0", True),
        ("v1.26.4", "1.29.0", True),
        ("v1.25.4", "1.29.0", False),
        ("v1.24.4", "1.27.0", False),
        ("v1.30.0", "1.29.9", False),
    ],
)
def test_components_follow_the_version_skew_policy(own: str, server: str, conforms: bool) -> None:
    """Three minors behind an API server from 1.28 on, two before, never ahead."""
    assert found("kube-proxy-skew", settings(own, v="6"), server=server).conforms is conforms
