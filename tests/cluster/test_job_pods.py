"""Following a Job and fetching its report, over real requests: what comes, what never comes, what goes meanwhile."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from nettests.cluster import Connection, job_pods
from nettests.cluster.job_pods import FoundJob, find_job, follow, log_from_claim, log_of, look
from nettests.errors import ClusterError
from nettests.job.archive import pack, spelled_archive
from nettests.job.state import Phase
from tests.cluster.api import status
from tests.cluster.batch import Held, holding
from tests.job.made import event, objects, pod

PLACE = "/apis/batch/v1/namespaces/nettests"
PODS = "/api/v1/namespaces/nettests/pods"
EVENTS = "/api/v1/namespaces/nettests/events"
OWNED = {"ownerReferences": [{"uid": "uid-night"}]}
ARCHIVE = spelled_archive(pack("run-1", {PurePosixPath("results.json"): b"{}"}))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look again at once."""
    monkeypatch.setattr(job_pods, "POLL_SECONDS", 0.01)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[Held, Connection]]:
    """A cluster with a Job ``night``."""
    with holding(tmp_path) as (held, connection, _):
        held.put("/api/v1/namespaces/nettests")
        held.put(f"{PLACE}/jobs/night", spec=objects(claim="reports")[-1]["spec"])
        yield held, connection


def with_pod(held: Held, state: Any = None, **more: Any) -> dict[str, Any]:
    """Give the Job a Pod in a state."""
    one = pod(state, **more)
    one["metadata"] = {**one["metadata"], **OWNED}
    held.objects[f"{PODS}/nettests-x7k2p"] = one
    return one


def test_a_job_is_found_by_its_name(cluster: tuple[Held, Connection]) -> None:
    """Its own, before a CronJob's of the same name."""
    held, connection = cluster
    held.put(f"{PLACE}/cronjobs/night")
    assert find_job(connection, "nettests", "night").uid == "uid-night"


def test_a_cron_job_stands_for_its_newest_job(cluster: tuple[Held, Connection]) -> None:
    """Of those that it owns; with none, the hint starts one."""
    held, connection = cluster
    held.put(f"{PLACE}/cronjobs/nightly")
    with pytest.raises(ClusterError, match="has started no Job yet") as none:
        find_job(connection, "nettests", "nightly")
    assert "--from=cronjob/nightly" in none.value.hint
    for number, moment in ((1, "2026-11-24T02:17:00Z"), (2, "2026-11-25T02:17:00Z")):
        held.put(f"{PLACE}/jobs/nightly-{number}", metadata={"creationTimestamp": moment, "ownerReferences": [{"uid": "uid-nightly"}]})  # fmt: skip
    assert find_job(connection, "nettests", "nightly").name == "nightly-2"


def test_what_is_not_there_is_told_apart(cluster: tuple[Held, Connection]) -> None:
    """A slip of the pen, and a namespace that does not exist."""
    _, connection = cluster
    with pytest.raises(
        ClusterError, match="no Job and no CronJob nigth in namespace nettests"
    ) as slip:
        find_job(connection, "nettests", "nigth")
    assert slip.value.hint == "did you mean 'night'?"
    with pytest.raises(ClusterError, match="there is no namespace elsewhere"):
        find_job(connection, "elsewhere", "night")


def test_a_job_is_followed_to_its_end(
    cluster: tuple[Held, Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line once, whole ones alone, none of the archive, and then the run's exit code."""
    held, connection = cluster
    log = f"{PODS}/nettests-x7k2p"
    steps: Iterator[Callable[[], object]] = iter([
        lambda: with_pod(held, {"waiting": {"reason": "ContainerCreating"}}),
        lambda: (with_pod(held, {"running": {}}), held.logs.update({log: "deploy\nobser"})),
        lambda: held.logs.update({log: "deploy\nobserve: 1/2\n"}),
        lambda: (with_pod(held, {"terminated": {"exitCode": 8, "reason": "Error"}}), held.logs.update({log: f"deploy\nobserve: 1/2\nend\n{ARCHIVE}\n"})),
    ])  # fmt: skip
    monkeypatch.setattr(time, "sleep", lambda _: next(steps)())
    said: list[str] = []
    told: list[str] = []
    state = follow(connection, "nettests", find_job(connection, "nettests", "night"), said.append, told.append)  # fmt: skip
    assert said == ["deploy", "observe: 1/2", "end"]
    assert told == ["the Job night has no Pod yet", "the Pod nettests-x7k2p is starting (ContainerCreating)"]  # fmt: skip
    assert (state.phase, state.exit_code) == (Phase.ENDED, 8)


def test_an_image_that_does_not_come_ends_the_following(cluster: tuple[Held, Connection]) -> None:
    """With the words of the registry, from an event."""
    held, connection = cluster
    back_off = 'Back-off pulling image "n"'
    with_pod(held, {"waiting": {"reason": "ImagePullBackOff", "message": back_off}})
    held.objects[f"{EVENTS}/1"] = event("Failed", 'Failed to pull image "n": unauthorized')
    found = find_job(connection, "nettests", "night")
    state = follow(connection, "nettests", found, lambda _: None, lambda _: None)
    assert (state.phase, "unauthorized" in state.reason) == (Phase.BROKEN, True)
    held.refused["GET", EVENTS] = status(403, "Forbidden", "no events for you")
    assert look(connection, "nettests", found).reason.endswith(back_off)


@pytest.mark.parametrize("again", [False, True])
def test_a_job_that_goes_meanwhile_is_said(cluster: tuple[Held, Connection], again: bool) -> None:
    """Deleted, or replaced by another one of its name: what would be followed is not the same run."""
    held, connection = cluster
    found = find_job(connection, "nettests", "night")
    if again:
        held.put(f"{PLACE}/jobs/night", metadata={"uid": "another"})
    else:
        del held.objects[f"{PLACE}/jobs/night"]
    with pytest.raises(ClusterError, match="was replaced" if again else "was deleted") as gone:
        follow(connection, "nettests", found, lambda _: None, lambda _: None)
    assert "nettests gc" in gone.value.hint


def test_a_pod_of_an_earlier_job_is_not_its_own(cluster: tuple[Held, Connection]) -> None:
    """Labels are by name; owners are by uid."""
    held, connection = cluster
    with_pod(held, {"terminated": {"exitCode": 0}})["metadata"]["ownerReferences"] = [{"uid": "before"}]  # fmt: skip
    assert (
        look(connection, "nettests", find_job(connection, "nettests", "night")).phase
        is Phase.WAITING
    )


def test_a_log_that_is_gone_is_said(cluster: tuple[Held, Connection]) -> None:
    """A Pod that somebody deleted takes it along."""
    _, connection = cluster
    with pytest.raises(ClusterError, match="the Pod x is gone, and its log with it"):
        log_of(connection, "nettests", "x")


class Readers:
    """Answers the Pod that reads a claim as a kubelet would, and keeps what was created."""

    def __init__(self, held: Held, state: dict[str, Any], log: str = "") -> None:
        self.made: list[dict[str, Any]] = []
        create = held._create

        def created(path: str, query: str, body: dict[str, Any]) -> Any:
            reply = create(path, query, body)
            if path == PODS:
                self.made.append(body)
                where = f"{PODS}/{body['metadata']['name']}"
                held.objects[where]["status"] = {"containerStatuses": [{"name": "nettests", "state": state}]}  # fmt: skip
                held.logs[where] = log
            return reply

        self.answer = created


def reading(monkeypatch: pytest.MonkeyPatch, held: Held, state: dict[str, Any], log: str = "") -> Readers:  # fmt: skip
    readers = Readers(held, state, log)
    monkeypatch.setattr(Held, "_create", lambda _self, *words: readers.answer(*words))
    return readers


def test_a_claim_is_read_by_a_pod_that_goes_again(cluster: tuple[Held, Connection], monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """The Job's own template without a token, owned by the Job; whatever comes of it, the Pod is deleted."""
    held, connection = cluster
    readers = reading(monkeypatch, held, {"terminated": {"exitCode": 0}}, ARCHIVE)
    found = find_job(connection, "nettests", "night")
    assert log_from_claim(connection, "nettests", found, "latest") == ARCHIVE
    (made,) = readers.made
    spec = made["spec"]
    assert spec["containers"][0]["args"] == ["archive", "latest", "--report-dir=/results", "--to=-"]
    assert spec["automountServiceAccountToken"] is False
    assert {"name": "results", "persistentVolumeClaim": {"claimName": "reports"}} in spec["volumes"]
    assert made["metadata"]["ownerReferences"][0]["uid"] == found.uid
    assert not [path for path in held.objects if "-fetch-" in path]


@pytest.mark.parametrize(
    ("state", "log", "said"),
    [
        ({"terminated": {"exitCode": 4, "reason": "Error"}}, "Error: there is no run x", "ended with 4: Error: there is no run x"),
        ({"waiting": {"reason": "ImagePullBackOff", "message": "back-off"}}, "", "the claim was not read: the Pod"),
        ({"waiting": {"reason": "ContainerCreating"}}, "", "was not read for 0 s: the Pod"),
    ],
)  # fmt: skip
def test_a_claim_that_cannot_be_read_is_said(cluster: tuple[Held, Connection], monkeypatch: pytest.MonkeyPatch, state: dict[str, Any], log: str, said: str) -> None:  # fmt: skip
    """A run that is not there, an image, a volume that is attached elsewhere; nothing is left behind."""
    held, connection = cluster
    monkeypatch.setattr(job_pods, "FETCH_SECONDS", 0.1 if "for 0 s" in said else 60)
    reading(monkeypatch, held, state, log)
    with pytest.raises(ClusterError, match=said):
        log_from_claim(
            connection, "nettests", FoundJob(job=held.objects[f"{PLACE}/jobs/night"]), "x"
        )
    assert not [path for path in held.objects if "-fetch-" in path]
