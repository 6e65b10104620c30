"""Compare a profile's claims with the existing flows: unknown flows, and the vendor's own flows that it does not claim.

Second step of ``conformance``, also used by ``lint``. Pure: flows are names here.
"""

from collections.abc import Collection, Iterator

from nettests.conformance.vendor_profile import VendorProfile
from nettests.errors import ManifestError
from nettests.model.nearest import nearest


def claim_mistakes(
    profile: VendorProfile, flows: Collection[str], own_flows: Collection[str] = ()
) -> Iterator[ManifestError]:
    """Yield an error for each claimed flow that no suite declares, and for each of the vendor's ``own_flows`` unclaimed.

    A flow of one's own without a level would be run and count for nothing.
    """
    flow_names = sorted(flows)
    for feature in profile.features:
        for flow in feature.flows:
            if flow not in flows:
                yield ManifestError(
                    f"{profile.file}:{feature.line}: {feature.name} claims the flow {flow}, which no suite declares",
                    hint=nearest(
                        flow, flow_names, otherwise="nettests catalogue --json lists all flows"
                    ),
                )
    claimed = {flow for feature in profile.features for flow in feature.flows}
    for flow in sorted({*own_flows} - claimed):
        yield ManifestError(
            f"{profile.file}: the flow {flow} of the vendor's own suites belongs to no feature",
            hint="name it in a feature, an unsupported one where it is not claimed",
        )


def require_known_claims(
    profile: VendorProfile, flows: Collection[str], own_flows: Collection[str] = ()
) -> None:
    """Raise the mistakes of a profile, all at once: ``ManifestError``."""
    mistakes = list(claim_mistakes(profile, flows, own_flows))
    if mistakes:
        hints = dict.fromkeys(mistake.hint for mistake in mistakes if mistake.hint)
        raise ManifestError(
            "\n".join(mistake.message for mistake in mistakes), hint="; ".join(hints)
        )
