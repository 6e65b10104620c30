"""The table of rules: it holds every rule that is declared, and each of them is whole."""

import importlib
from dataclasses import replace
from pathlib import Path

import pytest

import nettests.rules
from nettests.errors import PlanError
from nettests.model.words import Outcome, Question, VantageKind
from nettests.plan import cases, load
from nettests.resources import suites_path
from nettests.rules import RULES, Rule, table_of
from nettests.rules.evidence import rule
from nettests.rules.readings import ApiObjects, OfPeers, Request, ToolOutput, permission_of
from tests.plan.clusters import mixed
from tests.rules.made import READINGS

FOLDER = Path(nettests.rules.__file__).parent
MODULES = [
    importlib.import_module(f"nettests.rules.{file.stem}")
    for file in sorted(FOLDER.glob("*.py"))
    if file.stem != "__init__"
]


def test_every_declared_rule_is_in_the_table() -> None:
    """A module of rules that the table does not know would be run by nobody."""
    declared = {
        one.name for each in MODULES for one in vars(each).values() if isinstance(one, Rule)
    }
    assert declared == set(RULES)


def test_two_rules_of_one_name_are_an_error() -> None:
    """A name is part of check ids: the second rule must not replace the first."""
    one = next(iter(RULES.values()))
    with pytest.raises(ValueError, match=one.name):
        table_of([one, one])


@pytest.mark.parametrize("one", RULES.values(), ids=RULES)
def test_a_rule_is_whole(one: Rule) -> None:
    """It reads something, says what it demands and what to do, and its name can stand in check ids."""
    assert one.reads
    assert (one.demand.__doc__ or "").strip().endswith(".")
    assert len(one.remedy.split()) > 2
    assert one.demand.__name__ == one.name.replace("-", "_")


def test_readings_are_told_apart_by_their_names() -> None:
    """What is recorded under a name was read in one way."""
    reads = {reading for one in RULES.values() for reading in one.reads}
    assert len(reads) == len(READINGS)


def test_every_rule_is_run_where_its_readings_can_be_taken() -> None:
    """Each is a case of a shipped suite; where tools are read, of one that tests from nodes."""
    probed = {
        case.label: flow.source
        for flow in load([suites_path()]).flows
        if flow.question is Question.INSPECT
        for case in flow.cases
    }
    assert set(probed) == set(RULES)
    on_nodes = {
        one.name
        for one in RULES.values()
        if any(isinstance(r, ToolOutput | OfPeers) for r in one.reads)
    }
    assert {name for name, source in probed.items() if source is VantageKind.NODE} == on_nodes


def test_a_case_carries_what_its_rule_is_about() -> None:
    """Suites name a rule; where it is tested, and beside what, is the rule's own matter."""
    case = cases.rule("source-vip")
    assert case.when == ("kube-proxy-pod", "kernelspace", "overlay")
    assert (case.label, case.outcome, case.beside_pod) == ("source-vip", Outcome.CONFORMS, False)
    assert cases.rule("pod-families").beside_pod


def test_a_misspelt_rule_is_an_error_with_near_misses() -> None:
    """It would be tested everywhere and found unreadable."""
    with pytest.raises(PlanError, match="sorce-vip") as caught:
        cases.rule("sorce-vip")
    assert "source-vip" in (caught.value.hint or "")


def test_a_declaration_is_a_rule() -> None:
    """What stands around a demand becomes one value with it."""
    objects = ApiObjects(
        name="pods", request=lambda _f, _n: Request(path="/"), permission=None, keep=str
    )
    proxy_mode = RULES["proxy-mode"]
    made = rule(about=(), reads=(objects,))(proxy_mode.demand)
    assert made == replace(proxy_mode, about=(), reads=(objects,))
    assert "--proxy-mode=kernelspace" in made.remedy


def test_what_a_rule_needs_to_be_allowed_follows_from_its_readings() -> None:
    """Each permission once; tools on a node need none of the API's objects."""
    needed = list(map(str, RULES["load-balancers"].permissions))
    assert needed == [
        "list services in all namespaces",
        "list endpointslices in all namespaces",
    ]
    assert RULES["node-ports-free"].permissions == ()


def test_requests_read_what_the_api_server_lists() -> None:
    """Every reading of objects is a GET below an API's root, and all but Flannel's ConfigMap name their right."""
    facts = mixed()
    unnamed = []
    for reading in READINGS.values():
        if isinstance(reading, ApiObjects):
            assert reading.request(facts, facts.nodes[0]).path.startswith(("/api/", "/apis/"))
            unnamed += [reading.name] if permission_of(reading) is None else []
    assert unnamed == ["flannel-config"]


def test_nothing_that_is_run_changes_a_node() -> None:
    """Tools only show; none of their words sets, adds, removes or deletes."""
    tools = [reading.words for reading in READINGS.values() if isinstance(reading, ToolOutput)]
    lines = [" ".join(argv).lower().replace("-erroraction stop", "") for argv in tools]
    words = {word for line in lines for word in line.split()}
    assert any("get-hnsnetwork" in word for word in words)
    assert not words & {"set", "add", "delete", "del", "remove", "new", ">", "start", "stop"}
    assert not any(word.startswith(("set-", "new-", "remove-", "stop-")) for word in words)
