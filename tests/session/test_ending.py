"""How long the end of what a run holds is waited for, however often it is tried."""

from pathlib import Path
from typing import Any

import pytest

from nettests.errors import ClusterError
from nettests.model.cluster_profile import Timing
from nettests.session import run_objects as module
from nettests.session.run_objects import RunObjects
from nettests.session.run_options import Keep
from tests.cluster.memory import Memory, connected

HOME = "nettests-r1"
CLEAN_UP = 0.3


@pytest.fixture
def memory() -> Memory:
    """A cluster in which namespaces do not end."""
    made = Memory()
    made.stuck = True
    return made


@pytest.fixture
def held(memory: Memory, tmp_path: Path) -> RunObjects:
    """The objects of a run in it, with a Pod that no kubelet has acted on."""
    run_objects = RunObjects(
        connection=connected(memory, tmp_path),
        run_id="r1",
        namespace=HOME,
        timing=Timing(clean_up=CLEAN_UP),
        keep=Keep.NEVER,
    )
    access, _ = run_objects.begin(touches=True)
    access.create({"kind": "Namespace", "metadata": {"name": HOME}})
    access.create(
        {
            "kind": "Pod",
            "metadata": {"name": "unseen", "namespace": HOME},
            "spec": {"nodeName": "win-2"},
            "status": {"phase": "Pending"},
        }
    )
    return run_objects


def test_a_namespace_that_does_not_end_is_waited_for_once(
    held: RunObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is tried again at the end of the run, and what was said of it first still stands."""
    waits: list[float] = []
    whole = module.clean_up

    def clean_up(*given: Any, wait: float, namespace: str | None) -> str:
        waits.append(wait)
        return whole(*given, wait=wait, namespace=namespace)

    monkeypatch.setattr(module, "clean_up", clean_up)
    held.end(None)
    said = held.left_behind
    assert "is still terminating after 0 s" in said
    held.end(0)
    assert waits == [CLEAN_UP, 0]
    assert held.left_behind == said
    assert not held.gone


def test_one_that_has_ended_meanwhile_is_gone(memory: Memory, held: RunObjects) -> None:
    """What was left behind at first is nobody's business any more."""
    held.end(None)
    memory.stuck = False
    held.end(0)
    assert (held.gone, held.left_behind) == (True, "")


def test_a_removal_that_fails_at_once_has_its_time_still(
    memory: Memory, held: RunObjects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what was waited for counts: an API server that did not answer was no end that was waited for."""
    memory.stuck = False

    def failing(*_given: Any, **_named: Any) -> None:
        raise ClusterError("no answer")

    with monkeypatch.context() as patch:
        patch.setattr("nettests.session.run_objects.delete_run", failing)
        held.end(None)
    assert "no answer" in held.left_behind
    held.end(0)
    assert held.gone


def test_pods_that_no_kubelet_acted_on_go_before_their_namespace(
    memory: Memory, held: RunObjects
) -> None:
    """They would hold it until somebody removes their node."""
    held.end(0)
    deleted = [line for line in memory.written if line.startswith("DELETE")]
    assert deleted[0].endswith("/pods/unseen")
    assert deleted[1].endswith(f"/namespaces/{HOME}")
