"""The guide's tables of faults and exit codes say what the lab has."""

from nettests.lab.faults.kinds import KINDS
from nettests.lab.selftest.matrix import Exit
from tests.docs.documents import rows

GUIDE = "docs/guides/the-lab.md"


def test_every_fault_has_a_row_with_its_options() -> None:
    """In the order of the command's help, in its words."""
    told = [tuple(row) for row in rows(GUIDE, "| fault | options | what is broken |")]
    assert told == [
        (f"`{kind.name}`", ", ".join(f"`--{one}`" for one in kind.options), kind.summary)
        for kind in KINDS
    ]


def test_the_selftests_exit_codes_are_explained() -> None:
    """Each once, from the best to the worst."""
    told = [int(row[0]) for row in rows(GUIDE, "| exit code | meaning |")]
    assert told == [int(one) for one in Exit]
