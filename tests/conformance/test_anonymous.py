"""What is published of a reason: the sentence, without names of nodes, addresses, or the cluster's own name."""

from dataclasses import replace

import pytest

from nettests.conformance.flow_evidence import ADDRESS, LENGTH, Anonymous
from nettests.model.facts import ExternalTarget
from tests.conformance.claimed import FACTS

SITE = replace(
    FACTS,
    context="prod-eu",
    namespace="team-a",
    external_target=ExternalTarget(name="www.corp.example"),
    nodes=tuple(
        replace(node, name=f"machine-{number}", hostname=f"machine-{number}.corp.example")
        for number, node in enumerate(FACTS.nodes, start=1)
    ),
)
NODE = next(node for node in SITE.nodes if node.pool == "windows-1")
NAMES = Anonymous.of(SITE, "https://api.prod.example:6443")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            f"the driver of {NODE.name} is l2bridge",
            f"the driver of windows-1 node {NODE.member} is l2bridge",
        ),
        ("no answer from 10.244.3.17:8080", f"no answer from {ADDRESS}"),
        ("the network 10.0.0.0/8 and fd00:10:244::/64", f"the network {ADDRESS} and {ADDRESS}/64"),
        ("dial tcp [fe80::1%eth0]:80: i/o timeout", f"dial tcp [{ADDRESS}]:80: i/o timeout"),
        ("by 00:15:5d:aa:bb:cc and 00-15-5D-AA-BB-CC", f"by {ADDRESS} and {ADDRESS}"),
        ("GET https://registry.corp/v2/: EOF", f"GET https://{ADDRESS}/v2/: EOF"),
        ("lookup api.prod.example: no such host", "lookup the API server: no such host"),
        ("the name www.corp.example", "the name the external target"),
        ("context prod-eu in namespace team-a", "context the cluster in namespace the namespace"),
        ("Kubernetes 1.24.17 and build 17763.1339", "Kubernetes 1.24.17 and build 17763.1339"),
        ("agnhost 2.63.0 took 1.5 s", "agnhost 2.63.0 took 1.5 s"),
        ("at 09:15:30 on 2026-11-24", "at 09:15:30 on 2026-11-24"),
        (
            "sent Authorization: Bearer abcdefghij0123456789",
            "sent Authorization: [redacted]",
        ),
        ("two\nlines\x1b[31m", "two lines␛[31m"),
    ],
)
def test_a_reason_loses_what_is_of_one_site_alone(text: str, told: str) -> None:
    """Versions, builds and times stay."""
    assert NAMES.text(text) == told


def test_a_name_within_another_word_stays() -> None:
    """A node that is called like a word of ours does not garble sentences."""
    names = Anonymous({"win": "windows-1 node 1", "win-10": "windows-1 node 2"})
    assert names.text("windows, win and win-10") == "windows, windows-1 node 1 and windows-1 node 2"


def test_a_reason_is_bounded() -> None:
    """A cluster decides its length."""
    assert len(NAMES.text("x" * 10_000)) == LENGTH


def test_every_node_is_replaced() -> None:
    """By its name and by its host name."""
    for node in SITE.nodes:
        for name in filter(None, (node.name, node.hostname)):
            assert name not in NAMES.text(f"on {name}, twice {name}.")
