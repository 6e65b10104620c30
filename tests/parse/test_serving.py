"""Which Pods a Service leads to."""

from typing import Any

import pytest

from nettests.parse.serving import serves

READY = {"type": "Ready", "status": "True"}
STATUS: dict[str, Any] = {"phase": "Running", "podIP": "10.244.1.2", "conditions": [READY]}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (STATUS, True),
        (STATUS | {"conditions": [{"type": "Initialized", "status": "False"}, READY]}, True),
        (STATUS | {"conditions": [READY | {"status": "False"}]}, False),
        (STATUS | {"conditions": [READY | {"type": "ContainersReady"}]}, False),
        (STATUS | {"conditions": [{}]}, False),
        (STATUS | {"conditions": None}, False),
        (STATUS | {"phase": "Succeeded"}, False),
        (STATUS | {"podIP": None}, False),
        ({"conditions": [READY], "podIP": "10.244.1.2"}, False),
        ({"conditions": [READY], "phase": "Running"}, False),
        ({"phase": "Running", "podIP": "10.244.1.2"}, False),
        ({}, False),
        (None, False),
    ],
)
def test_an_endpoint_runs_is_ready_and_has_an_address(status: Any, *, expected: bool) -> None:
    """One that lacks any of it serves nobody, whatever else is said of it."""
    assert serves({"metadata": {}, "status": status}) is expected


def test_a_pod_that_is_being_deleted_serves_no_more() -> None:
    """It may still be Ready: a Service leads to it no more."""
    deleted = {"deletionTimestamp": "2026-11-21T14:04:12Z"}
    assert serves({"metadata": {"deletionTimestamp": None}, "status": STATUS})
    assert not serves({"metadata": deleted, "status": STATUS})


def test_a_pod_without_a_status_serves_nobody() -> None:
    """It was made a moment ago."""
    assert not serves({"metadata": {}})
