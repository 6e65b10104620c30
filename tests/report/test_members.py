"""What documents say of a fleet: which node or pair it is, in every format, and how much was looked at."""

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator
from lxml import html

from nettests.model.check import Action
from nettests.model.facts import FleetScope
from nettests.model.journal_records import Judged
from nettests.model.words import OS, TargetKind, Verdict
from nettests.report import (
    Results,
    build_results,
    render_html,
    render_json,
    render_junit,
    render_markdown,
)
from nettests.report.heat_map import CELL, MARKED, heat_maps, node_lines, node_map
from nettests.report.html_report import EXAMPLES
from nettests.report.results import CheckResult
from nettests.report.summary import headline
from tests.plan.test_members import fleet
from tests.report import sixty
from tests.report.opened import opened
from tests.report.sweep import records, swept, twelve

DEAD, FIRST, SECOND = "win-7", "win-3", "linux-2"


def ends(action: Action) -> tuple[str | None, str | None]:
    """Return source and target node."""
    return action.source.node, action.target.node


def dead(action: Action) -> bool:
    """Whatever crosses the network card of one node is lost; its own Pods reach each other."""
    source, target = ends(action)
    return DEAD in {source, target} and source != target


def no_cluster_ips(action: Action) -> bool:
    """One node translates no ClusterIP."""
    return action.source.node == DEAD and action.target.kind is TargetKind.SERVICE_CLUSTERIP


def no_node_ports(action: Action) -> bool:
    """One node serves no NodePort."""
    return action.target.node == DEAD and action.target.kind is TargetKind.NODEPORT


def no_node_ports_either_way(action: Action) -> bool:
    """Packets to NodePorts are dropped where they enter one node, from its own Pods as well."""
    return DEAD in ends(action) and action.target.kind is TargetKind.NODEPORT


def one_way(action: Action) -> bool:
    """Packets from one node to another are lost, UDP and TCP alike."""
    return ends(action) == (FIRST, SECOND)


def both_ways(action: Action) -> bool:
    """Two nodes do not reach each other."""
    return set(ends(action)) == {FIRST, SECOND}


def pods_of_each_other(action: Action) -> bool:
    """Two nodes reach each other, and not each other's Pods."""
    return both_ways(action) and action.target.kind is not TargetKind.NODEPORT


def result(results: Results, check: str) -> CheckResult:
    """Return one check's result."""
    return next(one for one in results.checks if one.id == check)


@pytest.fixture(scope="module")
def broken() -> Results:
    """One pair is broken in one direction."""
    return swept(one_way)


def test_a_whole_fleet_is_exercised() -> None:
    """Twelve of twelve nodes and all ordered pairs: then the headline needs no reservation."""
    results = swept()
    assert results.exercised.whole
    assert sum(one.exercised for one in results.exercised.pairs) == 132
    assert headline(results) == "This cluster behaves as documented"
    assert results.incidents == ()


@pytest.mark.parametrize(
    ("silent", "cause"),
    [
        (dead, "Packets between win-7 and other nodes get no answer"),
        (
            no_cluster_ips,
            "Connections to a ClusterIP through the Service proxy of win-7 get no answer",
        ),
        (
            no_node_ports,
            "Connections from other nodes or outside to a NodePort on win-7 get no answer",
        ),
        (
            no_node_ports_either_way,
            "Connections to a NodePort with win-7 at either end get no answer",
        ),
        (
            lambda action: None not in ends(action) and len(set(ends(action))) == 2,
            "Packets between nodes get no answer",
        ),
        (one_way, "Packets from win-3 to linux-2 get no answer"),
        (both_ways, "Packets between linux-2 and win-3 get no answer"),
        (
            pods_of_each_other,
            "Packets between Pods of linux-2 and win-3 get no answer",
        ),
    ],
)
def test_the_leading_incident_names_the_node_or_the_pair(silent: object, cause: str) -> None:
    """One of twelve nodes, or one of 132 pairs, is broken: the first line says which."""
    results = swept(silent)  # type: ignore[arg-type]  # one of the functions above
    assert results.incidents[0].cause == cause
    assert results.incidents[0].explained
    red = {one.id for check in results.checks for one in check.deviating}
    assert {one for incident in results.incidents for one in incident.members} == red
    assert results.counts[Verdict.FAIL] + results.counts[Verdict.UNKNOWN] > 0


def test_nodes_that_were_not_chosen_are_left_out_for_that_reason() -> None:
    """A run over a part of the fleet says which nodes it speaks of, and why not of the others."""
    facts = replace(twelve(), fleet=FleetScope(chosen="pool=canary", nodes=("win-1", "linux-1")))
    windows, linux = swept(facts=facts).exercised.nodes
    assert windows.exercised == ("win-1",)
    assert {one.reason for one in (*windows.left_out, *linux.left_out)} == {
        "not one of the nodes that were chosen (pool=canary)"
    }
    assert len(windows.left_out) == 7


def test_an_incident_counts_its_members(broken: Results) -> None:
    """Its checks are ids that a history knows; beside them stand the pairs."""
    incident = broken.incidents[0]
    assert set(incident.checks) >= {
        f"pod-to-pod-ip/windows-1/linux-1/other-node/{protocol}" for protocol in ("tcp", "udp")
    }
    assert len(incident.members) >= len(incident.checks)
    assert all(one.endswith("#win-3 → linux-2") for one in incident.members)


def test_results_json_has_each_deviating_member_and_the_others_by_verdict(broken: Results) -> None:
    """What deviates with its attempts and controls, what does not as a list of labels; and the schema knows all."""
    document = json.loads(render_json(broken))
    schema = json.loads((files("nettests.report") / "results.schema.json").read_text())
    Draft202012Validator(schema).validate(document)
    check = next(
        one
        for one in document["checks"]
        if one["id"] == "pod-to-pod-ip/windows-1/linux-1/other-node/tcp"
    )
    members = check["members"]
    assert (members["total"], members["counts"]) == (32, {"fail": 1, "pass": 31})
    (one,) = members["deviating"]
    assert (one["member"], one["source"], one["target"]) == ("win-3 → linux-2", "win-3", "linux-2")
    assert one["attempts"]
    assert {control["proves"] for control in one["controls"]} == {"vantage", "target"}
    (others,) = members["others"]
    assert (others["verdict"], len(others["members"])) == ("pass", 31)
    assert members["seconds"] == {"median": 0.02, "p99": 0.02, "worst": 0.02}


def test_junit_names_the_member(broken: Results) -> None:
    """Who has nothing but JUnit reads which pair it is, in the message and below it."""
    root = ET.fromstring(render_junit(broken))
    case = next(
        one
        for one in root.iter("testcase")
        if one.get("name") == "pod-to-pod-ip/windows-1/linux-1/other-node/tcp"
    )
    (failure,) = case.iter("failure")
    assert "fail for 1 of 32 pairs of nodes: win-3 → linux-2" in str(failure.get("message"))
    assert "win-3 → linux-2: fail" in str(failure.text)
    properties = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert str(properties["members"]).startswith("32 pairs of nodes: 1 fail, 31 pass")


def test_the_summary_names_the_member(broken: Results) -> None:
    """The job summary of a CI system says which pair it is."""
    assert "win-3 → linux-2" in render_markdown(broken)


def test_the_page_draws_nodes_by_nodes(broken: Results) -> None:
    """A picture for each protocol: sources down, targets across, Windows first, each verdict by colour and shape."""
    checks = [one for one in broken.checks if one.flow == "pod-to-pod-ip"]
    tcp, udp = heat_maps(checks)
    assert (tcp.title, udp.title) == ("TCP", "UDP")
    assert (
        tcp.rows
        == tcp.columns
        == (*(f"win-{n}" for n in range(1, 9)), *(f"linux-{n}" for n in range(1, 5)))
    )
    failed, passed = tcp.layers
    assert (failed.verdict, failed.number, passed.number) == (Verdict.FAIL, 1, 143)
    at = (CELL * tcp.columns.index(SECOND), CELL * tcp.rows.index(FIRST))
    assert failed.squares.startswith(f"M{at[0]} {at[1]}h")
    assert failed.shapes
    assert not passed.shapes
    (mark,) = tcp.marks
    assert (mark.x, mark.y, mark.check) == (*at, "pod-to-pod-ip/windows-1/linux-1/other-node/tcp")
    assert mark.text.startswith("win-3 → linux-2: fail, expected connected, observed timed_out")


def test_nodes_are_in_the_order_of_their_numbers() -> None:
    """win-10 comes after win-9, as people count."""
    facts = fleet(0, 12)
    (tcp, *_) = heat_maps([one for one in swept(facts=facts).checks if one.flow == "pod-to-pod-ip"])
    assert [name.split("-")[-2] for name in tcp.rows] == [str(n) for n in range(1, 13)]


def test_the_page_has_evidence_of_what_deviates_and_one_line_of_what_does_not(
    broken: Results,
) -> None:
    """Thirty-one pairs that are in order take no room; of the one that is not everything is there."""
    page = opened(render_html(broken))
    assert len(page.xpath("//details[@class='plain member']")) == len(
        [one for check in broken.checks for one in check.deviating]
    )
    assert (
        "32 pairs of nodes: 1 fail, 31 pass; answers took 0.020 s (median), at most 0.020 s"
        in page.text_content()
    )
    assert page.xpath("//figure[@class='heat']")


def drawn(results: Results) -> list[int]:
    """Return the bytes of the drawing of each picture."""
    return [
        sum(len(one.squares) + len(one.shapes) for one in picture.layers) + len(picture.lines)
        for picture in heat_maps(results.checks)
    ]


def test_a_picture_of_sixty_nodes_is_small() -> None:
    """3,600 pairs by two protocols take less than a hundred kilobytes each, whatever deviates, and few in order."""
    flows = ("pod-to-pod-ip",)
    results = swept(lambda action: action.source.os is OS.WINDOWS, fleet(20, 40), flows)
    assert max(drawn(results)) < 100_000
    assert all(len(picture.marks) <= MARKED for picture in heat_maps(results.checks))
    assert max(drawn(swept(facts=fleet(20, 40), flows=flows))) < 12_000


def test_squares_beside_each_other_cover_their_cells_and_no_other() -> None:
    """Along a row that one pair breaks, two rectangles of what passes and one of what fails make up the row."""
    results = swept(one_way)
    (tcp, _) = heat_maps([one for one in results.checks if one.flow == "pod-to-pod-ip"])
    covered = Counter(cell for layer in tcp.layers for cell in cells(layer.squares))
    rows, columns = range(len(tcp.rows)), range(len(tcp.columns))
    assert covered == Counter((row, column) for row in rows for column in columns)
    failed, _ = tcp.layers
    assert cells(failed.squares) == [(tcp.rows.index(FIRST), tcp.columns.index(SECOND))]


def cells(squares: str) -> list[tuple[int, int]]:
    """Return row and column of each cell that a path's rectangles cover; between two rectangles is a line's width."""
    # sample: "M0 14h55v13h-55z"
    found = re.findall(r"M(\d+) (\d+)h(\d+)v13h-\3z", squares)
    assert "".join(f"M{x} {y}h{wide}v13h-{wide}z" for x, y, wide in found) == squares
    assert all((int(wide) + 1) % CELL == 0 for _, _, wide in found)
    return [
        (int(y) // CELL, column)
        for x, y, wide in found
        for column in range(int(x) // CELL, (int(x) + int(wide) + 1) // CELL)
    ]


def test_a_run_that_broke_off_leaves_its_members_unknown() -> None:
    """What no verdict was made of is not green on the page."""
    kept = [one for one in records(one_way, twelve()) if not isinstance(one, Judged)]
    for check in build_results(kept).checks:
        assert {one.verdict for one in check.members} == {Verdict.UNKNOWN}
        assert not any(one.ran for one in check.members)


def test_one_member_alone_is_told_in_its_own_words() -> None:
    """What shares its failure with nothing names its pair."""
    results = swept(
        lambda action: (
            ends(action) == (FIRST, SECOND)
            and action.target.kind is TargetKind.POD_IP
            and action.protocol.value == "tcp"
        )
    )
    (incident,) = results.incidents
    assert "win-3 → linux-2" in incident.cause
    assert incident.checks == ("pod-to-pod-ip/windows-1/linux-1/other-node/tcp",)
    assert result(results, incident.checks[0]).verdict is Verdict.FAIL


def test_the_picture_of_all_flows_shows_the_worst_at_each_pair() -> None:
    """A dead node is a cross of failures; it is drawn for a page and, with numbered columns, for a terminal."""
    checks = swept(dead).checks
    picture = node_map(checks)
    assert picture is not None
    assert (len(picture.rows), len(picture.columns)) == (12, 12)
    failed = next(layer for layer in picture.layers if layer.verdict is Verdict.FAIL)
    assert failed.number == 22
    head, *lines = node_lines(checks)
    assert head.split() == ["from", "↓", "to", "→", *(str(n) for n in range(1, 13))]
    (line,) = (line for line in lines if line.split()[1] == DEAD)
    assert Counter(line.split()[2:]) == {"✗": 11, "✓": 1}


def test_a_picture_needs_two_nodes_and_a_terminal_room_for_them() -> None:
    """Without members, or with every pair in order, there is nothing to draw; sixty columns do not fit."""
    assert node_map([]) is None
    assert node_map(swept(lambda _: False).checks) is None
    assert list(node_lines(sixty.one_node_dead().checks)) == []


def test_a_large_incident_is_grouped_by_flow() -> None:
    """It writes out the first checks, and says of the others in which flows they are."""
    results = swept(dead)
    (first, *_) = results.incidents
    page = html.fromstring(render_html(results))
    (listed,) = page.xpath("(//li[contains(@class, 'incident')])[1]")
    assert len(listed.xpath(".//ul[@class='members']/li")) == min(EXAMPLES, len(first.checks))
    flows = {check.split("/")[0] for check in first.checks}
    assert set(listed.xpath(".//p[@class='by-flow']/a/text()")) == flows
