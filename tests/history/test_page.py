"""The page: it holds what the history says, acts on nothing, loads nothing, and stays small."""

import re
from dataclasses import replace
from functools import cache

from lxml import html

from nettests.compare.reading import read_results
from nettests.history.drawing import is_steady
from nettests.history.history_page import LANES, SHOWN, render_page
from nettests.history.levels import State
from nettests.history.trends import History, LeftOutRun, ReadRun, history_of
from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.words import Verdict
from nettests.report import build_results, render_json
from tests.history.story import (
    DSR_ON,
    LOST,
    NIGHTS,
    PATCHED,
    SWINGING,
    altered,
    night,
    nights,
    whole,
)
from tests.report.hostile import LABEL, NASTY, hostile_records


@cache
def page() -> html.HtmlElement:
    """The page of the thirty nights, each with a report beside it."""
    runs = [replace(one, report=f"runs/{one.name}/report.html") for one in nights()]
    found = history_of(runs, [LeftOutRun(name="cut", reason="it is cut off")])
    return html.document_fromstring(render_page(found))


def card(number: int) -> html.HtmlElement:
    (found,) = page().xpath(f"//article[@id='turn-1-{number}']")
    return found


def words(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())


def test_the_first_sight_answers_what_is_red_since_when() -> None:
    """Headline, and below it the newest turn of what is red with its two runs and the fact between them."""
    (title,) = page().xpath("//h1")
    assert words(title) == "2 checks are red now, 1 flaky, 6 repaired"
    told = words(card(1))
    for said in (
        f"red since {night(PATCHED).run.run.started[:10]} 02:30",
        night(PATCHED - 1).name,
        night(PATCHED).name,
        "windows-1 build 17763.1339 → 17763.6532",
        "unexplained",
        f"{LOST}tcp",
    ):
        assert said in told


def test_each_turn_has_a_lane_below_the_chart() -> None:
    """Its number and what it is about lead to the card; its strip shows the nights on which it was red."""
    lanes = page().xpath("//div[@class='row lane']")
    links = [lane.xpath("./a/@href")[0] for lane in lanes]
    assert links == ["#turn-1-1", "#turn-1-2", "#turn-1-3"]
    assert all(page().xpath(f"//*[@id='{link[1:]}']") for link in links)
    assert "Checks of pod-to-pod-ip (linux → windows) get no answer" in words(lanes[0])
    assert all(lane.xpath("./svg//g[@class='c-fail']") for lane in lanes)


def test_only_the_most_urgent_turns_have_lanes() -> None:
    """More would push the cards out of sight; each has its card."""
    runs = []
    for at in range(40):
        one = night(0)
        checks = tuple(
            replace(check, verdict=Verdict.FAIL if at >= 20 + number else Verdict.PASS)
            for number, check in enumerate(one.run.checks[: LANES + 3])
        )
        started = f"2026-{1 + at // 28:02d}-{1 + at % 28:02d}"
        run = replace(one.run, checks=checks)
        runs.append(altered(replace(one, run=run), f"r{at}", run_id=f"r{at}", started=started))
    made = html.document_fromstring(render_page(history_of(runs)))
    assert len(made.xpath("//div[@class='row lane']")) == LANES
    assert len(made.xpath("//article")) > LANES


def test_every_check_is_named_and_every_red_one_has_a_card() -> None:
    """Nobody has to look into another document for a check; those that never changed take no strip."""
    flows = words(page().xpath("//div[@class='flows']")[0])
    assert not [one.id for one in whole().checks if one.id not in flows]
    cards = " ".join(words(one) for one in page().xpath("//article"))
    assert not [one.id for one in whole().checks if one.course.red and one.id not in cards]
    steady = [one for one in whole().checks if is_steady(one.verdicts)]
    assert 0 < len(steady) < len(whole().checks)
    assert not {one.id for one in steady} & {*page().xpath("//div[@class='row']//code//text()")}


def test_thirty_nights_of_a_thousand_checks_stay_small() -> None:
    """What went the same way has one strip: a page of 300 kB at most."""
    runs = []
    for at, one in enumerate(nights()):
        checks = tuple(
            replace(check, id=f"{check.id}#{copy}", verdict=Verdict.FAIL if copy < 6 and copy == at % 6 else check.verdict)
            for copy in range(1000 // len(one.run.checks))
            for check in one.run.checks
        )  # fmt: skip
        runs.append(replace(one, run=replace(one.run, checks=checks)))
    assert len(render_page(history_of(runs)).encode()) < 300_000


def test_red_cells_lead_to_the_check_in_the_report_of_their_run() -> None:
    """Two clicks from a strip to the evidence."""
    marks = card(2).xpath(".//svg//a")
    assert len(marks) == 4
    first = night(3)
    assert marks[0].get("href") == f"runs/{first.name}/report.html#{SWINGING}"
    assert words(marks[0]) == f"{first.run.run.started[:10]} 02:30: fail ({first.name})"


def test_runs_without_a_report_are_named_without_a_link() -> None:
    """There is nothing to lead to; the cells say what they are all the same."""
    bare = html.document_fromstring(render_page(history_of(nights())))
    assert bare.xpath("//article//a/@href") == []
    assert night(PATCHED).name in words(bare)
    assert len(bare.xpath("//article//rect")) == len(page().xpath("//article//rect"))


def test_the_runs_are_listed_with_their_facts_the_newest_first() -> None:
    """Thirty rows; two of them have changed facts."""
    rows = page().xpath("//section[@id='runs-1']//tbody/tr")
    assert len(rows) == NIGHTS
    assert night(NIGHTS - 1).name in words(rows[0])
    changed = [at for at, row in enumerate(reversed(rows)) if row.xpath(".//td[@class='facts-of-run']/span")]  # fmt: skip
    assert changed == [PATCHED, DSR_ON]


def test_what_is_left_out_is_named() -> None:
    """With its reason, at the end."""
    (section,) = page().xpath("//section[@id='left-out']")
    assert "cut: it is cut off" in words(section)


def test_checks_of_one_turn_that_went_alike_share_a_strip() -> None:
    """The first is named, the others one click away."""
    one = night(0)
    checks = tuple(replace(each, verdict=Verdict.FAIL) for each in one.run.checks)
    bad = replace(night(1), run=replace(night(1).run, checks=checks))
    found = html.document_fromstring(render_page(history_of([one, bad])))
    (turn,) = found.xpath("//article")
    rows = [row for row in turn.xpath("./div[@class='row']") if not row.xpath(".//b")]
    assert len(rows) < SHOWN
    shared = max(rows, key=lambda row: len(words(row)))
    (names,) = shared.xpath(".//p[@class='names']")
    others = len(words(names).split(" · "))
    assert words(shared.xpath(".//summary")[0]).endswith(f"and {others} alike")


def test_clusters_have_parts_of_their_own() -> None:
    """No id stands twice, and each part has its own columns."""
    others = [
        altered(one, f"b-{one.name}", run_id=f"b-{one.name}", server="https://b.test:6443")
        for one in nights(range(PATCHED, PATCHED + 3))
    ]
    found = html.document_fromstring(render_page(history_of([*nights(), *others])))
    ids = found.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert len(found.xpath("//h1")) == 2
    links = [one for one in found.xpath("//@href") if one.startswith("#")]
    assert {one[1:] for one in links} <= set(ids)


def test_every_picture_is_told_in_words() -> None:
    """Who sees no strip hears what it shows."""
    for picture in page().xpath("//svg[not(@aria-hidden)]"):
        assert picture.get("aria-label")


def hostile() -> History:
    """Runs whose every text is an attack, and a report's address that tries to be one."""
    spoilt = read_results(render_json(build_results(hostile_records())), "hostile")
    runs = []
    for at in range(8):
        checks = tuple(
            replace(
                one,
                verdict=SUMMARY_ORDER[(number + at) % len(SUMMARY_ORDER)],
                id=f"{NASTY}/{number}" if number % 5 == 0 else one.id,
                flow=LABEL if number % 5 == 0 else one.flow,
            )
            for number, one in enumerate(spoilt.checks)
        )
        run = replace(spoilt.run, run_id=str(at), started=f"2026-11-0{at + 1}", error=NASTY)
        made = replace(spoilt, checks=checks, run=run)
        runs.append(ReadRun(name=f"{NASTY}{at}", run=made, report=f"r/{at}/report.html"))
    return history_of(runs, [LeftOutRun(name=NASTY, reason=LABEL)])


def test_a_hostile_text_stays_a_text() -> None:
    """No tag, no attribute and no address comes of it, and what is hidden is shown by name."""
    text = render_page(hostile())
    found = html.document_fromstring(text)
    assert found.xpath("//script | //iframe | //*[@onmouseover] | //*[@style]") == []
    assert not [one for one in found.xpath("//@href") if not re.match(r"#|r/\d/report\.html", one)]
    assert not set("\x00\x1b\u202e") & set(text)
    assert NASTY[:25] in words(found)


def test_the_page_loads_nothing_and_nothing_acts() -> None:
    """Its own policy forbids all but its style; no address leads out of the folder."""
    (policy,) = page().xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'")
    assert "script-src" not in policy
    assert page().xpath("//script | //link | //img | //iframe | //object") == []
    assert page().xpath("//*[@style]") == []
    assert not [one for one in page().xpath("//@href") if "://" in one]


def test_a_year_of_a_broken_cluster_stays_small() -> None:
    """Marks are bounded: cells say what they are as long as that fits."""
    found = whole()
    many = nights(range(PATCHED, NIGHTS))
    checks = tuple(replace(one, verdict=Verdict.FAIL) for one in many[0].run.checks)
    runs = [
        altered(
            replace(night(0), run=replace(night(0).run, checks=checks)),
            f"r{at:03d}",
            run_id=f"r{at}",
            started=f"{2025 + at // 365}-{1 + at % 365 // 31:02d}-{1 + at % 31:02d}",
        )
        for at in range(365)
    ]
    assert len(checks) == len(found.checks)
    text = render_page(history_of(runs))
    assert len(text) < 1_500_000
    assert html.document_fromstring(text).xpath("//article//rect")


def test_what_is_good_throughout_has_no_card() -> None:
    """A cluster in order is a headline, two charts, its flows and its runs."""
    found = history_of(nights(range(3)))
    assert not found.clusters[0].of(State.RED, State.FLAKY, State.REPAIRED)
    made = html.document_fromstring(render_page(found))
    assert made.xpath("//article") == []
    assert words(made.xpath("//h1")[0]) == "Nothing is red now"


def test_a_history_of_nothing_is_a_page_all_the_same() -> None:
    """Everything was left out, which is named."""
    text = render_page(history_of([], [LeftOutRun(name="x", reason="it is cut off")]))
    assert "No run to show" in text
    assert "x: it is cut off" in text
