"""Quotas that have no room for many Services: preflight says so before a run makes the first."""

from dataclasses import replace
from fractions import Fraction

from nettests.model.words import CheckClass
from nettests.plan import build
from nettests.preflight import Level, Quota, findings
from tests.preflight.made import STAGING, evidence, objects_of, only, passing_of

NAMES = ("many-services", "service-beside-many", "many-services-removed")


def quota_finding(services: int) -> tuple[Level, str]:
    """Return what is said of a namespace that may hold so many Services."""
    flows = only(*NAMES)
    plan = build(STAGING, flows, (CheckClass.COSTLY,))
    seen = replace(
        evidence(STAGING, flows),
        plan=plan,
        objects=objects_of(plan, STAGING),
        passing=passing_of(plan, STAGING),
        quotas=(Quota(name="q", resource="services", hard=Fraction(services), used=Fraction(0)),),
    )
    (found,) = [one for one in findings(seen) if one.topic == "quota"]
    return found.level, " ".join(found.details)


def test_many_services_have_to_fit_into_a_quota() -> None:
    """All of them at once, beside those that stand."""
    level, said = quota_finding(400)
    assert level is Level.BLOCKER
    assert "services leaves 400 of 400; a run needs 5" in said
    assert quota_finding(600)[0] is not Level.BLOCKER
