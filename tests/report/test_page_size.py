"""What a page weighs, counted in bytes: whoever is mailed the page of sixty nodes can open it."""

import pytest

from nettests.report import Results, render_html
from tests.report import sixty
from tests.report.opened import PACKED

BOUND = 3_000_000
"""Bytes for 500 checks that have evidence."""


@pytest.fixture(scope="module")
def reddest() -> Results:
    """Of sixty nodes forty send nothing."""
    return sixty.no_windows_node_sends()


def test_the_reddest_page_of_sixty_nodes_is_small(reddest: Results) -> None:
    """With evidence of sixty members of each check that deviates, 500 checks stay below 3 MB."""
    checks = [one for one in reddest.checks if one.check is not None]
    assert max(len(one.deviating) for one in checks) > 200
    size = len(render_html(reddest).encode())
    assert size * 500 / len(checks) < BOUND


def test_evidence_is_the_smaller_part_of_a_page(reddest: Results) -> None:
    """What nobody has opened yet takes less room than what everybody sees."""
    page = render_html(reddest)
    packed = sum(len(found[2]) for found in PACKED.finditer(page))
    assert 0 < packed < len(page) / 2
