"""The matrix counts, says what is missing and what nothing turns, and survives being written."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from nettests.lab.selftest import command, reference
from nettests.lab.selftest.judging import Judged, judge, not_run
from nettests.lab.selftest.matrix import Exit, Matrix, Profile, document
from nettests.lab.selftest.runs import Check, Run, open_flows, read
from scripts.selftest_page import from_document
from tests.lab.selftest.made import HEALTHY, PROFILE, fault, run

DETECTED = judge(fault(), PROFILE, HEALTHY, run("pod-to-pod-ip/a"))
MISSED = judge(fault(name="overlooked"), PROFILE, HEALTHY, run())
UNRELATED = judge(fault(name="loud"), PROFILE, HEALTHY, run("pod-to-pod-ip/a", "names/a"))
BLIND = judge(fault(name="late", blind="nobody looks", must=(), names=()), PROFILE, HEALTHY, run())
RECOVERED = judge(
    fault(name="hangs", recovered="no end after", must=(), may=(), names=()),
    PROFILE,
    HEALTHY,
    run(events=("probe x: no end after 8 s; run again: ping",)),
)
NOT_RUN = not_run(fault(name="later"), PROFILE)


def matrix(*judged: Judged, red: tuple[str, ...] = ()) -> Matrix:
    """Return a matrix of one profile."""
    return Matrix(
        profiles=(Profile(name=PROFILE, seconds=30, red=red),),
        flows=("dns-via-service", "nodeport-from-external", "pod-to-pod-ip"),
        judged=judged,
        summaries={one.fault: "nothing passes | at all" for one in judged},
    )


@pytest.mark.parametrize(
    ("judged", "code"),
    [
        ((DETECTED, BLIND), Exit.DETECTED),
        ((DETECTED, RECOVERED), Exit.DETECTED),
        ((DETECTED, MISSED), Exit.MISSED),
        ((DETECTED, UNRELATED), Exit.MISSED),
        ((DETECTED, NOT_RUN), Exit.UNFINISHED),
        ((MISSED, NOT_RUN), Exit.MISSED),
        ((NOT_RUN,), Exit.NOTHING),
        ((), Exit.NOTHING),
    ],
)
def test_exit_codes_follow_the_worst(judged: tuple[Judged, ...], code: Exit) -> None:
    """0 all detected, 1 something to answer for, 6 not all were run, 7 none was."""
    assert matrix(*judged).exit is code


def test_a_profile_that_is_red_without_a_fault_counts() -> None:
    """Nothing can be trusted that was judged on it."""
    assert matrix(DETECTED, red=("names/a",)).exit is Exit.MISSED


def test_flows_that_nothing_turned_are_listed() -> None:
    """Those of all runs, by all faults that were run."""
    assert matrix(DETECTED, NOT_RUN).idle == ("dns-via-service", "nodeport-from-external")
    assert matrix(DETECTED, UNRELATED).idle == ("nodeport-from-external",)


def test_what_a_run_recovers_from_is_counted_and_said_apart() -> None:
    """It was neither detected nor overlooked; the page says which event was to speak of it."""
    found = matrix(DETECTED, RECOVERED)
    text = reference.render(found)
    assert "1 of 1 detected · 1 of 1 recovered from · 1 of 1 leading incidents" in text
    assert "| `hangs` | nothing passes \\| at all | recovered |" in text
    assert "- `hangs`: an event has to say “no end after”" in text
    assert from_document(document(found)) == found


def test_causes_are_counted_of_what_was_detected() -> None:
    """An overlooked fault has no incident to name, and a blind one none that is requested."""
    wrong = replace(DETECTED, fault="misnamed", named=False)
    assert matrix(DETECTED, wrong, MISSED, BLIND, NOT_RUN).named == (1, 2)


def test_a_fault_is_measured_by_the_healthy_run_of_its_profile() -> None:
    """Not by that of another; where it was not run, or queried less than all, there is nothing to compare."""
    found = matrix(DETECTED, NOT_RUN)
    other = replace(DETECTED, profile="win2019-overlay", beside=0)
    slower = Profile(name="win2019-overlay", seconds=48)
    found = replace(found, profiles=(*found.profiles, slower), judged=(*found.judged, other))
    assert [found.ratio(one) for one in found.judged] == [2.0, None, 1.25]
    assert found.ratio(replace(DETECTED, selected=True)) is None
    assert found.ratio(replace(DETECTED, profile="nowhere", beside=0)) is None


def test_a_fault_stays_beside_the_healthy_run_that_it_was_compared_with() -> None:
    """Also where its profile had a faster one since."""
    later = replace(matrix(DETECTED), profiles=(Profile(name=PROFILE, seconds=20),))
    assert later.ratio(DETECTED) == 2.0
    written = document(matrix(replace(DETECTED, beside=0)))
    del written["faults"][0]["beside"]
    assert from_document(written).judged[0].beside == 30


def test_flows_that_documents_leave_open_are_no_gap() -> None:
    """They are said apart, each with the limitation, and no other flow is."""
    made = replace(matrix(DETECTED), open={"dns-via-service": ("names-are-free",)})
    assert made.idle == ("nodeport-from-external",)
    assert from_document(json.loads(json.dumps(document(made)))) == made
    assert "- `dns-via-service`: `names-are-free`" in reference.render(made)
    assert "dns-via-service (names-are-free)" in reference.page(made)
    assert "leave open" not in reference.render(matrix(DETECTED))


def test_open_flows_are_computed_from_what_runs_expected() -> None:
    """A flow is open if no profile expects anything of any of its checks."""
    free = Check(id="t/a", flow="taint", verdict="recorded", left_open_by="convention")
    half = replace(free, id="n/a", flow="names")
    sure = replace(half, id="n/b", verdict="pass", left_open_by="")
    both = (
        Run(exit_code=0, seconds=1, checks=(free, half)),
        Run(exit_code=0, seconds=1, checks=(sure,)),
    )
    assert open_flows(both) == {"taint": ("convention",)}


@pytest.mark.parametrize(
    ("expected", "name"),
    [
        ({"outcome": None, "undecided": None}, "convention"),
        ({"outcome": None, "undecided": "its mode is not known"}, ""),
        ({"outcome": "conforms", "undecided": None}, ""),
    ],
)
def test_what_is_left_open_is_read_from_results(expected: dict[str, str], name: str) -> None:
    """Not from verdicts: what cannot be decided is no free choice, and a limitation may be exact."""
    one = {
        "id": "t/a",
        "flow": "taint",
        "verdict": "recorded",
        "expected": expected,
        "limitation": {"id": "convention"},
    }
    (check,) = read({"checks": [one]}, seconds=1, exit_code=0).checks
    assert check.left_open_by == name


def test_runs_that_were_judged_again_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """In every form, by the row; of those that nobody wrote down how many there are."""
    again = replace(DETECTED, fault="again", rejudged=True)
    untold = replace(DETECTED, fault="untold", rejudged=None)
    made = matrix(DETECTED, again, untold)
    said = (
        "1 of 3 runs were judged again from their journals; of 1 runs it is not recorded whether "
        "they were judged again"
    )
    told = reference.render(made)
    assert said in told
    assert told.count("| detected (judged again) |") == 1
    assert said in reference.page(made)
    command.print_matrix(made, Path("folder"))
    assert said in " ".join(capsys.readouterr().out.split())
    assert "judged again from" not in reference.render(matrix(DETECTED))
    written = document(made)
    for row in written["faults"]:
        del row["rejudged"]
    assert {one.rejudged for one in from_document(written).judged} == {None}


def test_what_took_too_long_or_left_nothing_is_not_in_time() -> None:
    """Twice the healthy run is in time, more is not; who ends without results has no merit in being quick."""
    slow = replace(DETECTED, fault="slow", seconds=60.3)
    broken = judge(
        fault(name="lost"), PROFILE, HEALTHY, Run(exit_code=2, seconds=5, problem="no results")
    )
    partial = replace(DETECTED, fault="partial", selected=True)
    made = matrix(DETECTED, slow, broken, BLIND, partial, NOT_RUN)
    assert [made.too_long(one) for one in made.judged] == [False, True, True, False, False, False]
    assert made.in_time == (2, 4)
    written = document(made)
    assert written["in_time"] == {"faults": 2, "of": 4, "budget": 2}
    assert [one["ratio"] for one in written["faults"]] == [2.0, 2.01, 0.17, 2.0, None, None]


def test_how_long_faults_took_is_shown_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    """The ratio beside the seconds, those beyond the budget set apart, and how many were in time."""
    made = matrix(DETECTED, replace(DETECTED, fault="slow", seconds=75))
    told, page_ = reference.render(made), reference.page(made)
    assert "| 75 | **2.50 ×** |" in told
    assert "| 60 | 2.00 × |" in told
    assert '<span class="chip bad">2.50 ×</span>' in page_
    assert "<td>2.00 ×</td>" in page_
    command.print_matrix(made, Path("folder"))
    terminal = capsys.readouterr().out
    assert "2.50 ×" in terminal
    for text in (told, page_, " ".join(terminal.split())):
        assert "1 of 2 within 2 times the healthy run" in text


def test_a_document_holds_all_of_it() -> None:
    """Read again it is the same matrix; what was not run is in it, with its word."""
    made = matrix(DETECTED, MISSED, UNRELATED, BLIND, NOT_RUN)
    written = json.loads(json.dumps(document(made)))
    assert from_document(written) == made
    assert [one["verdict"] for one in written["faults"]] == [
        *("detected", "undetected", "unrelated red", "blind", "not run")
    ]
    assert written["exit"] == 1


def test_page_and_reference_say_what_was_found() -> None:
    """Faults, causes, what is wrong and what was not run; a text stays a text."""
    evil = replace(UNRELATED, cause="<script>alert(1)</script>")
    made = matrix(DETECTED, MISSED, evil, BLIND, NOT_RUN)
    shown_, told = reference.page(made), reference.render(made)
    assert "<script>" not in shown_ + told
    for text in (shown_, told):
        assert "nothing turned of pod-to-pod-ip * → win-2" in text
        assert "red and unrelated: names/a" in text
        assert "not run" in text
        assert "nobody looks" in text
    assert (
        "| `node-cut-off` | nothing passes \\| at all | detected | 60 | 2.00 × | pod-to-pod-ip 1/2 |"
        in told
    )
    assert "default-src &#39;none&#39;" in shown_
