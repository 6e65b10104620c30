"""How a Pod's end is followed: what its server, its status and this machine's clock say of it."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from nettests.model.channel import ChannelError
from nettests.model.check import Afterwards
from nettests.model.json_text import Object
from nettests.plan import pods
from nettests.probes import termination
from nettests.probes.seams import Pods
from tests.probes.test_starting import READY, Cluster, case, examine

ITEM: Object = {
    "metadata": {"namespace": "ns", "name": "start-1"},
    "spec": {"terminationGracePeriodSeconds": 30, "containers": [{"name": "first"}]},
}
LINE = "2026-11-21T01:08:15.303023Z I1121 log.go:244] Sleeping 10 seconds before terminating...\n"
ENDED = {
    "status": {
        "containerStatuses": [
            {
                "name": "first",
                "state": {"terminated": {"exitCode": 0, "finishedAt": "2026-11-21T01:08:25Z"}},
            }
        ]
    }
}


@dataclass(slots=True)
class Going:
    """A cluster that has one Pod, which goes once its log was read so often as it has ``logs``."""

    logs: list[str | None]
    last: Object | None = field(default_factory=lambda: dict(ENDED))
    deleted: list[str] = field(default_factory=list)
    read: list[bool] = field(default_factory=list)

    def delete_pod(self, namespace: str, name: str) -> None:
        """Note what was deleted."""
        self.deleted.append(f"{namespace}/{name}")

    def log_of(self, _namespace: str, _pod: str, container: str, *, timed: bool = False) -> str:
        """Return the next log, or fail as a channel does."""
        assert container == "first"
        self.read.append(timed)
        log = self.logs.pop(0)
        if log is None:
            raise ChannelError("log: the kubelet did not answer")
        return log

    def follow_end(
        self, _namespace: str, _name: str, *, seconds: float
    ) -> tuple[Object | None, bool]:
        """Wait until the log was read; return the last state."""
        assert seconds == 60
        while self.logs:
            pass
        return self.last, True


def terminated(cluster: Any) -> Object:
    """Let the Pod end."""
    door: Pods = cluster
    return termination.terminated(door, ITEM)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(termination, "TOLD_PAUSE_SECONDS", 0.01)


def test_both_times_are_those_of_the_node() -> None:
    """The log is read until the server says that it was told to end, also after a failure."""
    cluster = Going(["", None, LINE])
    record = terminated(cluster)
    assert cluster.deleted == ["ns/start-1"]
    assert cluster.read == [True, True, True]
    assert record.pop("seconds") < 60
    assert record == {
        "gone": True,
        "grace": 30.0,
        "told": "2026-11-21T01:08:15.303023Z",
        "code": 0,
        "finished": "2026-11-21T01:08:25Z",
    }


def test_a_server_that_is_never_told_holds_up_nothing() -> None:
    """Once the Pod is gone nobody reads its log any more."""
    record = terminated(Going(["", ""], last=None))
    assert record["told"] == ""
    assert "finished" not in record


def test_an_end_of_a_server_is_written_down_with_its_containers() -> None:
    """What its status says last stands beside how long the Pod took."""
    end = {"terminated": {"exitCode": 0, "finishedAt": "2026-11-21T01:08:25Z"}}
    gone = {**READY, "containerStatuses": [{"name": "first", "state": end}]}
    done = examine(Cluster(status=gone), pods.terminates("grace", pods.pod(), seconds="3"))
    then = json.loads(done.stdout)["then"]
    assert (then["gone"], then["finished"], then["told"]) == (True, "2026-11-21T01:08:25Z", "")


def test_an_end_is_written_down_with_its_time() -> None:
    """How long it took stands beside the grace period that it had."""
    done = examine(Cluster(status=READY), case(Afterwards(how="end", says="0")))
    then = json.loads(done.stdout)["then"]
    assert (then["gone"], then["grace"]) == (True, 1.0)
    assert 0 <= then["seconds"] < then["grace"]
