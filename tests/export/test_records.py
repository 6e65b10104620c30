"""A run's records under other names: nothing that was planted in any of their texts leaves, and verdicts stay."""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from nettests.export.texts import Renaming
from nettests.model.codec import data_of, encode, record_of
from nettests.model.facts import ClusterFacts, known
from nettests.model.history import History
from nettests.model.journal_records import (
    Begin,
    Diagnostics,
    DiagnosticsItem,
    Discovered,
    Event,
    Planned,
    Record,
    Unknown,
)
from nettests.report import build_results
from nettests.session.blueprint import read_manifests
from nettests.session.rejudge import recorded, rejudged
from tests.export.renaming import KEY, shipped
from tests.report.cluster import FACTS
from tests.report.scenario import QUIET, eventful, records

TODAY = date(2026, 11, 25)
SECRETS = ("zorblax", "kronfeld", "quuxington", "203.14.77.9", "2a0c:b641:99", "4711471147114711")
HOMES = "/".join(("", "home", ""))
PLANTS = (
    "node Zorblax-7.kronfeld.corp refused",
    "http://QUUXINGTON:80/x?host=zorblax&a=[2a0c:b641:99::7]:53",
    "dial tcp 203.14.77.9:8080->203.14.77.9:53: i/o timeout",
    rf"C:\Users\zorblax\AppData and {HOMES}kronfeld/.kube/config",
    "ZORBLAX_SERVICE_HOST=203.14.77.9 quuxington@kronfeld.example",
    '{"name": "zorblax", "items": [{"Kronfeld": "x\\nquuxington"}]}',
    "arn:aws:eks:eu:4711471147114711:cluster/zorblax",
    quote("zorblax.kronfeld.corp/[2a0c:b641:99::7]", safe=""),
    "quuxington 10.1.1.1 zorblaxkronfeld zorblax_kronfeld zorblax.kronfeld.svc.cluster.local",
)
CODED = tuple(base64.b64encode(one.encode()).decode() for one in SECRETS)


def texts_in(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where the texts of plain data stand."""
    if isinstance(data, str):
        yield path
    elif isinstance(data, Mapping):
        for key, inner in data.items():
            yield from texts_in(inner, (*path, key))
    elif isinstance(data, list):
        for index, inner in enumerate(data):
            yield from texts_in(inner, (*path, index))


def planted(data: dict[str, Any], path: tuple[Any, ...], text: str) -> dict[str, Any]:
    """Return a copy of data with another text at a place."""
    copy: dict[str, Any] = json.loads(json.dumps(data))
    holder: Any = copy
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = text
    return copy


def each_shape() -> list[dict[str, Any]]:
    """Return one record of each kind and set of fields of a whole run, as data."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for record in records(eventful()):
        data = json.loads(encode(data_of(record)))
        found.setdefault(tuple(map(str, texts_in(data))), data)
    return list(found.values())


def test_nothing_that_was_planted_leaves_in_any_field() -> None:
    """Names, addresses and accounts in every text field of every kind of record, in all the ways that texts hold them."""
    renaming = Renaming.of([*records(QUIET)], shipped(), KEY)
    seen = 0
    for number, data in enumerate(each_shape()[:60]):
        for place, path in enumerate(texts_in(data)):
            if path == ("record",):
                continue
            plant = PLANTS[(number + place) % len(PLANTS)]
            told = json.dumps(renaming.data(planted(data, path, plant))).lower()
            assert not [one for one in SECRETS if one in told], (path, plant)
            seen += 1
    assert seen > 1000


@pytest.mark.parametrize("plant", [*PLANTS, *CODED])
def test_each_plant_is_taken_out_of_an_error(plant: str) -> None:
    """In the free text of an event, and as the name of a field."""
    renaming = Renaming.of([], shipped(), KEY)
    told = json.dumps(renaming.data({"record": "event", "text": f"failed: {plant}", plant: 1}))
    assert not [one for one in (*SECRETS, *CODED) if one.lower() in told.lower()]


def foreign(facts: ClusterFacts) -> ClusterFacts:
    """Return facts whose names and addresses are somebody's."""
    nodes = tuple(
        replace(
            node,
            name=f"zorblax-{at}.kronfeld.corp",
            hostname=f"zorblax-{at}",
            zone=known("kronfeld-1a", "label"),
        )
        for at, node in enumerate(facts.nodes)
    )
    return replace(
        facts,
        nodes=nodes,
        context="quuxington",
        cluster_domain=known("k8s.kronfeld.corp", "ConfigMap"),
    )


def test_nodes_are_called_what_they_are_everywhere() -> None:
    """A node's name is one other name in facts, plans, texts and capitals."""
    told: list[Record] = [
        Discovered(facts=foreign(FACTS)),
        Event(at="", text="ZORBLAX-0.KRONFELD.CORP and zorblax-0.kronfeld.corp:80"),
    ]
    facts, event = Renaming.of(told, shipped(), KEY).renamed(told)
    assert isinstance(facts, Discovered)
    assert isinstance(event, Event)
    name = facts.facts.nodes[0].name
    assert name.startswith("node-")
    assert event.text == f"{name.upper()} and {name}:80"
    assert facts.facts.context.startswith("context-")
    assert (facts.facts.cluster_domain.value or "").startswith("domain-")
    assert len({node.name for node in facts.facts.nodes}) == len(FACTS.nodes)


def test_pods_stay_on_their_nodes() -> None:
    """Each node's subnet of Pods is another one, within the cluster's, and no two are one."""
    told = [Discovered(facts=FACTS)]
    (found,) = Renaming.of(told, shipped(), KEY).renamed(told)
    assert isinstance(found, Discovered)
    whole = found.facts.pod_cidrs.value
    assert whole
    subnets = [one for node in found.facts.nodes for one in node.pod_cidrs]
    assert len(set(subnets)) == len(subnets) > 1
    assert all(any(one.network_address in of for of in whole) for one in subnets)
    assert set(subnets).isdisjoint(one for node in FACTS.nodes for one in node.pod_cidrs)


def judged(told: list[Record]) -> list[tuple[str, str, str | None]]:
    """Return check, verdict and limitation of all checks, by today's manifests."""
    run = recorded(History.of(told), Path("journal.jsonl"))
    return [
        (one.check, one.verdict.value, one.limitation)
        for one in rejudged(run, read_manifests()[0], today=TODAY)
    ]


@pytest.mark.parametrize("story", ["quiet", "eventful"])
def test_verdicts_and_incidents_stay(story: str) -> None:
    """Of a run in order and of one in which every verdict occurs: ids, verdicts, limitations, and causes up to names."""
    told = [*records(QUIET if story == "quiet" else eventful())]
    renaming = Renaming.of(told, shipped(), KEY)
    other = [*renaming.renamed(told)]
    assert judged(other) == judged(told)
    before, after = build_results(told).incidents, build_results(other).incidents
    assert [(renaming.texts.text(one.cause), one.checks) for one in before] == [
        (one.cause, one.checks) for one in after
    ]


def test_what_is_for_this_machine_alone_is_left_out() -> None:
    """Diagnostics, and records of a kind that this version does not know."""
    item = DiagnosticsItem(title="ipconfig", file="ipconfig.txt")
    told: list[Record] = [
        Begin(run_id="20261125-164733-9fa8"),
        Diagnostics(subject="node-x", folder="diagnostics/x", checks=(), items=(item,)),
        Unknown(data={"record": "future", "text": "zorblax"}),
    ]
    assert [*Renaming.of(told, shipped(), KEY).renamed(told)] == [told[0]]


def test_secrets_are_taken_out_once_more() -> None:
    """A journal of an earlier version may hold what today's redactor knows."""
    data = Renaming.of([], shipped(), KEY).data(
        {"record": "event", "text": "token: eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.c2ln"}
    )
    assert "eyJ" not in data["text"]
    assert "redacted" in data["text"]


def test_a_name_that_is_given_was_nobody_s() -> None:
    """Where something is called as a replacement would be, another one is taken: two things never become one."""
    facts = replace(
        FACTS,
        nodes=tuple(
            replace(node, name=f"acme-{at}", hostname="") for at, node in enumerate(FACTS.nodes)
        ),
    )
    vocabulary = shipped()
    taken = replace(vocabulary, names=vocabulary.names | {"node-1", "node-2"})
    (found,) = Renaming.of([Discovered(facts=facts)], taken, KEY).renamed([Discovered(facts=facts)])
    assert isinstance(found, Discovered)
    assert {"node-1", "node-2"}.isdisjoint(node.name for node in found.facts.nodes)


def test_records_are_read_back() -> None:
    """What leaves is a journal: each record is one of its own kind."""
    told = [*records(eventful())]
    other = [*Renaming.of(told, shipped(), KEY).renamed(told)]
    assert [type(one) for one in other] == [type(one) for one in told]
    assert all(record_of(data_of(one)) == one for one in other if isinstance(one, Planned))
