"""Pods of single checks are removed several at a time, except those that another one may be waiting for."""

from typing import Any

import pytest

from nettests.probes.removals import BATCH, Removals


def _pod(number: int, **spec: Any) -> dict[str, Any]:
    containers = spec.pop("containers", [{"name": "first"}])
    return {
        "metadata": {"name": f"start-{number}"},
        "spec": {"containers": containers, **spec},
    }


def test_pods_go_together() -> None:
    """One request removes several, and the last ones are left to the end of the run."""
    requests: list[list[str]] = []
    removals = Removals(lambda names: requests.append(list(names)))
    for number in range(2 * BATCH - 1):
        removals.add(_pod(number))
    assert requests == [[f"start-{number}" for number in range(BATCH)]]


@pytest.mark.parametrize(
    "spec",
    [
        {"hostNetwork": True},
        {"containers": [{"name": "first", "ports": [{"containerPort": 80, "hostPort": 8080}]}]},
    ],
)
def test_a_pod_that_occupies_ports_of_its_node_goes_at_once(spec: dict[str, Any]) -> None:
    """The scheduler would let the next one with these ports wait."""
    requests: list[list[str]] = []
    Removals(lambda names: requests.append(list(names))).add(_pod(1, **spec))
    assert requests == [["start-1"]]
