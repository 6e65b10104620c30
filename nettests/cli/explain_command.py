"""``nettests explain CHECK``: the expected outcome of a check, the entry that decides it, and its source.

Reads only. ``expect`` decides; this module prints its reasoning.
"""

from collections.abc import Iterator, Sequence

import click

from nettests import expect, terminal
from nettests.cli.discover_commands import read_blueprint
from nettests.cli.help import Command
from nettests.cli.options import CHECKS, CLUSTER, CommonOptions, cluster_options
from nettests.errors import PlanError
from nettests.expect import Explanation, Fact
from nettests.expect.condition import Truth
from nettests.model.check import Check, Skip
from nettests.model.codec import to_data
from nettests.model.nearest import nearest
from nettests.plan import load
from nettests.session.blueprint import Blueprint
from nettests.session.without_cluster import read_catalogue

MARKS = {Truth.YES: "✓", Truth.NO: "✗", Truth.UNKNOWN: "?"}


@click.command(
    cls=Command, example="nettests explain icmp-egress/windows-1/external/outside/icmp --lab"
)
@click.argument("check")
@cluster_options(CLUSTER, CHECKS)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, nothing else.")
def explain(*, check: str, common: CommonOptions, as_json: bool) -> None:
    """Explain the expected outcome of CHECK on a cluster.

    Shows the limitation entries considered, their conditions, the facts that decided them, and the sources.
    """
    made = read_blueprint(common)
    found = _found(check, made)
    if isinstance(found, Skip):
        if as_json:
            terminal.document({"skip": to_data(found)})
        else:
            terminal.line(found.id)
            terminal.line(f"  skipped: {found.reason}")
        return
    told = expect.explain(found, made.facts, made.manifests)
    facts = _documented(found, told, common)
    if as_json:
        terminal.document(_as_data(told, facts))
        return
    for line in _told(told, facts):
        terminal.line(line)


def _found(check_id: str, made: Blueprint) -> Check | Skip:
    """Return the check or the skip of that id; ``PlanError`` names those that resemble it."""
    for skip in made.plan.skips:
        if skip.id == check_id:
            return skip
    # Members have the same claim and entries, and facts of their own nodes: the first stands for its check.
    found = {check.id: check.each[0] for check in made.plan.checks}
    found |= {one.id: one for check in made.plan.checks for one in check.each}
    check = found.get(check_id)
    if check is None:
        ids = [check.id for check in made.plan.checks] + [skip.id for skip in made.plan.skips]
        hint = nearest(check_id, ids, otherwise="list them with: nettests plan", most=3)
        raise PlanError(f"this cluster has no check {check_id!r}", hint=hint)
    return check


def _as_data(explanation: Explanation, facts: Sequence[Fact]) -> dict[str, object]:
    """Return check, expectation, documented facts and every entry considered, with what was found of its condition."""
    return {
        "check": to_data(explanation.check),
        "expectation": to_data(explanation.expectation),
        "facts": to_data(facts),
        "considered": [
            {
                "id": one.limitation.id,
                "layer": one.limitation.layer.name.lower(),
                "file": one.limitation.file,
                "line": one.limitation.line,
                "condition": one.truth.value,
                "findings": [
                    {"condition": truth.value, "sentence": sentence}
                    for truth, sentence in one.findings
                ],
                "settled_by": one.limitation.settled_by,
            }
            for one in explanation.considered
        ],
    }


def _documented(check: Check, told: Explanation, common: CommonOptions) -> tuple[Fact, ...]:
    """Return the documented facts that the check exercises: its flow's, and the deciding entry's."""
    facts = read_catalogue().facts
    named = next(flow for flow in load(common.suites).flows if flow.name == check.flow).facts
    applied = told.expectation.limitation
    served = [
        fact
        for one in told.considered
        if applied is not None and one.limitation.id == applied.id
        for fact in (one.limitation.id, *one.limitation.facts)
    ]
    return tuple(facts[fact] for fact in dict.fromkeys((*named, *served)) if fact in facts)


def _told(explanation: Explanation, facts: Sequence[Fact]) -> Iterator[str]:
    check, expectation = explanation.check, explanation.expectation
    yield check.id
    yield f"  {check.title}"
    yield f"  claim     {check.claim}"
    for source in check.sources:
        yield f"            {source}"
    for fact in facts:
        yield f"  fact      {fact.id}: {fact.statement}"
    if expectation.undecided:
        yield f"  expected  undecided: {expectation.undecided}"
    elif expectation.expected is None:
        yield "  expected  left open by the documents: what happens is recorded"
    else:
        yield f"  expected  {expectation.expected}"
    applied = expectation.limitation
    if applied is not None:
        yield f"  because   {applied.id} ({applied.layer}, {applied.category}): {applied.summary}"
        yield f"            {applied.mechanism}"
        yield f"            {applied.file}:{applied.line}"
        yield from (f"            source: {source}" for source in applied.sources)
    yield from _open(explanation)
    yield from _considered(explanation)


def _open(explanation: Explanation) -> Iterator[str]:
    """Yield what would settle an outcome that is left open, and how the bugs among the reasons show."""
    expectation = explanation.expectation
    if expectation.expected is not None or expectation.undecided:
        return
    holding = (one.limitation for one in explanation.considered if one.truth is Truth.YES)
    yield from dict.fromkeys(
        f"  settled   {entry.id}: {entry.settled_by}" for entry in holding if entry.is_open
    )
    for bug in expectation.known_bugs:
        yield f"  bug       {bug.id} shows as {bug.shows}"


def _considered(explanation: Explanation) -> Iterator[str]:
    if not explanation.considered:
        yield "  no limitation entry speaks of this flow and protocol"
    for one in explanation.considered:
        yield f"  {MARKS[one.truth]} {one.limitation.id}"
        for truth, sentence in one.findings:
            yield f"      {MARKS[truth]} {sentence}"
