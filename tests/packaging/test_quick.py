"""``make quick`` runs the tests of what changed and no others."""

import pytest

from scripts.quick import folders_of_tests


@pytest.mark.parametrize(
    ("files", "folders"),
    [
        (["nettests/judge/checks.py", "nettests/judge/proof.py"], ["tests/judge"]),
        (["suites/test_dns.py", "tests/parse/test_ping.py"], ["tests/parse", "tests/suites"]),
        (["nettests/lab/network/kernel.py", "docs/README.md", "Makefile"], []),
        (["nettests/errors.py"], []),
    ],
)
def test_the_tests_of_changed_packages_are_chosen(files: list[str], folders: list[str]) -> None:
    """A package and its tests lead to its folder; labs, documents and single modules lead to none."""
    assert folders_of_tests(files) == folders
