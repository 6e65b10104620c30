"""Of names that leave the cluster's domain its DNS knows no more than its upstream."""

from dataclasses import replace

import pytest

from nettests.judge import judge
from nettests.judge.proof import read_as_denied
from nettests.model.check import Check
from nettests.model.expectation import Expected
from nettests.model.words import OS, Outcome, Resolver, TargetKind, Verdict
from tests.judge.cases import check, control, expects, observed

NO_ENDPOINTS = Expected(outcome=Outcome.NXDOMAIN)
SHORT, OWN = "nosuch", "nosuch.{namespace}.svc.{domain}."


def probed(template: str, kind: TargetKind = TargetKind.NO_NAME) -> Check:
    """Return a check of a name that nothing has."""
    made = check(kind)
    return replace(
        made, action=replace(made.action, target=replace(made.target, name_form=template))
    )


@pytest.mark.parametrize("other", [Outcome.NXDOMAIN, Outcome.SERVFAIL, Outcome.TIMED_OUT])
def test_a_name_that_an_upstream_cannot_deny_is_not_found_either(other: Outcome) -> None:
    """SERVFAIL and silence are as good as a denial, also in turns with one, and are shown as they came."""
    found = judge(
        probed(SHORT), expects(NO_ENDPOINTS, claim=NO_ENDPOINTS), observed(Outcome.SERVFAIL, other)
    )
    assert found.verdict is Verdict.PASS
    assert found.observed.startswith("servfail")


def test_it_proves_nothing_where_the_resolver_answers_nothing_at_all() -> None:
    """The control, a name that exists, has to resolve."""
    dead = (control("vantage", ok=False), control("target", ok=False))
    seen = observed(Outcome.SERVFAIL, controls=dead)
    assert (
        judge(probed(SHORT), expects(NO_ENDPOINTS, claim=NO_ENDPOINTS), seen).verdict
        is Verdict.UNKNOWN
    )


@pytest.mark.parametrize(
    ("os", "resolver", "form", "is_denied"),
    [
        (OS.WINDOWS, Resolver.SYSTEM, "{service}.{namespace}", True),
        (OS.WINDOWS, Resolver.RESOLVE_DNSNAME, "{service}.{namespace}.svc", True),
        (OS.WINDOWS, Resolver.NSLOOKUP, "{service}.{namespace}", False),
        (OS.WINDOWS, Resolver.SYSTEM, "{service}", False),
        (OS.WINDOWS, Resolver.SYSTEM, "{service}.{namespace}.svc.{domain}", False),
        (OS.LINUX, Resolver.SYSTEM, "{service}.{namespace}", False),
    ],
)
def test_windows_takes_a_partial_name_out_of_the_cluster(
    os: OS, resolver: Resolver, form: str, *, is_denied: bool
) -> None:
    """Its DNS client adds no suffix to a name with a dot: without a way out nobody denies it, and it is not found."""
    named = probed(form, TargetKind.SERVICE_FQDN)
    source = replace(named.source, os=os)
    partial = replace(named, action=replace(named.action, source=source, resolver=resolver))
    found = judge(partial, expects(NO_ENDPOINTS, limited=True), observed(Outcome.TIMED_OUT))
    assert found.verdict is (Verdict.LIMITED if is_denied else Verdict.FAIL)


@pytest.mark.parametrize("outcome", [Outcome.SERVFAIL, Outcome.TIMED_OUT])
def test_of_its_own_domain_the_clusters_dns_has_to_know(outcome: Outcome) -> None:
    """A name with a final dot probes nobody else: what is not denied is a failure, and no wildcard."""
    found = judge(probed(OWN), expects(NO_ENDPOINTS, claim=NO_ENDPOINTS), observed(outcome))
    assert found.verdict is Verdict.FAIL
    assert "wildcard" not in found.next_step


def test_a_name_that_exists_is_not_denied_by_its_upstream() -> None:
    """Of names that something has SERVFAIL is an outcome of its own."""
    named = probed("{external}", TargetKind.EXTERNAL_NAME)
    found = judge(named, expects(NO_ENDPOINTS, claim=NO_ENDPOINTS), observed(Outcome.SERVFAIL))
    assert found.verdict is Verdict.FAIL
    assert "upstream" in found.next_step


def test_attempts_that_are_all_as_good_as_a_denial_agree() -> None:
    """Whatever each brought; where one was answered otherwise they still disagree."""
    named = probed(SHORT)
    seen = read_as_denied(named, observed(Outcome.SERVFAIL, Outcome.TIMED_OUT))
    assert (seen.outcome, seen.agreed) == (Outcome.NXDOMAIN, True)
    assert {one.outcome for one in seen.attempts} == {Outcome.NXDOMAIN}
    torn = read_as_denied(named, observed(Outcome.REFUSED, Outcome.TIMED_OUT))
    assert (torn.outcome, torn.agreed) == (Outcome.NXDOMAIN, False)
    assert torn.attempts[0].outcome is Outcome.REFUSED


RESOLVED = Expected(outcome=Outcome.RESOLVED)


def partial(form: str, resolver: Resolver = Resolver.NSLOOKUP, os: OS = OS.WINDOWS) -> Check:
    """Return a check of a Service's name that a suffix makes whole."""
    made = probed(form, TargetKind.SERVICE_FQDN)
    source = replace(made.source, os=os)
    return replace(made, action=replace(made.action, source=source, resolver=resolver))


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [
        ((Outcome.SERVFAIL, Outcome.SERVFAIL), Verdict.RECORDED),
        ((Outcome.TIMED_OUT, Outcome.SERVFAIL), Verdict.RECORDED),
        ((Outcome.NXDOMAIN, Outcome.NXDOMAIN), Verdict.FAIL),
        ((Outcome.SERVFAIL, Outcome.NXDOMAIN), Verdict.FAIL),
        ((Outcome.REFUSED, Outcome.REFUSED), Verdict.FAIL),
        ((Outcome.RESOLVED, Outcome.RESOLVED), Verdict.PASS),
    ],
)
def test_nslookup_never_comes_to_the_suffixes_where_the_upstream_denies_nothing(
    seen: tuple[Outcome, ...], verdict: Verdict
) -> None:
    """The bare name goes first; after a denial the suffixes follow, and that none of them helps is a deviation."""
    wanted = expects(RESOLVED, claim=RESOLVED)
    found = judge(partial("{service}.{namespace}"), wanted, observed(*seen))
    assert found.verdict is verdict
    assert ("queries the bare name first" in found.message) is (verdict is Verdict.RECORDED)


def test_what_proves_nothing_is_not_recorded_either() -> None:
    """Without a name that resolves at all nothing shows that there is a DNS to query."""
    dead = (control("vantage", ok=False), control("target", ok=False))
    seen = observed(Outcome.SERVFAIL, controls=dead)
    wanted = expects(RESOLVED, claim=RESOLVED)
    assert judge(partial("{service}.{namespace}"), wanted, seen).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    "other",
    [
        partial("{service}.{namespace}", os=OS.LINUX),
        partial("{service}.{namespace}", Resolver.SYSTEM),
        partial("{service}"),
        partial("{service}.{namespace}.svc.{domain}"),
        partial("{service}.{namespace}."),
    ],
)
def test_all_other_names_are_judged_by_what_came(other: Check) -> None:
    """Linux walks the suffixes first, the DNS client of Windows none, and whole names need none."""
    wanted = expects(RESOLVED, claim=RESOLVED)
    assert judge(other, wanted, observed(Outcome.SERVFAIL)).verdict is Verdict.FAIL
