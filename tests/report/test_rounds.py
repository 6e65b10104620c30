"""What the documents of a watch say of its rounds."""

import json
from dataclasses import replace
from importlib.resources import files

from jsonschema import Draft202012Validator

from nettests.model.check import Check
from nettests.model.journal_records import Round
from nettests.model.words import Verdict
from nettests.plan import build, load
from nettests.report import Results, render_html, render_json, render_markdown
from nettests.report.rounds import Lost, Rate, rounds_of
from nettests.resources import suites_path
from tests.plan.clusters import mixed

FLOWS = [
    replace(one, source_seen=None)
    for one in load([suites_path()]).flows
    if one.name == "pod-to-pod-ip"
]
CHECK = next(
    one
    for one in build(mixed(), FLOWS).checks
    if one.id == "pod-to-pod-ip/windows-1/linux-1/other-node/tcp"
)
CHECKS: dict[str, Check] = {one.id: one for one in (CHECK, *CHECK.each)}
FIRST, SECOND = CHECK.each[:2]
SCHEMA = json.loads(files("nettests.report").joinpath("results.schema.json").read_text("utf-8"))
AWAY = "the API server does not answer: connection refused"


def at(number: int, *red: Check, lost: str = "") -> Round:
    """Return a round that began in that minute."""
    return Round(
        number=number,
        started=f"2026-05-04T10:{number:02}:00+00:00",
        seconds=9.5,
        ran=len(CHECK.each),
        red={one.id: Verdict.FAIL for one in red},
        lost=lost,
    )


ROUNDS = [at(1), at(2, CHECK, FIRST), at(3, lost=AWAY), at(4, CHECK, FIRST, SECOND), at(5)]


def test_a_run_has_no_rounds() -> None:
    """Only a watch has some."""
    assert rounds_of([], CHECKS) is None


def test_rates_count_judged_rounds() -> None:
    """A lost round is no green one: rates are of the rounds that judged something, the most frequent first."""
    found = rounds_of(ROUNDS, CHECKS)
    assert found is not None
    assert (found.count, found.judged, found.red) == (5, 4, 2)
    assert found.lost == (Lost(reason=AWAY, rounds=1),)
    began = [one.started for one in ROUNDS]
    assert found.checks[:2] == (
        Rate(name=CHECK.id, red=2, first=began[1], last=began[3]),
        Rate(name=FIRST.id, red=2, first=began[1], last=began[3]),
    )
    assert found.checks[2] == Rate(name=SECOND.id, red=1, first=began[3], last=began[3])
    assert str(found) == f"5 rounds: 2 with failures, 1 lost ({AWAY})"


def test_nodes_and_pairs_come_from_members() -> None:
    """A check of many nodes says nothing of one; its members do, as source, as target, and as a pair in that order."""
    found = rounds_of([at(1, CHECK, FIRST)], CHECKS)
    assert found is not None
    source, target = FIRST.source.node, FIRST.target.node
    assert {one.name for one in found.nodes} == {source, target}
    assert [one.name for one in found.pairs] == [f"{source} → {target}"]


def test_what_has_no_usable_answer_is_no_failure() -> None:
    """Unknown checks of a round are counted as rounds, and are in no rate of a check, a node or a pair."""
    half = replace(at(2), unknown=(CHECK.id, FIRST.id))
    found = rounds_of([at(1), half], CHECKS)
    assert found is not None
    assert (found.red, found.unknown) == (0, 1)
    assert [*found.checks, *found.nodes, *found.pairs] == []
    began = half.started
    source, target = FIRST.source.node, FIRST.target.node
    assert {one.name for one in found.unknown_nodes} == {source, target}
    assert {(one.unknown, one.first, one.last) for one in found.unknown_nodes} == {
        (1, began, began)
    }
    assert str(found) == "2 rounds: none with failures, 1 with unknown checks"


def test_the_node_that_is_down_comes_first() -> None:
    """Its peers were unknown in as many rounds, and each of them in fewer checks."""
    source = FIRST.source.node
    of_it = tuple(one.id for one in CHECK.each if one.source.node == source)
    assert len(of_it) > 1
    found = rounds_of([replace(at(1), unknown=of_it), at(2)], CHECKS)
    assert found is not None
    assert found.unknown_nodes[0].name == source


def test_documents_of_a_watch_tell_unknown_rounds(quiet: Results) -> None:
    """By node, beside what was red; results.json keeps to its schema."""
    half = replace(at(2), unknown=(CHECK.id, FIRST.id))
    watched = replace(quiet, rounds=rounds_of([*ROUNDS, half, replace(half, number=6)], CHECKS))
    row = f"| node | `{FIRST.source.node}` | 2 of 6 |"
    text = render_markdown(watched)
    assert row in text[text.index("| unknown rounds |") :]
    assert "Unknown rounds" in render_html(watched)
    told = json.loads(render_json(watched))
    Draft202012Validator(SCHEMA).validate(told)
    assert {one["unknown"] for one in told["rounds"]["unknown_nodes"]} == {2}


def test_every_document_tells_of_rounds(quiet: Results) -> None:
    """The page, the summary and results.json name them; those of a run do not."""
    watched = replace(quiet, rounds=rounds_of(ROUNDS, CHECKS))
    assert "5 rounds: 2 with failures" in render_markdown(watched)
    assert f"| check | `{CHECK.id}` | 2 of 4 |" in render_markdown(watched)
    assert "5 rounds: 2 with failures" in render_html(watched)
    assert '"rounds": {' in render_json(watched)
    for render in (render_markdown, render_html, render_json):
        assert "with failures" not in render(quiet)
        assert '"rounds": {' not in render(quiet)
