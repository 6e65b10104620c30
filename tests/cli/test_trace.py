"""``nettests trace --pcap``: captures that somebody took are read, told in ten lines, and end with a code."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.layers.vxlan import VXLAN
from scapy.utils import PcapWriter

from nettests.cli import main
from nettests.model.exit_code import ExitCode

CLIENT, SERVICE, BACKEND = "10.244.3.5", "10.96.7.7", "10.244.1.9"


def frame(source: str, destination: str, **layer: object) -> Ether:
    return Ether() / IP(src=source, dst=destination) / TCP(**layer)


SYN = frame(CLIENT, SERVICE, sport=51234, dport=80, flags="S", seq=7)
TRANSLATED = frame(CLIENT, BACKEND, sport=51234, dport=18080, flags="S", seq=7)
ANSWER = frame(BACKEND, CLIENT, sport=18080, dport=51234, flags="SA", seq=9)
BACK = frame(SERVICE, CLIENT, sport=80, dport=51234, flags="SA", seq=9)


def written(path: Path, *frames: Ether) -> Path:
    with PcapWriter(str(path)) as writer:
        for one in frames:
            writer.write(one)
    return path


def traced(folder: Path, *arguments: str | Path) -> Result:
    words = ["trace", *map(str, arguments), f"--to={folder / 'out'}"]
    return CliRunner().invoke(main, words)


def test_a_service_that_was_not_translated_is_found(tmp_path: Path) -> None:
    """The first capture shows the SYN to the Service and nothing else: the finding, its page, and exit code 1."""
    first, gateway = written(tmp_path / "a.pcap", SYN), written(tmp_path / "b.pcap", SYN)
    done = traced(
        tmp_path,
        "--pcap",
        f"win-1={first}",
        "--pcap",
        gateway,
        "--port=51234",
        f"--service={SERVICE}",
        f"--backend={BACKEND}",
    )
    assert done.exit_code == ExitCode.TESTS_FAILED, done.output
    assert "untranslated" in done.output
    assert "win-1" in done.output
    assert "was not translated" in (tmp_path / "out/trace.html").read_text("utf-8")
    assert "untranslated" in (tmp_path / "out/trace.txt").read_text("utf-8")


def test_programs_are_told_the_same(tmp_path: Path) -> None:
    """One JSON value and nothing else: finding, where it stopped, each frame; the exit code is that of the finding."""
    first = written(tmp_path / "a.pcap", SYN, TRANSLATED)
    arguments = ("--port=51234", f"--service={SERVICE}", "--backend=10.244.1.10", "--json")
    done = traced(tmp_path, "--pcap", f"win-1={first}", *arguments)
    assert done.exit_code == ExitCode.TESTS_FAILED
    told = json.loads(done.output)
    assert (told["finding"], told["node"]) == ("dead-backend", "win-1")
    assert told["page"] == str(tmp_path / "out/trace.html")
    assert [hop["stage"] for hop in told["hops"] if hop["stopped"]] == ["translated"]
    assert [frame["destination"] for frame in told["frames"]] == [SERVICE, BACKEND]
    assert told["flow"]["requested"] == {"address": SERVICE, "port": 80}


def test_a_stale_backend_is_found(tmp_path: Path) -> None:
    """A destination that is none of the backends is named."""
    first = written(tmp_path / "a.pcap", SYN, TRANSLATED)
    done = traced(
        tmp_path, "--pcap", first, "--port=51234", f"--service={SERVICE}", "--backend=10.244.1.10"
    )
    assert "dead-backend" in done.output
    assert BACKEND in done.output


def test_a_capture_that_does_not_tell_is_unsure(tmp_path: Path) -> None:
    """Nobody says which interface of the destination's node leads to the Pod: 6, and no finding."""
    first = written(tmp_path / "a.pcap", SYN, TRANSLATED)
    last = written(tmp_path / "b.pcap", TRANSLATED)
    done = traced(tmp_path, "--pcap", first, "--pcap", last, "--port=51234", f"--service={SERVICE}")
    assert done.exit_code == ExitCode.UNKNOWN, done.output
    assert "unsure" in done.output


INSIDE = Ether() / IP(src="172.30.0.21", dst="172.30.0.11") / UDP(dport=4789) / VXLAN(vni=4096)
OTHER = frame("192.0.2.1", "192.0.2.2", sport=1, dport=2)


def at(seconds: float, one: Ether) -> Ether:
    copied = one.copy()
    copied.time = seconds
    return copied


@pytest.mark.parametrize(
    ("first", "last", "word"),
    [(99.0, 101.0, "lost-between-nodes"), (100.5, 101.0, "unsure"), (99.0, 99.5, "unsure")],
    ids=["it went on meanwhile", "it began late", "it ended early"],
)
def test_what_a_capture_lacks_counts_if_it_went_on_when_the_flow_was_sent(
    first: float, last: float, word: str, tmp_path: Path
) -> None:
    """A packet that left one node in a tunnel and is missing at the next was lost only if the second capture spans that time."""
    left = written(tmp_path / "a.pcap", at(100, TRANSLATED), at(100, INSIDE / TRANSLATED))
    missing = written(tmp_path / "b.pcap", at(first, OTHER), at(last, OTHER))
    done = traced(tmp_path, "--pcap", left, "--pcap", missing, "--port=51234")
    assert f"finding   {word}" in done.output


def test_a_backend_that_is_sent_to_itself_needs_no_translation(tmp_path: Path) -> None:
    """--backend names who may answer; where the flow goes to its own address, no load balancer is to blame."""
    first = written(tmp_path / "a.pcap", at(100, TRANSLATED), at(100, INSIDE / TRANSLATED))
    last = written(tmp_path / "b.pcap", at(99, OTHER), at(101, OTHER))
    files = ("--pcap", first, "--pcap", last)
    done = traced(tmp_path, *files, "--port=51234", f"--backend={BACKEND}")
    assert "finding   lost-between-nodes" in done.output


def test_a_reset_is_a_refusal(tmp_path: Path) -> None:
    """The backend's reset says that it was reached."""
    reset = frame(BACKEND, CLIENT, sport=18080, dport=51234, flags="RA")
    first = written(tmp_path / "a.pcap", TRANSLATED, reset)
    done = traced(tmp_path, "--pcap", first, "--port=51234")
    assert "refused" in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name a CHECK, or captures"),
        (("x", "--pcap", "a"), "name a CHECK, or captures"),
        (("--pcap", "FILE"), "which flow is it"),
        (("--pcap", "FILE", "--port=1", "--token=x"), "which flow is it"),
        (("--pcap", "FILE", "--port=1"), "no capture has a frame"),
        (("--pcap", "FILE", "--port=51234", "--service=web"), "not an IP address"),
        (("--pcap", "FILE", "--pcap", "FILE", "--port=51234"), "two captures are of a"),
        (("--pcap", "missing.pcap", "--port=51234"), "cannot be read"),
    ],
)
def test_what_cannot_be_traced_is_said(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    """Missing and contradicting words, files that are none: each error says what to do."""
    file = str(written(tmp_path / "a.pcap", SYN))
    done = traced(tmp_path, *(word.replace("FILE", file) for word in words))
    assert done.exit_code != 0
    assert said in done.output


def test_frames_of_others_are_not_in_the_page(tmp_path: Path) -> None:
    """Only the marked flow is shown."""
    other = frame("192.0.2.1", "192.0.2.2", sport=1, dport=2)
    first = written(tmp_path / "a.pcap", other, SYN, TRANSLATED, ANSWER, BACK)
    traced(tmp_path, "--pcap", first, "--port=51234", f"--service={SERVICE}")
    assert "192.0.2.1" not in (tmp_path / "out/trace.html").read_text("utf-8")
