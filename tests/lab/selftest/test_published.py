"""The reference page of the selftest is what its published document says, in the form of today."""

from scripts.selftest_page import PUBLISHED, rendered


def test_the_page_of_the_selftest_is_current() -> None:
    """Whoever changes the form of page or document makes both again.

    The command is: python -m scripts.selftest_page
    """
    made = rendered((PUBLISHED / "selftest.json").read_text("utf-8"))
    assert {name: (PUBLISHED / name).read_text("utf-8") for name in made} == made
