"""The marks of a run's objects: what they say, and what is not taken for one of ours."""

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nettests.cluster import connect
from nettests.cluster.owner_marks import Lease, Ownership, label_value
from nettests.errors import ClusterError
from tests.cluster.api import Reply, Request, serving, status, write_kubeconfig
from tests.cluster.memory import marks

BORN = datetime(2026, 11, 21, 22, 20, tzinfo=UTC)
OURS = Ownership(run="r1", owner="me.here", created=BORN, expires=BORN + timedelta(hours=6))
POD = {"kind": "Pod", "metadata": {"name": "p", "labels": {"app": "x"}, "annotations": {"a": "b"}}}


def test_run_and_owner_are_labels_and_times_are_annotations() -> None:
    """A selector finds a run's objects; when they were made and end is written as people write it."""
    assert OURS.labels == {"nettests.dev/run": "r1", "nettests.dev/owner": "me.here"}
    assert OURS.annotations == {
        "nettests.dev/created": "2026-11-21T22:20:00Z",
        "nettests.dev/expires": "2026-11-22T04:20:00Z",
    }


def test_marks_are_read_back_and_add_to_what_is_there() -> None:
    """A marked object is the object, its own labels and annotations beside the run's."""
    marked = OURS.marked(POD)
    assert Ownership.of(marked) == OURS
    assert marked["metadata"]["labels"]["app"] == "x"
    assert marked["metadata"]["annotations"]["a"] == "b"
    assert Ownership.of(POD) is None


def test_what_a_workload_makes_is_marked_too() -> None:
    """Its Pods outlive it for a moment, and are found by the same marks."""
    made = OURS.marked({"kind": "StatefulSet", "metadata": {}, "spec": {"template": POD}})
    template = made["spec"]["template"]
    inner = {"jobTemplate": {"spec": {"template": POD}}}
    job = OURS.marked({"kind": "CronJob", "metadata": {}, "spec": inner})["spec"]["jobTemplate"]
    assert Ownership.of(job) == Ownership.of(job["spec"]["template"]) == OURS
    assert Ownership.of(template) == OURS
    assert template["metadata"]["labels"]["app"] == "x"


@pytest.mark.parametrize(
    ("place", "mark"),
    [
        ("labels", "nettests.dev/run"),
        ("labels", "nettests.dev/owner"),
        ("annotations", "nettests.dev/created"),
        ("annotations", "nettests.dev/expires"),
    ],
)
@pytest.mark.parametrize("value", [None, "soon"])
def test_an_object_without_one_of_the_marks_is_not_ours(
    place: str, mark: str, value: str | None
) -> None:
    """One mark that is missing, or a time that is none, makes it somebody else's."""
    item = deepcopy(OURS.marked(POD))
    del item["metadata"][place][mark]
    if value and place == "annotations":
        item["metadata"][place][mark] = value
    assert Ownership.of(item) is None


@given(st.text(max_size=200))
def test_any_text_becomes_a_valid_label_value(text: str) -> None:
    """A label value has at most 63 characters and begins and ends with a letter or digit."""
    value = label_value(text)
    assert len(value) <= 63
    assert value == "" or (value[0].isascii() and value[0].isalnum() and value[-1].isalnum())


def test_a_namespace_that_is_gone_before_its_lease_is_named(tmp_path: Path) -> None:
    """Somebody, or a janitor, deleted it in the moment in which the run began."""

    home = "nettests-r1"

    def answer(request: Request) -> Reply:
        if request.path == "/version":
            return Reply(body={"gitVersion": "v1.29.4"})
        return status(404, "NotFound", f'namespaces "{home}" not found')

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        with pytest.raises(ClusterError, match=f"somebody deleted namespace {home} while"):
            Lease(connection, home, marks("r1"), 1, print).take()
        connection.close()
