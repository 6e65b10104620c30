"""What a page weighs, counted in bytes: whoever is mailed the page of sixty nodes can open it."""

from dataclasses import replace

import pytest
from lxml import html

from nettests.report import Results, build_results, render_html
from tests.facts import cluster_facts
from tests.report import scenario, sixty
from tests.report.opened import PACKED
from tests.report.scenario import Story

BOUND = 3_000_000
"""Bytes for 500 checks that have evidence."""
CHECKS, ELEMENTS = 1_900, 15_000


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


@pytest.mark.parametrize("silent", ["no node", "win-1"])
def test_a_browser_has_few_elements_to_draw(silent: str) -> None:
    """A page of 1,900 checks has at most 15,000 elements, in order as well as with one node silent."""
    story = Story(
        failing=lambda check: silent in {check.source.node or "", check.target.node or ""}
    )
    facts = cluster_facts("mixed-builds")
    results = build_results(scenario.records(replace(story, facts=facts)))
    document = html.document_fromstring(render_html(results))
    checks = len(document.xpath("//a[starts-with(@class, 'chip ')]"))
    assert bool(results.incidents) is (silent == "win-1")
    assert checks > 1_800
    assert len(document.xpath("//*")) * CHECKS / checks <= ELEMENTS
