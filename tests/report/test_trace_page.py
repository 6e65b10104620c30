"""A trace in words, as a picture and as a page: where it stopped is marked, and no text of a cluster acts."""

import re
from dataclasses import replace
from html import unescape

import pytest

from nettests.report.trace_page import FRAMES_SHOWN, picture, render_trace
from nettests.report.trace_words import frame, resent, terminal_lines
from nettests.tracing.finding import Finding, Trace
from nettests.tracing.hops import Stage
from nettests.tracing.mark import Marked, Way
from nettests.tracing.packet import Sighting
from nettests.tracing.path import trace
from tests.tracing.frames import (
    MARK,
    PATH,
    POD_IN,
    TRANSLATED,
    WIRE_OUT,
    captures,
    packet,
    scene,
    seen,
    tunnelled,
)


def made(sightings: tuple[Sighting, ...], *, answered: bool = False, **changes: str) -> Trace:
    return trace(scene(**changes), MARK, captures(sightings), answered=answered)


UNTRANSLATED = made((PATH[0], seen("win-1", WIRE_OUT, packet())))


def test_a_terminal_shows_ten_lines() -> None:
    """Question, both halves of the path, frames, finding and next step; no more than a dozen lines."""
    lines = list(terminal_lines(UNTRANSLATED))
    text = "\n".join(lines)
    assert len(lines) <= 12
    assert "[win-1] ✓ sent → ✗ translated" in text
    assert "10.96.7.7:80" in text
    assert "finding   untranslated: the packet was not translated" in text
    assert "Get-HnsPolicyList" in text
    assert "client    got no answer" in text


def test_a_whole_path_has_no_cross() -> None:
    """Where nothing is wrong every hop has its tick."""
    text = "\n".join(terminal_lines(made(PATH, answered=True)))
    assert "✗" not in text
    assert "·" not in text
    assert "[win-1] ✓ left" not in text.partition("reply")[2].partition("\n")[0]


def test_packets_that_were_sent_again_are_counted() -> None:
    """TCP's second SYN at one interface is one packet sent again; the same packet elsewhere is not."""
    again = replace(PATH[0], time=2.0)
    assert resent(made((PATH[0], again))) == 1
    assert resent(made(PATH[:3])) == 0
    assert "1 packet sent again" in "\n".join(terminal_lines(made((PATH[0], again))))


def test_a_frame_is_told_with_tunnel_flags_and_drop() -> None:
    """One line says addresses, flags, size, the tunnel around it, and why it was dropped."""
    one = tunnelled(seen("win-1", POD_IN, TRANSLATED, drop="no route"))
    text = frame(Marked(way=Way.REQUEST, sighting=one))
    assert "10.244.3.5:28002 → 10.244.1.9:18080 TCP SYN, 60 bytes" in text
    assert "in VXLAN 4096 172.30.0.21 → 172.30.0.11 (UDP 4789)" in text
    assert "dropped: no route" in text


def test_the_picture_marks_where_the_flow_stopped() -> None:
    """Hops stand from left to right under their nodes, one of them is the end, and replies stand below."""
    drawn = picture(UNTRANSLATED)
    request = [dot for dot in drawn.dots if dot.y == drawn.dots[0].y]
    assert [dot.state for dot in drawn.dots].count("stopped") == 1
    assert [dot.x for dot in request] == sorted(dot.x for dot in request)
    whole = picture(made(PATH, answered=True))
    assert {dot.state for dot in whole.dots} == {"seen"}
    assert [box.name for box in whole.boxes] == ["win-1", "linux-1"]
    assert len({dot.y for dot in whole.dots}) == 2
    assert all(0 < dot.x < whole.width for dot in whole.dots)


def test_the_page_has_picture_frames_and_files() -> None:
    """Finding, next step, a row for each frame, and links to the capture files."""
    page = render_trace(UNTRANSLATED, title="flow/a/b", files_of={"win-1": "win-1.pcap"})
    assert "was not translated" in page
    assert 'href="./win-1.pcap"' in page
    assert 'class="stopped"' in page
    assert page.count("<tr>") >= 2
    assert "No frame of the flow was seen there" not in page
    nowhere = render_trace(UNTRANSLATED, title="x", files_of={"linux-1": "l.pcap"})
    assert "No frame of the flow was seen there" in nowhere


def test_more_frames_than_are_shown_are_counted() -> None:
    """A page does not grow without end: what it leaves out is said."""
    many = tuple(replace(PATH[0], time=float(number)) for number in range(FRAMES_SHOWN + 3))
    assert "3 more are in the file" in render_trace(made(many), title="x", files_of={})


def test_texts_of_a_cluster_do_not_act() -> None:
    """Names of nodes and interfaces are escaped, on a page that lets nothing run."""
    nasty = "<script>alert(1)</script>"
    one = made((replace(PATH[0], interface=nasty),))
    page = render_trace(one, title=nasty, files_of={})
    assert nasty not in page
    assert "default-src 'none'" in unescape(page)
    assert not re.search(r"<script", page)


@pytest.mark.parametrize("finding", Finding)
def test_every_finding_says_what_and_what_next(finding: Finding) -> None:
    """Each of the closed set has its words and its step."""
    assert finding.words
    assert finding.next_step
    assert len(finding.words) < 90


@pytest.mark.parametrize("stage", Stage)
def test_every_stage_can_be_drawn(stage: Stage) -> None:
    """Each hop has a word short enough for the picture."""
    hop = next((one for one in made(PATH, answered=True).hops if one.stage is stage), None)
    by_node = made((PATH[0],), translator="linux-1")
    drawn = {
        dot.title.partition(",")[0] for dot in (*picture(by_node).dots, *picture(made(PATH)).dots)
    }
    assert hop is not None or stage is Stage.ARRIVED_AT_TRANSLATOR
    assert stage.value in drawn


def test_a_frame_without_flow_is_still_told() -> None:
    """Protocols without ports are named."""
    other = packet(protocol=None, source_port=None, destination_port=None, syn=False, fragment=True)
    text = frame(Marked(way=Way.ERROR, sighting=seen("n", POD_IN, other)))
    assert "IP fragment" in text
