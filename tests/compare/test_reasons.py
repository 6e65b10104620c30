"""What explains a change, case by case: a limitation that names Kubernetes' version, and a version that changed."""

from dataclasses import replace

import pytest

from nettests.compare.changes import CheckChange, Explained
from nettests.compare.difference import difference
from nettests.compare.recorded import (
    End,
    Expecting,
    Member,
    Members,
    RecordedCheck,
    RecordedRun,
    Seen,
)
from nettests.model.expectation import AppliedLimitation, Source
from nettests.model.facts import known
from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.model.words import OS, Category, Verdict
from tests.compare.runs import quiet_run
from tests.facts import cluster_facts

FACTS = cluster_facts("win2019-l2bridge")
ENTRY = AppliedLimitation(
    id="named",
    summary="Named",
    layer="base",
    category=Category.PLATFORM,
    mechanism="A test.",
    sources=(Source(document="A guide"),),
    because=("source runs windows", "Kubernetes in >=1.20: 1.24.17 (the API server)"),
    file="base.yaml",
    line=1,
)
CLAIM = Expecting(outcome="connected", claim="connected", text="connected")
DEVIATION = Expecting(outcome="timed_out", claim="connected", text="timed_out")
OPEN = Expecting(claim="connected", text="unspecified")
NONE: Members = {}
UPGRADE = "Kubernetes: 1.24.17 → 1.25.0"


def check(
    verdict: str,
    expected: Expecting,
    seen: str,
    *,
    members: Members = NONE,
) -> RecordedCheck:
    """A check that the named limitation decides, unless it is expected to do as claimed."""
    return RecordedCheck(
        id="flow/a",
        flow="flow",
        verdict=Verdict(verdict),
        message="its message",
        expected=expected,
        observed=Seen(outcome=seen),
        limitation=ENTRY if expected is not CLAIM else None,
        members=members,
    )


def run(*checks: RecordedCheck, upgraded: bool = False) -> RecordedRun:
    facts = replace(FACTS, server_version=KubernetesVersion(1, 25)) if upgraded else FACTS
    return replace(quiet_run(FACTS), checks=checks, facts=facts, incidents=())


def changed(before: RecordedCheck, after: RecordedCheck, *, upgraded: bool = True) -> CheckChange:
    """What became of the check, with Kubernetes upgraded meanwhile or not."""
    (one,) = difference(run(before), run(after, upgraded=upgraded)).changed
    return one


def reason(one: CheckChange) -> tuple[str, list[str]]:
    assert one.why is not None
    return one.why.explained.value, [str(cause) for cause in one.why.causes]


LIMITED = check("limited", DEVIATION, "timed_out")
PASS = check("pass", CLAIM, "connected")
RECORDED = check("recorded", OPEN, "connected")
CASES = {
    "a limitation ends and the claim holds": (LIMITED, PASS, True),
    "a limitation begins and shows": (PASS, LIMITED, True),
    "a limitation ends and shows still": (LIMITED, check("fail", CLAIM, "timed_out"), True),
    "a limitation begins and does not show": (PASS, check("lifted", DEVIATION, "connected"), True),
    "a limitation ends and something else comes": (LIMITED, check("fail", CLAIM, "refused"), False),
    "a limitation ends and attempts disagree": (LIMITED, check("flaky", CLAIM, "timed_out"), False),
    "a limitation stays and does not show": (
        LIMITED,
        check("lifted", DEVIATION, "connected"),
        False,
    ),
    "a limitation stays and something else comes": (
        LIMITED,
        check("fail", DEVIATION, "refused"),
        False,
    ),
    "a limitation stays and shows again": (check("fail", DEVIATION, "refused"), LIMITED, False),
    "an open outcome is another": (RECORDED, check("recorded", OPEN, "timed_out"), True),
    "an open outcome is decided now": (RECORDED, check("limited", DEVIATION, "timed_out"), True),
    "an open outcome shows as a bug": (RECORDED, check("known-bug", OPEN, "timed_out"), True),
    "the claim holds no longer": (PASS, check("fail", CLAIM, "timed_out"), False),
    "the claim holds again": (check("fail", CLAIM, "timed_out"), PASS, False),
}


@pytest.mark.parametrize(("before", "after", "explained"), CASES.values(), ids=CASES)
def test_a_fact_explains_what_it_changes_in_the_expectation(
    before: RecordedCheck, after: RecordedCheck, *, explained: bool
) -> None:
    """With the fact changed that the limitation names; what is not explained names no cause."""
    expected = ("explained", [UPGRADE]) if explained else ("unexplained", [])
    assert reason(changed(before, after)) == expected


@pytest.mark.parametrize(("before", "after", "explained"), CASES.values(), ids=CASES)
def test_nothing_is_explained_where_no_fact_changed(
    before: RecordedCheck, after: RecordedCheck, *, explained: bool
) -> None:
    """The same changes on the same facts: nobody can say why."""
    assert reason(changed(before, after, upgraded=False)) == ("unexplained", [])
    assert isinstance(explained, bool)


@pytest.mark.parametrize("verdict", ["unknown", "skipped"])
def test_what_was_not_judged_has_its_own_reason(verdict: str) -> None:
    """Its message, of the run that did not judge it; nothing is explained or unexplained."""
    blind = replace(check(verdict, DEVIATION, "timed_out"), message="no probe there")
    for pair in ((LIMITED, blind), (blind, LIMITED)):
        why = changed(*pair).why
        assert why is not None
        assert why.explained is Explained.NOT_JUDGED
        assert why.text == f"{verdict}: no probe there"


def test_a_fact_of_another_node_explains_nothing() -> None:
    """The limitation names the source's DSR; only the other pool's changed."""
    because = ("source DSR: off (log of Pod kube-proxy)",)
    entry = replace(ENTRY, because=because)
    limited = replace(LIMITED, limitation=entry, source=replace(LIMITED.source, node="win-1"))
    passed = replace(PASS, source=limited.source)
    other = tuple(
        replace(
            node, kube_proxy=replace(node.kube_proxy, dsr=replace(node.kube_proxy.dsr, value=True))
        )
        if node.name == "win-2"
        else node
        for node in FACTS.nodes
    )
    after = replace(run(passed), facts=replace(FACTS, nodes=other))
    (one,) = difference(run(limited), after).changed
    assert reason(one) == ("unexplained", [])
    mine = replace(limited, source=replace(limited.source, node="win-2"))
    (one,) = difference(
        run(mine), replace(after, checks=(replace(passed, source=mine.source),))
    ).changed
    assert reason(one) == ("explained", ["source DSR: off → on"])


@pytest.mark.parametrize(
    "target",
    [End(role="windows-1", os=OS.WINDOWS), End(os=OS.WINDOWS)],
    ids=["a Service over a node pool", "every node of a system"],
)
def test_an_end_without_a_node_has_the_facts_of_all_that_it_stands_for(target: End) -> None:
    """One of its nodes changed, and its fact has one value more."""
    entry = replace(ENTRY, because=("target build in <20348: 17763.1339 (kernelVersion)",))
    limited = replace(LIMITED, limitation=entry, target=target)
    patched = tuple(
        replace(node, build=known(WindowsBuild(20348, 1), "test")) if node.name == "win-2" else node
        for node in FACTS.nodes
    )
    after = replace(run(replace(PASS, target=target)), facts=replace(FACTS, nodes=patched))
    (one,) = difference(run(limited), after).changed
    cause = "target build: 17763.1339 → 17763.1339, 20348.1"
    assert reason(one) == ("explained", [cause])


def test_without_facts_nothing_is_explained_by_them() -> None:
    """A document whose facts are missing is compared, and blames none."""
    after = replace(run(PASS), facts=None)
    (one,) = difference(run(LIMITED), after).changed
    assert reason(one) == ("unexplained", [])


def swept(verdict: str, limitation: str | None, label: str = "win-1 → linux-1") -> Members:
    """One member with its verdict and its limitation."""
    return {label: Member(verdict=Verdict(verdict), limitation=limitation)}


OF_MEMBERS = {
    "its limitation ends and the claim holds": ("limited named", "pass", True),
    "its limitation begins and shows": ("pass", "limited named", True),
    "its limitation stays and does not show": ("limited named", "lifted named", False),
    "its limitation stays and shows again": ("lifted named", "limited named", False),
    "its limitation ends and it fails": ("limited named", "fail", False),
    "the claim holds no longer": ("pass", "fail", False),
    "a limitation that decides no check begins": ("pass", "limited elsewhere", False),
}


@pytest.mark.parametrize(("before", "after", "explained"), OF_MEMBERS.values(), ids=OF_MEMBERS)
def test_a_member_is_explained_by_its_own_limitation(
    before: str, after: str, *, explained: bool
) -> None:
    """The limitation is known by a check that it decides; a member that deviates is never explained by a fact."""
    made = []
    for words in (before, after):
        verdict, _, limitation = words.partition(" ")
        made.append(check(verdict, CLAIM, "connected", members=swept(verdict, limitation or None)))
    beside = replace(LIMITED, id="flow/beside")
    found = difference(run(made[0], beside), run(made[1], beside, upgraded=True))
    (one,) = found.changed
    assert reason(one) == (("explained", [UPGRADE]) if explained else ("unexplained", []))
