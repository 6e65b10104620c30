"""``results.json`` says what its schema promises, for every story."""

import json
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from nettests.model.journal_records import Event, Record
from nettests.model.measured import PathSize, SizeFinding, estimate
from nettests.model.words import Verdict
from nettests.report import API_VERSION, Results, build_results, render_json
from tests.report.hostile import NASTY, hostile_records
from tests.report.scenario import eventful, records

SCHEMA = json.loads(files("nettests.report").joinpath("results.schema.json").read_text("utf-8"))


def rendered(results: Results) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(render_json(results))
    return parsed


def invalid(document: dict[str, Any]) -> list[str]:
    return [error.message for error in Draft202012Validator(SCHEMA).iter_errors(document)]


def test_the_schema_is_a_schema() -> None:
    """The published schema is valid by its own draft."""
    Draft202012Validator.check_schema(SCHEMA)


def test_a_quiet_run_is_valid(quiet: Results) -> None:
    """A run in which all is as documented satisfies the schema."""
    assert invalid(rendered(quiet)) == []


def test_a_run_with_every_verdict_is_valid(eventful_run: Results) -> None:
    """Every verdict satisfies the schema."""
    document = rendered(eventful_run)
    assert invalid(document) == []
    assert {check["verdict"] for check in document["checks"]} == {v.value for v in Verdict}


@pytest.mark.parametrize("story", [[], [Event(at="", text="no nodes")]])
def test_a_run_that_could_not_start_is_valid(story: list[Record]) -> None:
    """A run without checks satisfies the schema and carries its error."""
    document = rendered(build_results(story))
    assert invalid(document) == []
    assert document["run"]["error"]
    assert document["checks"] == []


def test_hostile_texts_stay_what_they_are() -> None:
    """Texts are data: they come back as they were, but for what no UTF-8 file can hold."""
    document = rendered(build_results(hostile_records()))
    assert invalid(document) == []
    assert document["checks"][0]["message"] == NASTY.replace("\ud800", "?")


def test_the_schema_refuses_what_is_not_promised(quiet: Results) -> None:
    """A missing key, a wrong verdict or an extra key is an error: the schema can fail."""
    spoilers: tuple[Callable[[dict[str, Any]], object], ...] = (
        lambda d: d["checks"][0].pop("attempts"),
        lambda d: d["checks"][0].update(verdict="green"),
        lambda d: d.update(extra=1),
        lambda d: d.update(facts_digest="md5:1"),
    )
    for spoil in spoilers:
        document = rendered(quiet)
        spoil(document)
        assert invalid(document), spoil


def test_the_document_names_its_version(quiet: Results) -> None:
    """A reader can tell what it reads."""
    assert rendered(quiet)["apiVersion"] == API_VERSION == "nettests.dev/v1"


def test_a_check_carries_who_sent_it_whom_and_how(quiet: Results) -> None:
    """A check names source and target with kind, OS, build and node, placement and protocol."""
    check = by_id(quiet, "node-to-service-clusterip/windows-1/linux-1/other-node/tcp")
    assert check["source"] == {
        "kind": "node",
        "role": "windows-1",
        "os": "windows",
        "build": "17763.1339",
        "node": "windows-node-1",
        "probe": "node-windows-1-1",
    }
    assert check["target"]["kind"] == "service-clusterip"
    assert check["target"]["os"] == "linux"
    assert (check["placement"], check["protocol"], check["family"]) == ("other-node", "tcp", "IPv4")


def test_a_limited_check_carries_the_limitation_with_its_source(quiet: Results) -> None:
    """The limitation that decided stands beside the claim that it replaces."""
    check = by_id(quiet, "node-to-service-clusterip/windows-1/linux-1/other-node/tcp")
    assert check["limitation"]["id"] == "win-node-to-clusterip"
    assert check["limitation"]["sources"][0]["address"].startswith("https://kubernetes.io/")
    assert check["limitation"]["because"]
    assert check["expected"]["outcome"] == "timed_out"
    assert check["expected"]["claim"].startswith("connected")


def test_attempts_carry_what_was_seen(quiet: Results) -> None:
    """Each attempt has its outcome, time, channel and the address that the server saw."""
    check = by_id(quiet, "pod-to-node/windows-1/linux-1/other-node/tcp")
    assert check["attempts"][0]["outcome"] == "connected"
    assert check["observed"]["server_saw"] == check["attempts"][0]["server_saw"] == "10.244.2.7"


def test_a_skip_is_a_check_without_ends(quiet: Results) -> None:
    """What never applied has the reason as its message, and nothing that was probed."""
    skipped = [check for check in rendered(quiet)["checks"] if check["verdict"] == "skipped"]
    assert skipped
    assert {check["source"]["kind"] for check in skipped} == {None}
    assert all(check["message"] for check in skipped)


def test_rendering_twice_gives_the_same_text() -> None:
    """Two readers of one journal get the same bytes."""
    one, two = (render_json(build_results(records(eventful()))) for _ in range(2))
    assert one == two


def by_id(results: Results, check_id: str) -> dict[str, Any]:
    return next(check for check in rendered(results)["checks"] if check["id"] == check_id)


def test_what_was_counted_and_searched_is_valid(quiet: Results) -> None:
    """Figures of losses and sizes stand beside the outcome of the checks that have any, and of no others."""
    size = PathSize(finding=SizeFinding.HOLE, passes=1400, vanishes=1401, mtu=1450, streams=False)
    figures: dict[str, dict[str, Any]] = {
        "path-loss": {"loss": estimate(662, 7)},
        "path-mtu": {"path_size": size},
    }
    checks = tuple(
        replace(one, observation=replace(one.observation, **figures.get(one.flow, {})))
        if one.observation
        else one
        for one in quiet.checks
    )
    document = rendered(replace(quiet, checks=checks))
    assert invalid(document) == []
    observed = {one["flow"]: one["observed"] for one in document["checks"] if one["attempts"]}
    assert observed["path-loss"]["loss"]["lost"] == 7
    assert observed["path-loss"]["loss"]["proven"] is True
    assert observed["path-mtu"]["path_size"] == {
        "finding": "hole",
        "passes": 1400,
        "vanishes": 1401,
        "mtu": 1450,
        "streams": False,
    }
    assert "loss" not in observed["pod-to-pod-ip"]
