"""What a minor version of Kubernetes leaves open: fixes are picked to patch releases, and somebody may have named none.

Expectations are resolved at the first and at the newest patch release. Where they differ, neither is forecast: the patch
release decides, and the check is undecided until it is named. Pure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from nettests.compare.dependencies import AND
from nettests.expect.resolve import undecided
from nettests.forecast.as_documented import Planned
from nettests.forecast.keys import Change
from nettests.model.expectation import Expectation


def at_any_patch(
    first: Planned, last: Mapping[str, Expectation], changes: Iterable[Change]
) -> Planned:
    """Return the plan with what is expected at each patch release of the minors that were named without one."""
    lacking = [f"the patch release of {one}" for one in changes if one.names_no_patch]
    found = {
        name: told
        if name not in last or _decided(told) == _decided(last[name])
        else _open(told, last[name], lacking)
        for name, told in first.expectations.items()
    }
    return replace(first, expectations=found)


def _decided(told: Expectation) -> tuple[object, ...]:
    """Return what an expectation comes to, without the sentences that name a version."""
    limitation = told.limitation.id if told.limitation else None
    return told.expected, limitation, told.undecided is None, told.known_bugs


def _open(first: Expectation, last: Expectation, lacking: Iterable[str]) -> Expectation:
    ids = sorted({*first.entries} ^ {*last.entries})
    return replace(
        first,
        expected=None,
        limitation=None,
        undecided=undecided(AND.join(ids), lacking),
        known_bugs=(),
    )
