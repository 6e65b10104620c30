"""The words of ``nettests watch``: durations, and what is refused before a cluster is contacted."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import click
import pytest
from click.testing import CliRunner

from nettests.cli import main
from nettests.cli.options import duration
from nettests.cli.watch_command import _chosen
from nettests.model.words import CheckClass
from nettests.plan import build, load
from nettests.resources import suites_path
from tests.plan.clusters import cluster, node

CONTEXT = click.Context(click.Command("watch"))
EVERY = click.Option(["--every"])


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90.0), ("1m", 60.0), ("12h", 43200.0), ("0.5s", 0.5)]
)
def test_durations_have_units(text: str, seconds: float) -> None:
    """Seconds, minutes and hours are read as people write them."""
    assert duration(CONTEXT, EVERY, text) == seconds


@pytest.mark.parametrize("text", ["60", "1d", "0s", "-1m", "1 m", "", "NaNs"])
def test_what_is_no_duration_is_a_usage_error(text: str) -> None:
    """The message says how one is written."""
    done = CliRunner().invoke(main, ["watch", f"--every={text}"])
    assert done.exit_code == 2
    assert "write 90s, 1m or 12h" in done.output


def test_where_nothing_can_be_told_is_found_out_first(tmp_path: Path) -> None:
    """Metrics in a folder that is not there, an address that is none: wrong input, before a cluster is contacted."""
    for option, said in (
        (f"--metrics={tmp_path / 'none' / 'm.prom'}", "no metrics can be written to"),
        ("--webhook=http://hooks.slack.test/secretword", "it is no https:// address"),
    ):
        words = ["watch", option, f"--report-dir={tmp_path / 'reports'}"]
        done = CliRunner().invoke(main, [*words, f"--kubeconfig={tmp_path / 'none'}"])
        assert done.exit_code == 4, done.output
        assert said in done.output
        assert "secretword" not in done.output


def test_what_changes_services_is_repeated_only_where_it_is_named() -> None:
    """Each round would make every proxy work, or start processes and Pods; enabling a class names no flow."""
    flows = load([suites_path()]).flows
    facts = cluster(*(node(pool, member) for pool in ("linux-1", "windows-1") for member in (1, 2)))
    plan = build(facts, flows, frozenset(CheckClass))
    prepared = cast("Any", SimpleNamespace(blueprint=SimpleNamespace(plan=plan)))
    flows_of, named = (
        {one.partition("/")[0] for one in _chosen(prepared, named=named)} for named in (False, True)
    )
    costly = {
        "service-endpoints-changed",
        "new-pod-first-packets",
        "icmp-pod-to-pod",
        "node-to-pod",
    }
    assert costly <= named
    assert not costly & flows_of
    assert flows_of >= {"pod-to-pod-ip", "pod-to-service-clusterip", "path-loss"}
