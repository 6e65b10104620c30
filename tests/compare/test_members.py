"""Members of a check are joined by their nodes, each with an expectation of its own."""

from dataclasses import replace

import pytest

from nettests.compare.changes import CheckChange, Explained, Kind, MemberChange, member_changes
from nettests.compare.difference import Difference, difference
from nettests.compare.fact_changes import PAIR, JoinedNodes
from nettests.compare.recorded import Member, Members, RecordedCheck, RecordedRun
from nettests.model.exit_code import ExitCode
from nettests.model.facts import known
from nettests.model.versions import WindowsBuild
from nettests.model.words import OS, Outcome, Verdict
from tests.compare.runs import but, quiet_run, recorded, results
from tests.facts import cluster_facts

FACTS = cluster_facts("mixed-builds")
QUIET = quiet_run(FACTS)
SWEEP = "pod-to-pod-ip"
BUILDS = {"17763.1339": "20348.3207"}


def members(**verdicts: list[str]) -> Members:
    """Members by verdict."""
    return {
        label: Member(verdict=Verdict(word))
        for word, labels in verdicts.items()
        for label in labels
    }


def compared(before: Members, after: Members, verdicts: str = "fail fail") -> Difference:
    """The difference of two runs with one check that has these members."""
    old, new = (
        RecordedCheck(id="f/x", flow="f", verdict=Verdict(word), members=of)
        for word, of in zip(verdicts.split(), (before, after), strict=True)
    )
    return difference(
        replace(QUIET, checks=(old,), incidents=()), replace(QUIET, checks=(new,), incidents=())
    )


def only(found: Difference) -> CheckChange:
    (one,) = found.checks
    return one


def test_another_member_that_fails_is_worse_although_the_check_failed_before() -> None:
    """A red check hides nothing: the pair that broke since is a new failure."""
    found = compared(members(**{"fail": ["a"], "pass": ["b"]}), members(fail=["a", "b"]))
    assert only(found).kind is Kind.MEMBERS
    assert [one.label for one in only(found).members] == ["b"]
    assert (found.worse, found.exit_code) == (("f/x",), ExitCode.TESTS_FAILED)


def test_a_member_that_was_repaired_beside_others_is_told_and_is_not_worse() -> None:
    """One of two failing pairs works again."""
    found = compared(members(fail=["a", "b"]), members(**{"fail": ["a"], "pass": ["b"]}))
    assert only(found).kind is Kind.MEMBERS
    assert (found.worse, found.exit_code) == ((), ExitCode.OK)


def test_nodes_that_came_and_work_are_no_change_of_a_check() -> None:
    """They are told as a fact of their pool; the members that one run alone has are listed beside."""
    found = compared(members(**{"pass": ["a"]}), members(**{"pass": ["a", "b"]}), "pass pass")
    assert only(found).kind is Kind.SAME
    assert only(found).members == (
        MemberChange(label="b", earlier="b", before=None, after=Verdict.PASS),
    )


def test_a_node_that_came_and_does_not_work_is_worse_and_unexplained() -> None:
    """No document expects a new node to fail."""
    found = compared(
        members(**{"pass": ["a"]}), members(**{"pass": ["a"], "fail": ["b"]}), "pass fail"
    )
    assert only(found).kind is Kind.NEW_FAILURE
    assert found.worse == ("f/x",)
    assert found.unexplained == (only(found),)


def test_a_failure_that_went_with_its_node_is_repaired_by_that() -> None:
    """The members are the reason, and it is said."""
    why = only(
        compared(members(**{"pass": ["a"], "fail": ["b"]}), members(**{"pass": ["a"]}), "fail pass")
    ).why
    assert why is not None
    assert why.explained is Explained.EXPLAINED
    assert [str(one) for one in why.causes] == ["nodes or pairs of nodes: 2 → 1"]


def test_members_are_joined_by_the_new_names_of_their_nodes() -> None:
    """A pair whose nodes were replaced under other names is the same pair."""
    win = [one for one in FACTS.nodes if one.os is OS.WINDOWS]
    first, other = win[0], replace(win[0], name="fresh")
    joined = JoinedNodes(pairs=((first, other),))
    pair = f"{first.name}{PAIR}linux-1"
    before, after = members(**{"pass": [pair]}), members(fail=[f"fresh{PAIR}linux-1"])
    (found,) = member_changes(before, after, joined)
    assert (found.earlier, found.label) == (pair, f"fresh{PAIR}linux-1")
    assert (found.before, found.after) == (Verdict.PASS, Verdict.FAIL)


def broken(*words: str) -> RecordedRun:
    return recorded(results(FACTS, but(SWEEP, Outcome.TIMED_OUT, *words), flows=[SWEEP]))


def test_a_pair_of_a_real_sweep_that_broke_is_the_one_that_is_named() -> None:
    """One ordered pair of many: the check fails, and the difference names that pair alone."""
    checks = [one for one in QUIET.checks if one.flow == SWEEP]
    pair = next(
        label
        for one in checks
        if one.id.startswith(f"{SWEEP}/linux-1/linux-1/other-node")
        for label in one.members
    )
    before = recorded(results(FACTS, flows=[SWEEP]))
    found = difference(before, broken(pair, "tcp"))
    changed = [one for one in found.changed if one.worse]
    assert changed
    assert {member.label for one in changed for member in one.members} == {pair}
    assert {one.id for one in found.unexplained} == {one.id for one in changed}


def upgraded() -> RecordedRun:
    """The same nodes, pinned to their pools, of which the oldest build was upgraded in place."""
    nodes = tuple(
        replace(one, build=known(WindowsBuild.parse(BUILDS[str(one.build.value)]), "test"))
        if str(one.build.value) in BUILDS
        else one
        for one in FACTS.nodes
    )
    return quiet_run(replace(FACTS, nodes=nodes))


def test_members_that_change_with_the_builds_of_their_nodes_are_explained_by_them() -> None:
    """Of a fleet of three builds one is upgraded: only its members change, by its build."""
    found = difference(QUIET, upgraded())
    swept = [one for one in found.changed if any(m.in_both for m in one.members)]
    assert swept
    assert found.unexplained == ()
    for one in swept:
        assert one.why is not None
        assert any("build: 17763.1339 → 20348.3207" in str(cause) for cause in one.why.causes)


@pytest.mark.parametrize("verdict", ["unknown", "skipped"])
def test_members_of_a_check_that_was_not_judged_explain_nothing(verdict: str) -> None:
    """Nothing is known of a change where one run saw nothing."""
    one = only(compared(members(**{"pass": ["a"]}), members(**{verdict: ["a"]}), f"pass {verdict}"))
    assert one.why is not None
    assert one.why.explained is Explained.NOT_JUDGED
