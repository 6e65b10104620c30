"""Of names that leave the cluster's domain its DNS knows no more than its upstream."""

from dataclasses import replace

import pytest

from nettests.judge import judge
from nettests.model.check import Check
from nettests.model.expectation import Expected
from nettests.model.words import Outcome, TargetKind, Verdict
from tests.judge.cases import check, control, expects, observed

NOBODY = Expected(outcome=Outcome.NXDOMAIN)
SHORT, OWN = "nosuch", "nosuch.{namespace}.svc.{domain}."


def asked(template: str, kind: TargetKind = TargetKind.NO_NAME) -> Check:
    """Return a check of a name that nothing has."""
    made = check(kind)
    return replace(made, ask=replace(made.ask, target=replace(made.target, name_form=template)))


@pytest.mark.parametrize("other", [Outcome.NXDOMAIN, Outcome.SERVFAIL, Outcome.TIMED_OUT])
def test_a_name_that_an_upstream_cannot_deny_is_not_found_either(other: Outcome) -> None:
    """SERVFAIL and silence are as good as a denial, also in turns with one, and are shown as they came."""
    found = judge(asked(SHORT), expects(NOBODY, claim=NOBODY), observed(Outcome.SERVFAIL, other))
    assert found.verdict is Verdict.PASS
    assert found.observed.startswith("servfail")


def test_it_proves_nothing_where_the_resolver_answers_nothing_at_all() -> None:
    """The control, a name that exists, has to resolve."""
    dead = (control("vantage", ok=False), control("target", ok=False))
    seen = observed(Outcome.SERVFAIL, controls=dead)
    assert judge(asked(SHORT), expects(NOBODY, claim=NOBODY), seen).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("outcome", [Outcome.SERVFAIL, Outcome.TIMED_OUT])
def test_of_its_own_domain_the_clusters_dns_has_to_know(outcome: Outcome) -> None:
    """A name with a final dot asks nobody else: what is not denied is a failure, and no wildcard."""
    found = judge(asked(OWN), expects(NOBODY, claim=NOBODY), observed(outcome))
    assert found.verdict is Verdict.FAIL
    assert "wildcard" not in found.next_step


def test_a_name_that_exists_is_not_denied_by_its_upstream() -> None:
    """Of names that something has SERVFAIL is an outcome of its own."""
    named = asked("{external}", TargetKind.EXTERNAL_NAME)
    found = judge(named, expects(NOBODY, claim=NOBODY), observed(Outcome.SERVFAIL))
    assert found.verdict is Verdict.FAIL
    assert "upstream" in found.next_step
