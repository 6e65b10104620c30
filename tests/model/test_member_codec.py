"""Members of a check in a journal: what was planned comes back, and takes little room."""

import json

from nettests.model.check import Check
from nettests.model.codec import data_of, from_data, record_of, to_data
from nettests.model.expectation import Expectation
from nettests.model.journal_records import Planned
from tests.plan.test_members import fleet, plan


def test_members_come_back_as_they_were_planned() -> None:
    """Rejudging and reports read the very members, with their nodes, controls and placements."""
    for check in plan(fleet()).checks:
        data = json.loads(json.dumps(to_data(check)))
        assert from_data(data, Check) == check


def test_a_member_takes_little_room() -> None:
    """The record of a hundred nodes, with their controls, is about a kilobyte each."""
    (check, *_) = plan(fleet(0, 100), "pod-to-node-closed-port").checks
    assert len(check.members) == 100
    assert len(json.dumps(to_data(check))) < 110_000


def test_checks_without_members_are_written_as_before() -> None:
    """Journals of other checks do not grow, and old ones, which know no members, are read."""
    (check, *_) = plan(fleet(), "pod-to-pod-ip").checks
    (one, *_) = check.each
    data = to_data(one)
    assert "members" not in data
    assert from_data(data, Check).members == ()
    planned = Planned(check=one, expectation=Expectation(claim=one.claim, expected=one.claim))
    assert "others" not in data_of(planned)
    assert record_of(data_of(planned)) == planned
