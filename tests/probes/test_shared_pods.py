"""Checks whose Pods would be the same share one, which the last of them removes."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import pytest

from nettests.model.channel import ChannelError
from nettests.model.check import Afterwards
from nettests.model.cluster_profile import Timing
from nettests.model.json_text import Object
from nettests.probes.starting import Starting
from tests.probes.made import FACTS
from tests.probes.test_starting import BLANK, READY, Cluster, case, question

pytestmark = pytest.mark.usefixtures("removed_at_once")

READS = Afterwards(how="exec", words=("hostname",), says="w")


Eventually = Callable[[Callable[[], bool]], None]


@dataclass(slots=True)
class Gathering(Cluster):
    """Shows its Pod only once both checks need it; ``losses`` looks fail."""

    gathered: Callable[[], None] = lambda: None

    def follow_pod(self, namespace: str, name: str, **how: Any) -> Object:
        gathered, self.gathered = self.gathered, lambda: None
        gathered()
        if self.losses:
            self.losses -= 1
            raise ChannelError("the API server was not reached")
        return Cluster.follow_pod(self, namespace, name, **how)


def examined_side_by_side(cluster: Gathering, eventually: Eventually) -> list[str]:
    """Examine the same case twice at the same time; return the names of both Pods."""
    probing = Starting(pods=cluster, blank=BLANK, facts=FACTS, timing=Timing())
    shared = probing._shared._pods
    cluster.gathered = lambda: eventually(lambda: any(pod.users == 2 for pod in shared.values()))
    with ThreadPoolExecutor(2) as checks:
        done = list(checks.map(probing.examine, [question(case(READS))] * 2))
    return [json.loads(each.words[1])["metadata"]["name"] for each in done]


def test_checks_that_only_look_share_a_pod(eventually: Eventually) -> None:
    """One Pod is created for both, each does its own with it, and it is removed once."""
    cluster = Gathering(READY)
    names = examined_side_by_side(cluster, eventually)
    assert len(set(names)) == 1
    assert [item["metadata"]["name"] for item in cluster.created] == names[:1]
    assert cluster.deleted == names[:1]


@pytest.mark.parametrize(
    ("then", "existing", "shared"),
    [
        (READS, False, True),
        (READS, True, False),
        (Afterwards(how="restart", words=("8080", "/exit")), False, False),
        (None, False, False),
    ],
    ids=["only looked at", "counted by a quota", "changed", "only started"],
)
def test_a_pod_that_is_changed_or_counted_is_not_shared(
    *, then: Afterwards | None, existing: bool, shared: bool
) -> None:
    """What one check does to its Pod, or how long it keeps it, must not concern another."""
    cluster = Cluster(READY)
    blank = replace(BLANK, existing=existing)
    probing = Starting(pods=cluster, blank=blank, facts=FACTS, timing=Timing())
    probing.examine(question(case(then)))
    with probing._shared.one_for(cluster.created[0]):
        probing.examine(question(case(then)))
        assert (len(cluster.deleted) == 1) is shared


def test_a_pod_that_one_check_lost_sight_of_is_not_created_twice(eventually: Eventually) -> None:
    """The other check that needs it looks at it again."""
    cluster = Gathering(READY, losses=1)
    names = examined_side_by_side(cluster, eventually)
    assert [item["metadata"]["name"] for item in cluster.created] == names[:1] == names[1:]
    assert cluster.deleted == names[:1]


@pytest.mark.parametrize("then", [READS, None])
def test_a_pod_that_is_refused_is_the_checks_error_and_not_removed(
    then: Afterwards | None,
) -> None:
    """Nothing is there to remove."""
    cluster = Cluster(READY, refuses=True)
    probing = Starting(pods=cluster, blank=BLANK, facts=FACTS, timing=Timing())
    assert probing.examine(question(case(then))).error == "pods is forbidden"
    assert cluster.deleted == []


def test_the_next_check_after_the_last_gets_a_pod_of_its_own() -> None:
    """A Pod that no check needs any more is removed, and not used again."""
    cluster = Cluster(READY)
    probing = Starting(pods=cluster, blank=BLANK, facts=FACTS, timing=Timing())
    for _ in range(2):
        probing.examine(question(case(READS)))
    assert len({item["metadata"]["name"] for item in cluster.created}) == 2
    assert len(cluster.deleted) == 2
