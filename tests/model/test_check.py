"""What a check says of itself by its question and its target."""

from dataclasses import replace

import pytest

from nettests.model.words import Question, TargetKind
from tests.judge.cases import check

NAMED = {
    TargetKind.DNS_SERVICE,
    TargetKind.DNS_POD,
    TargetKind.KUBERNETES_SERVICE,
    *(kind for kind in TargetKind if kind.value.endswith(("-name", "-pqdn", "-fqdn"))),
}


@pytest.mark.parametrize("kind", TargetKind)
def test_a_name_and_the_dns_itself_query_the_dns(kind: TargetKind) -> None:
    """Whoever reaches a target by name, or the cluster's DNS, depends on it; an address does not."""
    assert check(kind).queries_dns is (kind in NAMED)


def test_resolving_queries_the_dns_whatever_the_target() -> None:
    """A question for a name alone depends on it, also where the target is known by address."""
    one = check(TargetKind.POD_IP)
    assert replace(one, action=replace(one.action, question=Question.RESOLVE)).queries_dns
