"""A connection is captured on both its nodes while it is made, and the record lets both witnesses be compared; no cluster is needed."""

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether

from nettests.capture import captures
from nettests.capture.captures import Captures
from nettests.capture.witnessing import Witnessing
from nettests.model.channel import ChannelError, ExecAnswer, ProgramMissingError
from nettests.model.cluster_profile import Timing
from nettests.model.facts import known
from nettests.model.observation import Subject
from nettests.model.service import ServiceSettings
from nettests.model.words import OS, Outcome, Question, TargetKind
from nettests.parse.read import read_raw
from nettests.parse.witness import WITNESS, witnessed_in
from nettests.probes import Directory
from nettests.probes.addresses import NotOfferedError
from nettests.probes.examine import Examination
from nettests.probes.objects import Blank
from tests.parse.raws import raw
from tests.probes.made import FACTS, action, deployed

POD, SERVER, VIP = "10.244.3.10", "10.244.1.11", "10.96.1.1"
WIN, LINUX = "172.30.0.21", "172.30.0.11"
POD_MAC, WIN_MAC, PEER_MAC = "00:15:5d:00:00:0a", "00:15:5d:aa:00:15", "02:00:00:00:00:01"
Frame = tuple[str, bool, str, str, int, str, int, str]
"""Interface, whether it goes out, and of the packet: source MAC, source and its port, destination and its port, flags."""


def syn(interface: str, out: bool, mac: str, source: str, to: str) -> Frame:
    address, _, port = source.partition(":")
    host, _, number = to.partition(":")
    return interface, out, mac, address, int(port), host, int(number), "S"


def packet(frame: Frame) -> Any:
    _, _, mac, source, port, host, number, flags = frame
    ends = IP(src=source, dst=host) / TCP(sport=port, dport=number, flags=flags, seq=7)
    return Ether(src=mac, dst=PEER_MAC) / ends


def hexadecimal(data: bytes) -> Iterator[str]:
    for start in range(0, len(data), 16):
        digits = data[start : start + 16].hex()
        words = (digits[at : at + 4] for at in range(0, len(digits), 4))
        yield f"\t0x{start:04x}:  {' '.join(words)}"


def tcpdump(frames: Sequence[Frame]) -> str:
    lines = []
    for frame in frames:
        interface, out, _, source, port, host, number, _ = frame
        way = "Out" if out else "In "
        lines.append(f"1.5 {interface} {way} IP {source}.{port} > {host}.{number}: Flags [S]")
        lines += hexadecimal(bytes(packet(frame)[IP]))
    return "\n".join(lines) + "\n"


COMPONENTS = {"card": ("10", "Container vNIC", POD_MAC), "uplink": ("11", "Miniport", "")}


def pktmon(frames: Sequence[Frame]) -> str:
    lines = []
    for frame in frames:
        data = bytes(packet(frame))
        way = "Tx" if frame[1] else "Rx"
        lines.append(
            f"[00]1.2::2026-01-01 10:00:00.5 [Microsoft-Windows-PktMon] PktGroupId 1, PktNumber 1, Appearance 1, Direction {way} , "
            f"Type Ethernet , Component {COMPONENTS[frame[0]][0]}, Edge 1, Filter 1, OriginalSize 60, LoggedSize 60"
        )
        lines += hexadecimal(data)
    for name, (number, kind, mac) in COMPONENTS.items():
        lines.append(f"x Component {number}, Type {kind}, Name x.sys, {name}")
        lines += [f"x Property: Component {number}, MAC Address = {mac.upper()}"] if mac else []
    return "\n".join(lines) + "\n"


@dataclass
class Talk:
    """A tcpdump that has captured."""

    stdout: str
    stderr: str = "listening on any"
    exit_code: int | None = None
    closed: bool = False

    def hear(self, enough: Callable[[str], bool], *, seconds: float) -> bool:
        return enough(self.stdout)

    def say(self, text: str) -> None:
        raise AssertionError(text)

    def stay(self) -> None:
        raise AssertionError

    def close(self) -> None:
        self.closed = True


@dataclass
class Access:
    """A cluster in which a Pod of w1 connects to a server of n1; ``masked`` is its source on the wire."""

    masked: str = POD
    base: int = 0
    missing: frozenset[str] = frozenset()
    broken: str = ""
    dropped: int = 0
    """So many packets the kernel of n1 has no room for."""
    quiet: bool = False
    unready: str = ""
    """The Pod that never becomes Ready."""
    begun: threading.Event | None = None
    """A tcpdump begins to capture once this is set, and somewhat later."""
    waited: int = 0
    talks: list[Talk] = field(default_factory=list)
    pods: list[str] = field(default_factory=list)
    ran: list[tuple[str, ...]] = field(default_factory=list)
    slots = nullcontext()

    def create(self, item: dict[str, Any]) -> dict[str, Any]:
        self.pods.append(item["metadata"]["name"])
        return item

    def wait_for_pods(self, _ns: str, names: Sequence[str], **_: Any) -> tuple[Any, Any]:
        self.waited += 1
        ready: dict[str, Any] = {name: {} for name in names if name != self.unready}
        return ready, {name: "ImagePullBackOff" for name in names if name not in ready}

    def delete_pod(self, _ns: str, name: str) -> None:
        self.pods.remove(name)

    def open_exec(self, _ns: str, pod: str, container: str, *, node: str, os: OS) -> "Access":
        assert (pod.startswith("capture"), node) != (True, "")
        return self

    def run(self, argv: Sequence[str], *, timeout: float) -> ExecAnswer:
        self.ran.append(tuple(argv))
        if argv[0] == "pkill":
            counted = f"5 packets captured\n{self.dropped} packets dropped by kernel\n"
            self.talks[-1].stderr += f"\n{counted}"
        if argv[0] in self.missing:
            raise ProgramMissingError(f"the image has no {argv[0]}")
        if self.broken and self.broken in argv:
            if self.begun is not None:
                self.begun.set()
            raise ChannelError("the stream was closed")
        return ExecAnswer(exit_code=0, stdout=self._said(argv), stderr="")

    def _said(self, argv: Sequence[str]) -> str:
        words = " ".join(argv)
        if argv[0] == "curl":
            return f"{POD}:{argv[argv.index('--local-port') + 1]}"
        if found := re.search(r"filter add nettests -p (\d+)", words):
            self.base = self.base or int(found[1])
        if "diskfree" in words:
            return "Total free bytes        : 103,079,215,104 ( 96.0 GB)\n"
        if "status" in words:
            return "Packet Monitor is not running."
        return pktmon(self._on_windows()) if "type" in words else ""

    def converse(self, _ns: str, _pod: str, _container: str, argv: Sequence[str]) -> Talk:
        (first,) = re.findall(r"portrange (\d+)-", argv[-1])
        if self.begun is not None:
            assert self.begun.wait(10)
            time.sleep(0.05)
        self.talks.append(Talk(tcpdump([] if self.quiet else self._on_linux(int(first)))))
        return self.talks[-1]

    def _on_windows(self) -> list[Frame]:
        base, flow = self.base, self.base + 2
        return [
            syn("uplink", True, WIN_MAC, f"{WIN}:{base}", f"{LINUX}:19099"),
            syn("card", False, POD_MAC, f"{POD}:{flow}", f"{VIP}:82"),
            syn("uplink", True, WIN_MAC, f"{self.masked}:{flow}", f"{SERVER}:18082"),
            syn("uplink", True, WIN_MAC, f"{WIN}:{base + 1}", f"{LINUX}:19099"),
        ]

    def _on_linux(self, base: int) -> list[Frame]:
        flow = base + 2
        return [
            syn("eth0", True, "", f"{LINUX}:{base}", f"{WIN}:19099"),
            syn("eth0", False, "", f"{self.masked}:{flow}", f"{SERVER}:18082"),
            syn("veth1", True, "", f"{POD}:{flow}", f"{SERVER}:18082"),
            ("eth0", True, "", SERVER, 18082, POD, flow, "SA"),
            syn("eth0", True, "", f"{LINUX}:{base + 1}", f"{WIN}:19099"),
        ]


SERVICE = action("probe-windows-1-1", TargetKind.SERVICE_CLUSTERIP, question=Question.WITNESS)


def witnessing(access: Access) -> Witnessing:
    cni = replace(FACTS.cni, backend=known("host-gw", "test"), plugin=known("flannel", "test"))
    nodes = tuple(replace(one, cni_driver=known("l2bridge", "test")) for one in FACTS.nodes)
    facts = replace(FACTS, cni=cni, nodes=nodes)
    door: Any = access
    return Witnessing(
        captures=Captures(
            access=door,
            directory=Directory(facts=facts, deployment=deployed()),
            blank=Blank(namespace="n", labels={}),
            timing=Timing(),
        )
    )


def raw_of(done: Examination) -> Any:
    return raw(
        done.tool, stdout=done.stdout, error=done.error, exit_code=done.exit_code, channel="exec"
    )


def agreeing(done: Examination) -> Mapping[Subject, bool]:
    return {one.subject: one.agree for one in witnessed_in([raw_of(done)])}


def test_both_witnesses_of_one_connection_are_compared() -> None:
    """The server is queried for the source that it saw, through the Service; frames of both nodes are held against it."""
    access = Access()
    done = witnessing(access).examine(SERVICE)
    assert done.tool == WITNESS
    assert done.words[-1] == f"http://{VIP}:82/whoami"
    one = read_raw(raw_of(done))
    assert (one.outcome, one.server_saw) == (Outcome.CONNECTED, POD)
    assert done.context["client-pod"] == POD  # by which the source is told from others
    assert agreeing(done) == {
        Subject.SOURCE: True,
        Subject.REPLY: True,
        Subject.ENCAPSULATION: True,
        Subject.MAC: True,
    }


def test_the_record_says_whom_the_client_names_and_whether_that_is_to_be_kept() -> None:
    """Where nobody answers, these are what frames are compared with."""
    kept = ServiceSettings(label="lb-preserve", preserve_destination=True)
    for settings, preserved in ((None, False), (kept, True)):
        asked = replace(SERVICE, target=replace(SERVICE.target, settings=settings))
        record = json.loads(witnessing(Access()).examine(asked).stdout)
        assert (record["preserved"], record["client"]) == (preserved, POD)
        assert record["requested"] == f"{VIP}:82"


def test_a_source_that_no_server_notices_is_told() -> None:
    """The wire shows another address than the server saw, and the Pod is handed its own."""
    done = witnessing(Access(masked="198.18.0.4")).examine(SERVICE)
    assert read_raw(raw_of(done)).server_saw == POD
    assert agreeing(done)[Subject.SOURCE] is False
    assert "198.18.0.4" in read_raw(raw_of(done)).detail


def test_a_capture_that_lost_packets_proves_nothing() -> None:
    """The kernel had no room for some: one of the flow may be among them."""
    one = read_raw(raw_of(witnessing(Access(dropped=3)).examine(SERVICE)))
    assert one.outcome is Outcome.PROBE_FAILED
    assert "tcpdump on n1 lost 3 packets of those that it was to capture" in one.detail


def test_pods_that_capture_stand_until_all_is_done() -> None:
    """The second connection finds those of the first; ``close`` removes them, once."""
    access = Access()
    one = witnessing(access)
    one.examine(SERVICE)
    access.base = 0
    one.examine(SERVICE)
    assert sorted(access.pods) == ["capture-linux-1-1", "capture-windows-1-1"]
    one.close()
    one.close()
    assert access.pods == []


def test_no_payload_is_kept() -> None:
    """Of each frame the heads stand in the record, in words."""
    record = json.loads(witnessing(Access()).examine(SERVICE).stdout)
    assert {len(frame) for frame in record["frames"]} == {12}
    assert "payload" not in record["frames"][0]


@pytest.mark.parametrize("tool", ["pktmon", "curl"])
def test_a_missing_tool_skips_the_check(tool: str) -> None:
    """It is what the cluster does not offer; the reason names the tool."""
    with pytest.raises(NotOfferedError, match=f"nothing is witnessed on the wire: .*no {tool}"):
        witnessing(Access(missing=frozenset({tool}))).examine(SERVICE)


def test_without_scapy_the_check_is_skipped_before_anything_is_created(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The reason says what to install."""
    monkeypatch.setattr(captures, "find_spec", lambda _name: None)
    access = Access()
    with pytest.raises(
        NotOfferedError, match=r"read with scapy, which is not installed .*nettests\[packets\]"
    ):
        witnessing(access).examine(SERVICE)
    assert access.pods == []


def test_what_reads_captures_is_not_loaded_before_there_is_one() -> None:
    """A run with ``--trace`` and without a failure takes no second longer."""
    said = "from nettests.capture.captures import require_scapy; require_scapy(); import sys; print('scapy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", said], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "False"


def test_a_stream_that_breaks_proves_nothing() -> None:
    """What went wrong is the answer's error: the check is unknown."""
    done = witnessing(Access(broken="start")).examine(SERVICE)
    assert done.error is not None
    assert "the stream was closed" in done.error
    assert read_raw(raw_of(done)).outcome is Outcome.PROBE_FAILED


def test_a_capture_that_begins_while_another_fails_is_ended_too() -> None:
    """What one node refuses leaves no tool running on the other, however late it began there."""
    access = Access(broken="start", begun=threading.Event())
    assert witnessing(access).examine(SERVICE).error is not None
    assert [talk.closed for talk in access.talks] == [True]


def test_a_pod_that_is_not_ready_is_waited_for_once() -> None:
    """Each connection that it was to capture is told why; nothing is captured beside it, and it is removed."""
    access = Access(unready="capture-linux-1-1")
    one = witnessing(access)
    for _ in range(2):
        assert one.examine(SERVICE).error == "Pod capture-linux-1-1 is not Ready: ImagePullBackOff"
    assert (access.waited, access.ran) == (1, [])
    one.close()
    assert access.pods == []


def test_a_capture_without_its_canaries_proves_nothing() -> None:
    """An answer beside a capture that is not whole is no second witness."""
    one = read_raw(raw_of(witnessing(Access(quiet=True)).examine(SERVICE)))
    assert one.outcome is Outcome.PROBE_FAILED
    assert "does not show what the node sent itself" in one.detail


def test_a_node_captures_connections_one_after_the_other() -> None:
    """Packet Monitor belongs to the whole machine: a second capture waits for the end of the first."""
    access = Access()
    one = witnessing(access)
    threads = [threading.Thread(target=one.examine, args=(SERVICE,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    started = [words[1] for words in access.ran if words[:1] == ("pktmon",)]
    running = [word for word in started if word in {"start", "stop"}]
    assert running == ["start", "stop", "start", "stop"]
