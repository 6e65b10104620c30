"""One look serves all who want one within a second; a cluster that does not answer is not looked at more often."""

from nettests.errors import ClusterError
from nettests.session.node_monitor import FRESH_SECONDS, PacedReads


class Cluster:
    """Something that stands in a cluster, on a clock that stands until it is told."""

    def __init__(self) -> None:
        self.now, self.takes, self.read = 100.0, 0.0, 0
        self.silent = False
        self.reads = PacedReads(read=self.look, clock=lambda: self.now, began=100.0)

    def look(self) -> int:
        self.read += 1
        self.now += self.takes
        if self.silent:
            raise ClusterError("no answer")
        return self.read


def test_a_look_that_is_fresh_is_not_repeated() -> None:
    """Within the time that the caller names, nothing is read; without one, each call reads."""
    cluster = Cluster()
    assert cluster.reads.look(older_than=FRESH_SECONDS) == (0.0, 1)
    assert cluster.reads.look(older_than=FRESH_SECONDS) is None
    assert cluster.reads.look() == (0.0, 2)
    cluster.now += FRESH_SECONDS
    assert cluster.reads.look(older_than=FRESH_SECONDS) == (FRESH_SECONDS, 3)


def test_a_look_is_of_the_moment_when_it_began_and_fresh_from_its_end_on() -> None:
    """What was seen may be as old as its request; the next look waits since the answer."""
    cluster = Cluster()
    cluster.takes = 3.0
    assert cluster.reads.look() == (0.0, 1)
    cluster.now += FRESH_SECONDS / 2
    assert cluster.reads.look(older_than=FRESH_SECONDS) is None


def test_a_look_without_an_answer_brings_nothing_and_is_not_repeated_at_once() -> None:
    """Each failing check would otherwise wait for an API server that is away."""
    cluster = Cluster()
    cluster.silent = True
    assert cluster.reads.look() is None
    assert cluster.reads.look(older_than=FRESH_SECONDS) is None
    assert cluster.read == 1
