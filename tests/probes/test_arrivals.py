"""Whether a silent datagram arrived is looked up in its server's log: real dials, and a log as agnhost writes it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from nettests.model.channel import ChannelError, HttpAnswer
from nettests.model.check import Check, Control
from nettests.model.payload import filler
from nettests.model.words import OS, Placement, Protocol, TargetKind
from nettests.parse.arrival import ARRIVAL, arrived
from nettests.probes import Arrivals
from nettests.probes.arrivals import SMALLEST
from tests.probes.conftest import Bench
from tests.probes.made import NAMESPACE, action, check

PROBE, OTHER = "probe-windows-1-1", "probe-linux-1-1"
SILENT = HttpAnswer(status=200, body=json.dumps({"errors": ["read udp 10.1.1.1:4: i/o timeout"]}))
Logged = Callable[[str], str]


@dataclass(slots=True)
class Log:
    """A server's log, and who read it."""

    text: str = ""
    refused: bool = False
    read: list[tuple[str, str, str]] = field(default_factory=list)

    def log_of(self, namespace: str, pod: str, container: str) -> str:
        """Return it."""
        self.read.append((namespace, pod, container))
        if self.refused:
            raise ChannelError("pods/log is forbidden")
        return self.text


def silent(protocol: Protocol = Protocol.UDP, placement: Placement = Placement.OTHER_NODE) -> Check:
    """Return a check that nobody will answer, whose controls are answered over TCP."""
    vantage = action(PROBE, TargetKind.POD_IP)
    target = action(OTHER, TargetKind.POD_IP)
    made = check(
        action(PROBE, TargetKind.POD_IP, protocol),
        Control(proves="vantage", action=vantage),
        Control(proves="target", action=target),
    )
    return replace(made, placement=placement)


def observed(bench: Bench, log: Log, probed: Check) -> list[str]:
    """Run a check whose datagrams are lost; return what was looked up, by its tool."""
    bench.dialling[PROBE].hook = lambda path: SILENT if "protocol=udp" in path else None
    if probed.action.protocol is Protocol.TCP:
        lost = iter(range(10))
        bench.dialling[PROBE].hook = lambda _: SILENT if next(lost) % 2 == 0 else None
    observer = bench.observer([probed])
    observer.arrivals = Arrivals(logs=log, namespace=NAMESPACE)
    observer.run()
    return [raw.tool for raw in bench.raws(probed.id) if raw.purpose == ARRIVAL]


def test_one_more_echo_of_a_size_of_its_own_is_sent_and_looked_up(bench: Bench) -> None:
    """The Windows node is the second one: its echo is one byte longer than the first one's."""
    size = SMALLEST + 1
    text = filler(size - len("echo "))
    log = Log(
        f"I1121 01:07:31.501832 1 log.go:244] Echoing {text} to UDP client 10.244.3.5:46582\n"
    )
    probed = silent()
    assert observed(bench, log, probed) == ["dial", "server-log"]
    assert log.read == [(NAMESPACE, "server-linux-1-1", "hostname")]
    assert arrived(bench.raws(probed.id)) is True


def test_an_echo_of_another_node_is_no_arrival(bench: Bench) -> None:
    """What the first node sent stands in the same log."""
    text = filler(SMALLEST - len("echo "))
    log = Log(
        f"I1121 01:07:31.501832 1 log.go:244] Echoing {text} to UDP client 10.244.1.5:46582\n"
    )
    probed = silent()
    observed(bench, log, probed)
    assert arrived(bench.raws(probed.id)) is False


def test_a_log_that_may_not_be_read_leaves_the_direction_open(bench: Bench) -> None:
    """The verdict needs no log: only the direction does."""
    probed = silent()
    observed(bench, Log(refused=True), probed)
    assert arrived(bench.raws(probed.id)) is None
    assert bench.seen(probed).trusted


@pytest.mark.parametrize(
    "probed", [silent(placement=Placement.SAME_NODE), silent(Protocol.TCP)], ids=["own node", "TCP"]
)
def test_nothing_is_looked_up_where_it_would_tell_nothing(bench: Bench, probed: Check) -> None:
    """On one node there are no two directions, and a connection that is not made leaves no line."""
    assert observed(bench, Log(), probed) == []


def test_nothing_is_looked_up_where_a_control_is_silent(bench: Bench) -> None:
    """A node that nobody reaches is no matter of a pair."""
    probed = silent()
    lost = replace(probed.controls[1].action, protocol=Protocol.UDP)
    probed = replace(probed, controls=(probed.controls[0], Control(proves="target", action=lost)))
    bench.dialling[OTHER].hook = lambda _: SILENT
    assert observed(bench, Log(), probed) == []
    assert bench.facts.nodes[1].os is OS.WINDOWS
