"""A whole run on sixty nodes as its journal tells it: every flow by one path each, some by every member."""

from collections.abc import Iterator
from dataclasses import replace

from nettests.model.check import Action, Check
from nettests.model.journal_records import Begin, Discovered, End, Record
from nettests.model.words import OS
from nettests.report import Results, build_results
from tests.plan.test_members import fleet
from tests.report import scenario, sweep
from tests.report.scenario import Story

SWEPT = (*sweep.FLOWS, "nodeport-from-pod-own-node")
DEAD = "node-windows-1-7-x7"


def green() -> Results:
    """Return the results of a run in which all is as documented."""
    return build_results(_records(Story(), lambda _: False))


def one_node_dead() -> Results:
    """Return those of a run in which nothing gets into one Windows node or out of it."""
    return build_results(_records(Story(failing=_at_the_dead_node), _with_the_dead_node))


def no_windows_node_sends() -> Results:
    """Return those of a run in which whatever a Windows node begins is lost: hardly a page can be redder."""
    return build_results(
        _records(
            Story(failing=lambda check: check.source.os is OS.WINDOWS),
            lambda action: action.source.os is OS.WINDOWS,
        )
    )


def _at_the_dead_node(check: Check) -> bool:
    return DEAD in {check.source.node, check.target.node}


def _with_the_dead_node(action: Action) -> bool:
    return DEAD in {action.source.node, action.target.node}


def _records(story: Story, silent: sweep.Silent) -> Iterator[Record]:
    """Yield one run's records: both stories are told of the same nodes."""
    facts = fleet(20, 40)
    *told, end = scenario.records(replace(story, facts=facts))
    yield from told
    for record in sweep.records(silent, facts, SWEPT):
        if not isinstance(record, Begin | Discovered | End):
            yield record
    yield end
