"""The rules about versions beside each other."""

import json

import pytest

from nettests.rules import RULES, Evidence, UnreadableError
from tests.rules.made import FACTS, found, node
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
    beside = {"server": server, "kubelet": own}
    assert found("kube-proxy-skew", settings(own, v="6"), **beside).conforms is conforms


@pytest.mark.parametrize(
    ("own", "kubelet", "conforms"),
    [
        ("v1.29.4", "1.26.15", True),
        ("v1.29.4", "1.25.16", False),
        ("v1.26.1", "1.29.4", True),
        ("v1.25.16", "1.28.0", True),
        ("v1.24.17", "1.26.0", True),
        ("v1.24.17", "1.22.0", True),
        ("v1.24.17", "1.21.0", False),
    ],
)
def test_kube_proxy_stands_within_a_few_minors_of_its_kubelet(
    own: str, kubelet: str, conforms: bool
) -> None:
    """Three minors either way from kube-proxy 1.25 on, two before."""
    server = max(own.removeprefix("v"), kubelet)
    made = found("kube-proxy-skew", settings(own, v="6"), server=server, kubelet=kubelet)
    assert made.conforms is conforms
    assert f"kubelet {kubelet}" in made.detail


def test_a_kubelet_of_unknown_version_leaves_kube_proxy_unread() -> None:
    """What is known to be wrong beside the API server is said all the same."""
    settings_ = settings("v1.29.4", v="6")
    known = {name: value for name, value in FACTS.items() if name != "kubelet"}
    with pytest.raises(UnreadableError, match="kubelet is not known"):
        RULES["kube-proxy-skew"].demand(Evidence(texts=settings_, facts=known))
    newer = Evidence(texts=settings_, facts={**known, "server": "1.28.0"})
    assert not RULES["kube-proxy-skew"].demand(newer).conforms
