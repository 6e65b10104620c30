"""Claims against the flows that there are: a slip of the pen is found, and so is a flow of one's own that counts nowhere."""

import pytest

from nettests.conformance.vendor_profile import claim_mistakes, require_known_claims
from nettests.errors import ManifestError
from tests.conformance.claimed import ECHO, PODS, SERVICES, SOURCES, profile

FLOWS = {PODS, SERVICES, SOURCES, ECHO, "pod-to-pod-name"}


def test_known_claims_are_no_mistake() -> None:
    """Flows that nothing claims are none either: they are reported as not claimed."""
    assert not list(claim_mistakes(profile(), FLOWS))
    require_known_claims(profile(), FLOWS)


def test_an_unknown_flow_is_named_with_its_feature_line_and_near_miss() -> None:
    """As in every list of flows."""
    claims = profile(lambda data: data["features"][1].update(flows=["pod-to-service-clustrip"]))
    (found,) = claim_mistakes(claims, FLOWS)
    line = claims.features[1].line
    assert found.message == (
        f"acme.yaml:{line}: Services claims the flow pod-to-service-clustrip, which no suite declares"
    )
    assert found.hint == f"did you mean {SERVICES!r}?"


def test_an_own_flow_without_a_feature_is_a_mistake() -> None:
    """It would be run and count for nothing."""
    found = [one.message for one in claim_mistakes(profile(), {*FLOWS, "acme-own"}, {"acme-own"})]
    assert found == [
        "acme.yaml: the flow acme-own of the vendor's own suites belongs to no feature"
    ]


def test_all_mistakes_are_told_at_once() -> None:
    """Who repairs a profile need not try again for each."""
    with pytest.raises(ManifestError) as caught:
        require_known_claims(profile(), {PODS, ECHO}, {"acme-own"})
    assert len(caught.value.message.splitlines()) == 3
    assert all(name in caught.value.message for name in (SERVICES, SOURCES, "acme-own"))
