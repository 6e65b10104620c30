"""Limitations of Pods change exactly at the version of the runtime or the build that documents name."""

import pytest

from nettests.model.check_id import member_of
from nettests.model.facts import known
from tests.facts import cluster_facts, with_windows
from tests.manifests.shipped import expectations


@pytest.mark.parametrize(
    ("runtime", "outcome"),
    [
        ("containerd://1.7.28", "conforms"),
        ("containerd://2.0.0", "refused or timed_out"),
        ("containerd://2.1.9", "refused or timed_out"),
        ("docker://20.10.9", "conforms"),
    ],
)
def test_forwarding_to_loopback_depends_on_the_runtime(runtime: str, outcome: str) -> None:
    """containerd 2 dials the Pod's address; only what listens on its loopback alone is lost, on Windows."""
    facts = with_windows(cluster_facts("win2019-l2bridge"), runtime=known(runtime, "test"))
    found = {
        check: str(one.expected)
        for check, one in expectations(facts).items()
        if check.startswith("pod-port-forward/") and not member_of(check)
    }
    assert found == {
        "pod-port-forward/linux-1/http": "conforms",
        "pod-port-forward/linux-1/loopback": "conforms",
        "pod-port-forward/windows-1/http": "conforms",
        "pod-port-forward/windows-1/loopback": outcome,
    }
