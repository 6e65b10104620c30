"""Tables of a run: flows by suite, and sums of what a suite saw between each pair."""

import types
from collections.abc import Callable
from dataclasses import replace

import pytest
from lxml import html

from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.words import OS, Verdict
from nettests.plan import Matrix, flow, flow_of
from nettests.report import build_results
from nettests.report.html_report import evidence, render_html
from nettests.report.matrix import FlowGroup, flow_groups, overview, suites
from tests.report.scenario import Story, records


def groups(story: Story) -> tuple[FlowGroup, ...]:
    """Return the flows of a run."""
    return flow_groups(build_results(records(story)).checks)


def test_every_flow_is_in_the_suite_that_declares_it() -> None:
    """Suites hold all flows once, and go by what their modules say they are about."""
    every = groups(Story())
    found = suites(every)
    assert sorted(g.flow for s in found for g in s.groups) == sorted(g.flow for g in every)
    topics = {group.flow: suite.topic for suite in found for group in suite.groups}
    assert topics["pod-to-pod-ip"] == "Pod to pod"
    assert topics["icmp-egress"] == "ICMP"


def test_suites_come_by_their_plainest_path() -> None:
    """Pods that reach Pods come first, then Pods that reach Services, however many pairs another suite met."""
    topics = [suite.topic for suite in suites(groups(Story()))]
    first = ["Pod to pod", "Pod to Service", "NodePorts", "Nodes", "Pod to external", "ICMP"]
    assert topics[0] == "Pod to pod"
    assert [topic for topic in topics if topic in first] == first


def test_suites_without_a_path_come_last() -> None:
    """What a cluster says of itself stands below everything that sends packets."""
    found = suites(groups(Story()))
    every = ([one.check for group in suite.groups for one in group.checks] for suite in found)
    sends = [any(check and check.action.question.has_path for check in checks) for checks in every]
    assert True in sends
    assert sends == sorted(sends, reverse=True)


def test_suites_of_which_nothing_was_run_come_last() -> None:
    """An empty row tells less than any other."""
    empty = [not any(group.checks for group in suite.groups) for suite in suites(groups(Story()))]
    assert True in empty
    assert empty == sorted(empty)


def test_a_suites_cell_sums_its_flows() -> None:
    """No check is lost or counted twice between a suite's row and those of its flows."""
    every = groups(Story())
    table = overview(every)
    for suite in suites(every):
        for pair in table.pairs:
            ids = [check.id for group in suite.groups for check in table.cell(group.flow, pair)]
            assert [check.id for check in table.sum(suite, pair)] == ids
    shown = sum(len(table.sum(suite, pair)) for suite in suites(every) for pair in table.pairs)
    assert shown == sum(len(group.checks) for group in every)


def test_a_suites_counts_are_worst_first() -> None:
    """Verdicts that nobody got are left out."""
    found = suites(groups(Story(failing=lambda check: check.flow == "pod-to-pod-ip")))
    (suite,) = (one for one in found if one.topic == "Pod to pod")
    order = [SUMMARY_ORDER.index(verdict) for verdict in suite.counts]
    assert order == sorted(order)
    assert suite.counts[Verdict.FAIL] == sum(len(g.checks) for g in suite.groups if g.flow == "pod-to-pod-ip")  # fmt: skip


def test_a_suite_with_a_failure_stands_open() -> None:
    """Whoever opens the page sees the failing flow's row; suites without one are folded by the script."""
    story = Story(failing=lambda check: check.flow == "pod-to-pod-ip")
    page = html.document_fromstring(render_html(build_results(records(story))))
    (row,) = page.xpath("//tr[@class='of-suite'][th/a[@href='#flow:pod-to-pod-ip']]")
    assert row.getparent().get("class") == "open"
    opened = page.xpath("//tbody[@class='open']//tr[@class='suite']/th/a/text()")
    assert opened == ["Pod to pod"]
    folds = page.xpath("//button[contains(@class, 'fold')]")
    assert [one.get("aria-expanded") for one in folds].count("true") == 1


def test_every_suites_row_leads_to_its_section() -> None:
    """A suite's name in the overview is a link to its flows below."""
    page = html.document_fromstring(render_html(build_results(records(Story()))))
    links = page.xpath("//tr[@class='suite']/th/a/@href")
    assert links
    for address in links:
        (section,) = page.xpath(f"//section[@id='{address.removeprefix('#')}']")
        assert section.xpath(".//*[@data-flow]")


def declared(docstring: str | None) -> str:
    """Return the suite of a flow that a module with this docstring declares."""
    module = types.ModuleType("acme.suites.test_switch")
    module.__dict__.update(flow=flow, borrowed=SETTINGS, __doc__=docstring)
    exec(DECLARATION, module.__dict__)
    test: Callable[..., object] = module.__dict__["test_it"]
    found = flow_of(test)
    assert found is not None
    return found.suite


DECLARATION = '''
@flow("acme", **borrowed)
def test_it(verdict):
    """A claim."""
'''
(EXAMPLE,) = {g.checks[0].check for g in groups(Story()) if g.flow == "pod-to-pod-ip"}
assert EXAMPLE is not None
SETTINGS = {
    "source": EXAMPLE.source.kind,
    "target": EXAMPLE.target.kind,
    "matrix": Matrix.PAIRS,
    "sources": EXAMPLE.sources,
}


@pytest.mark.parametrize(
    ("docstring", "topic"),
    [
        ("Acme's switch: what it forwards, and when.\n\nMore.", "Acme's switch"),
        (
            "Acme's switch forwards\nat 10.2.3.4:80. Always.",
            "Acme's switch forwards at 10.2.3.4:80",
        ),
        (None, "test_switch"),
    ],
)
def test_a_suite_is_called_what_its_module_is_about(docstring: str | None, topic: str) -> None:
    """The docstring's first words name the suite; without any its file does."""
    assert declared(docstring) == topic


def test_checks_of_journals_without_suites_stand_together() -> None:
    """A journal of an older nettests names none; its flows are shown all the same."""
    every = tuple(replace(group, suite="") for group in groups(Story()))
    (only,) = suites(every)
    assert len(only.groups) == len(every)


def test_matrices_name_nodes_and_no_pools() -> None:
    """A person reads the nodes of a node pool at rows and columns, and in the evidence the node before its pool."""
    results = build_results(records(Story()))
    text = render_html(results)
    heads = {
        " ".join(head.text.split())
        for head in html.document_fromstring(text).xpath("//table[@class='matrix']//th[text()]")
    }
    assert results.facts is not None
    windows = [node.name for node in results.facts.nodes if node.os is OS.WINDOWS]
    assert f"{', '.join(windows)} (17763.1339)" in heads
    assert not {node.pool for node in results.facts.nodes} & {head.split(" ")[0] for head in heads}
    check = next(one for one in results.checks if one.ran and one.check and one.check.source.node)
    assert check.check is not None
    from_node = evidence(check).partition("<dt>From</dt>")[2].partition("</b>")[0]
    assert from_node == f"<dd><b>{check.check.source.node}"


def test_a_suite_of_which_nothing_ran_says_why() -> None:
    """Its row has no cells of dots, but how much was skipped, by reason."""
    page = html.document_fromstring(render_html(build_results(records(Story()))))
    rows = {row.xpath("string(th/a)"): row for row in page.xpath("//tr[@class='suite']")}
    skipped = [suite for suite in suites(groups(Story())) if not suite.applies]
    assert skipped
    for suite in skipped:
        (cell,) = rows[suite.topic].xpath("td")
        for reason in {skip.message for group in suite.groups for skip in group.skips}:
            assert reason in cell.text_content()
