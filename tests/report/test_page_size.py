"""What a page weighs, counted in bytes: whoever is mailed the page of sixty nodes can open it."""

from dataclasses import replace

import pytest
from lxml import html

from nettests.model.check import Check
from nettests.model.journal_records import Calibrated
from nettests.model.words import Protocol, Verdict
from nettests.report import Results, build_results, render_html
from tests.facts import cluster_facts
from tests.parse.test_doubts import IN_ORDER
from tests.report import scenario, sixty
from tests.report.opened import PACKED
from tests.report.scenario import QUIET, Story

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
    assert bool(results.incidents) is (silent == "win-1")
    assert checks_of(results) > 1_800


def checks_of(results: Results) -> int:
    """Return how many checks a page shows whose elements are few enough for them."""
    document = html.document_fromstring(render_html(results))
    checks = len(document.xpath("//a[starts-with(@class, 'chip ')]"))
    assert len(document.xpath("//*")) * CHECKS / checks <= ELEMENTS
    return checks


def four_faults(check: Check) -> bool:
    """Tell what a node without network, one without UDP, a lost route and a silent DNS turn red."""
    ends = {check.source.node, check.target.node}
    udp = check.action.protocol is Protocol.UDP and "win-7" in ends
    return udp or "win-5" in ends or ends == {"win-2", "linux-3"} or check.queries_dns


def test_a_browser_has_few_elements_to_draw_of_four_faults_at_once() -> None:
    """Twelve nodes, fifty red flows, and each tool calibrated in each probe: the same share of elements."""
    facts = cluster_facts("fleet")
    story = replace(QUIET, facts=facts, failing=four_faults)
    *told, end = scenario.records(story)
    calibrations = [
        Calibrated(calibration=replace(IN_ORDER, node=node.name, probe=f"probe-{node.name}"))
        for node in facts.nodes
    ]
    results = build_results([*told, *calibrations, end])
    assert sum(result.verdict is Verdict.FAIL for result in results.checks) > 300
    assert len({result.flow for result in results.checks if result.verdict is Verdict.FAIL}) > 50
    assert checks_of(results) > 1_000
