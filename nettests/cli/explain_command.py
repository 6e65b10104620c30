"""``nettests explain CHECK``: the expected outcome of a check, the entry that decides it, and its source.

Reads only. ``expect`` decides; this module prints its reasoning.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import click

from nettests import expect, terminal
from nettests.cli.discover_commands import read_blueprint
from nettests.cli.help import Command
from nettests.cli.options import CHECKS, CLUSTER, CommonOptions, cluster_options
from nettests.cli.output_options import json_option
from nettests.errors import PlanError
from nettests.expect import Explanation, Fact
from nettests.expect.condition import Truth
from nettests.model.check import Check, Skip
from nettests.model.codec import to_data
from nettests.model.nearest import nearest
from nettests.plan import load
from nettests.session.blueprint import Blueprint
from nettests.session.survey import read_catalogue

MARKS = {Truth.YES: "✓", Truth.NO: "✗", Truth.UNKNOWN: "?"}


@click.command(
    cls=Command, example="nettests explain icmp-egress/windows-1/external/outside/icmp --lab"
)
@click.argument("check")
@cluster_options(CLUSTER, CHECKS)
@json_option()
def explain(*, check: str, common: CommonOptions, as_json: bool) -> None:
    """Explain the expected outcome of CHECK on a cluster.

    Shows the limitation entries considered, their conditions, the facts that decided them, and the sources.
    """
    blueprint = read_blueprint(common)
    planned = _planned(check, blueprint)
    if isinstance(planned, Skip):
        if as_json:
            terminal.document({"skip": to_data(planned)})
        else:
            terminal.line(planned.id)
            terminal.line(f"  skipped: {planned.reason}")
        return
    explanation = expect.explain(planned, blueprint.facts, blueprint.manifests)
    facts = _documented(planned, explanation, common)
    if as_json:
        terminal.document(_as_data(explanation, facts))
        return
    terminal.lines(_explanation_lines(explanation, facts))


def _planned(check_id: str, blueprint: Blueprint) -> Check | Skip:
    """Return the check or the skip of that id; ``PlanError`` names those that resemble it."""
    for skip in blueprint.plan.skips:
        if skip.id == check_id:
            return skip
    # Members share claim and entries, but have facts of their own nodes: those of the first stand for its check.
    checks = {
        check.id: replace(check.each[0], id=check.id, title=check.title)
        for check in blueprint.plan.checks
    }
    checks |= {member.id: member for member in blueprint.plan.each}
    check = checks.get(check_id)
    if check is None:
        ids = [check.id for check in blueprint.plan.checks] + [
            skip.id for skip in blueprint.plan.skips
        ]
        hint = nearest(check_id, ids, otherwise="list them with: nettests plan", most=3)
        raise PlanError(f"this cluster has no check {check_id!r}", hint=hint)
    return check


def _as_data(explanation: Explanation, facts: Sequence[Fact]) -> dict[str, object]:
    """Return check, expectation, documented facts, and every entry considered with the findings on its condition."""
    return {
        "check": to_data(explanation.check),
        "expectation": to_data(explanation.expectation),
        "facts": to_data(facts),
        "considered": [
            {
                "id": candidate.limitation.id,
                "layer": candidate.limitation.layer.name.lower(),
                "file": candidate.limitation.file,
                "line": candidate.limitation.line,
                "condition": candidate.truth.value,
                "findings": [
                    {"condition": truth.value, "sentence": sentence}
                    for truth, sentence in candidate.findings
                ],
                "settled_by": candidate.limitation.settled_by,
            }
            for candidate in explanation.considered
        ],
    }


def _documented(check: Check, explanation: Explanation, common: CommonOptions) -> tuple[Fact, ...]:
    """Return the documented facts that the check exercises: its flow's, and the deciding entry's."""
    facts = read_catalogue().facts
    named = next(flow for flow in load(common.suites).flows if flow.name == check.flow).facts
    applied = explanation.expectation.limitation
    served = [
        fact
        for candidate in explanation.considered
        if applied is not None and candidate.limitation.id == applied.id
        for fact in (candidate.limitation.id, *candidate.limitation.facts)
    ]
    return tuple(facts[fact] for fact in dict.fromkeys((*named, *served)) if fact in facts)


def _explanation_lines(explanation: Explanation, facts: Sequence[Fact]) -> Iterator[str]:
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
    if not explanation.considered:
        yield "  no limitation entry speaks of this flow and protocol"
    for candidate in explanation.considered:
        yield f"  {MARKS[candidate.truth]} {candidate.limitation.id}"
        for truth, sentence in candidate.findings:
            yield f"      {MARKS[truth]} {sentence}"


def _open(explanation: Explanation) -> Iterator[str]:
    """Yield what would settle an open outcome, and how known bugs show."""
    expectation = explanation.expectation
    if expectation.expected is not None or expectation.undecided:
        return
    holding = (
        candidate.limitation for candidate in explanation.considered if candidate.truth is Truth.YES
    )
    yield from dict.fromkeys(
        f"  settled   {entry.id}: {entry.settled_by}" for entry in holding if entry.is_open
    )
    for bug in expectation.known_bugs:
        yield f"  bug       {bug.id} shows as {bug.shows}"
