"""Complete the facts of a run once its probes are deployed, and resolve expectations again.

The plan is made from discovered facts: it decides which checks there are, and so which vantages. Facts that only
vantages can read complete the others before the first check runs. The journal holds the readings, the completed
facts, and each changed expectation.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from nettests import expect
from nettests.errors import ManifestError
from nettests.model.check import Plan
from nettests.model.journal_records import Discovered, Limitations, Reading, Revised, others
from nettests.model.node_reading import NodeReading
from nettests.parse.host_facts import completed
from nettests.session.blueprint import Blueprint, unused
from nettests.session.journal import Journal


def learn(
    before: Blueprint,
    plan: Plan,
    readings: Sequence[NodeReading],
    journal: Journal,
    doubted: Callable[[NodeReading], NodeReading] = lambda reading: reading,
) -> Blueprint:
    """Return the blueprint with completed facts, and what the checks of ``plan`` are expected to show by them.

    ``doubted`` returns a reading as it counts, by what calibrations say of its instruments.
    If entries contradict each other by the new facts, nothing changes, and an event says so.
    """
    for reading in readings:
        journal.write(Reading(reading=reading))
    facts = completed(before.facts, map(doubted, readings))
    if facts == before.facts:
        return before
    try:
        now = expect.resolve(
            before.plan.checks, facts, before.manifests, today=datetime.now(UTC).date()
        )
    except ManifestError as error:
        journal.event(f"what nodes say of themselves is left out: {error}", notable=True)
        return before
    journal.write(Discovered(facts=facts))
    for check in plan.checks:
        unlike = others(check, now)
        if now[check.id] != before.expectations[check.id] or unlike != others(
            check, before.expectations
        ):
            journal.write(Revised(check=check.id, expectation=now[check.id], others=unlike))
    journal.write(Limitations(unused=unused(before.manifests, now)))
    return replace(before, facts=facts, expectations=now)
