"""The reference page of the selftest is what its published document says, in the form of today."""

import json

from nettests.lab.selftest.named_faults import FAULTS
from scripts.selftest_page import PUBLISHED, rendered


def test_the_page_of_the_selftest_is_current() -> None:
    """Whoever changes the form of page or document makes both again.

    The command is: python -m scripts.selftest_page
    """
    made = rendered((PUBLISHED / "selftest.json").read_text("utf-8"))
    assert {name: (PUBLISHED / name).read_text("utf-8") for name in made} == made


def test_every_declared_fault_is_on_the_page() -> None:
    """Also one that was never run: the count of what was run is one of all that are declared."""
    rows = json.loads((PUBLISHED / "selftest.json").read_text("utf-8"))["faults"]
    declared = {(profile, fault.name) for fault in FAULTS for profile in fault.profiles}
    assert {(row["profile"], row["fault"]) for row in rows} == declared
