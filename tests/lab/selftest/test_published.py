"""The reference pages of the selftest are what their published documents say, in the form of today."""

import json

import pytest

from scripts.selftest_page import DECLARED, PUBLISHED, rendered


@pytest.mark.parametrize("page", DECLARED)
def test_the_page_of_a_selftest_is_current(page: str) -> None:
    """Whoever changes the form of page or document makes both again.

    The command is: python -m scripts.selftest_page, with --assumptions for the other page
    """
    made = rendered(page, (PUBLISHED / f"{page}.json").read_text("utf-8"))
    assert {name: (PUBLISHED / name).read_text("utf-8") for name in made} == made


@pytest.mark.parametrize("page", DECLARED)
def test_every_declared_fault_is_on_the_page(page: str) -> None:
    """Also one that was never run: the count of what was run is one of all that are declared."""
    rows = json.loads((PUBLISHED / f"{page}.json").read_text("utf-8"))["faults"]
    declared = {(profile, fault.name) for fault in DECLARED[page] for profile in fault.profiles}
    assert {(row["profile"], row["fault"]) for row in rows} == declared
