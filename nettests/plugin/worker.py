"""In an xdist worker: the controller's facts, and the same plan computed from them.

A worker contacts no cluster. It collects, and waits for verdicts in the controller's journal.
"""

import json
from collections.abc import Collection, Iterable
from pathlib import Path

import pytest

from nettests.model.codec import from_data, to_data
from nettests.model.facts import ClusterFacts
from nettests.plan import Choice, load, read_classes
from nettests.plugin import outcome
from nettests.plugin.collect import Collector
from nettests.plugin.pytest_options import COLLECTOR, WORKER_KEY
from nettests.session.blueprint import Blueprint, blueprint, read_manifests
from nettests.session.journal import Follower


def handover(
    run_blueprint: Blueprint,
    journal: Path,
    *,
    suites: tuple[str, ...],
    flows: list[str],
    manifests: tuple[Path, ...],
    enabled: Iterable[str],
    choice: Choice,
) -> str:
    """Return what a worker needs, as text: xdist carries plain values only."""
    return json.dumps(
        {
            "facts": to_data(run_blueprint.facts),
            "journal": str(journal.resolve()),
            "suites": list(suites),
            "flows": flows,
            "manifests": [str(path.resolve()) for path in manifests],
            "enabled": sorted(enabled),
            "choice": to_data(choice),
        }
    )


def register(config: pytest.Config) -> None:
    """Read what the controller passed, and collect by it."""
    given = json.loads(config.workerinput[WORKER_KEY])  # type: ignore[attr-defined] # xdist sets it
    registry = load([Path(path) for path in given["suites"]]).select(given["flows"])
    run_blueprint = blueprint(
        from_data(given["facts"], ClusterFacts),
        registry.flows,
        read_manifests([Path(path) for path in given["manifests"]]),
        read_classes(given["enabled"]),
        from_data(given["choice"], Choice),
    )
    collecting(config, run_blueprint, Path(given["journal"]), registry.declared)


def collecting(
    config: pytest.Config, run_blueprint: Blueprint, journal: Path, declared: Collection[str]
) -> None:
    """Register what every process that runs tests needs; ``declared`` are all flow names."""
    manager = config.pluginmanager
    manager.register(Collector(run_blueprint, Follower(journal), frozenset(declared)), COLLECTOR)
    manager.register(outcome, "nettests-outcome")
