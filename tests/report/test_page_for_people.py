"""The page in a real browser, as people use it: at three widths, in light and dark, by keys, on paper, and by axe's rules."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from nettests.report import Results, build_results, render_html
from scripts.axe import FILE as AXE
from tests.report.axe import needs_axe, violations
from tests.report.browser import WIDTHS, Page
from tests.report.hostile import hostile_records
from tests.report.sweep import swept
from tests.report.test_unread import strange

RED = "pod-to-service-fqdn/linux-1/windows-1/other-node/tcp"
FEW = """for (const kind of [".flow", ".card", "tr.of-suite", ".overview tbody", ".limitations li"])
  [...document.querySelectorAll(kind)].slice(12).forEach((one) => one.remove())"""
"""Leaves some of each thing that a page has in hundreds, all laid out alike: axe looks at each of them."""
Write = Callable[[Results], Path]


@pytest.fixture(scope="module")
def pages(
    tmp_path_factory: pytest.TempPathFactory, quiet: Results, eventful_run: Results
) -> dict[str, Path]:
    """Pages of a run in order, of one in which every verdict occurs, of a fleet, of a hostile cluster, of unread texts."""
    found: dict[str, Path] = {}
    stories = {
        "healthy": quiet,
        "broken": eventful_run,
        "fleet": swept(lambda action: action.target.node == "win-3"),
        "hostile": build_results(hostile_records()),
        "unread": build_results(strange()),
    }
    for name, results in stories.items():
        found[name] = tmp_path_factory.mktemp(name) / "report.html"
        found[name].write_text(render_html(results), "utf-8")
    return found


@pytest.mark.parametrize("story", ["healthy", "broken", "fleet", "hostile", "unread"])
def test_nothing_sticks_out_at_any_width(browser: Page, pages: dict[str, Path], story: str) -> None:
    """On a telephone, a tablet and a desk, nothing but what scrolls in its own box is wider than the page."""
    browser.open(pages[story])
    for width in WIDTHS:
        with browser.seen(width):
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
            assert browser.overflow == []
    assert browser.complaints == []


def test_the_first_incident_is_in_sight_on_a_telephone(
    browser: Page, pages: dict[str, Path]
) -> None:
    """Verdicts take less room than what is wrong: its heading begins on the first two screens."""
    browser.open(pages["broken"])
    with browser.seen(360):
        top = browser.evaluate(
            'document.querySelector("#s-attention .alert").getBoundingClientRect().top'
        )
        assert 0 < top < 1300


def test_rows_keep_their_names_while_columns_are_scrolled_to(
    browser: Page, pages: dict[str, Path]
) -> None:
    """On a telephone the matrix is wider than the screen, and its first column stays."""
    browser.open(pages["broken"])
    with browser.seen(360):
        row = 'document.querySelector(".overview tbody th")'
        before = browser.evaluate(f"{row}.getBoundingClientRect().left")
        browser.evaluate('document.querySelector(".overview").parentNode.scrollLeft = 400')
        assert browser.evaluate('document.querySelector(".overview").parentNode.scrollLeft') > 100
        assert browser.evaluate(f"{row}.getBoundingClientRect().left") == pytest.approx(
            before, abs=1
        )


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "story",
    ["broken", *(pytest.param(one, marks=pytest.mark.nightly) for one in ("fleet", "unread"))],
)
def test_everybody_can_read_and_reach_it(
    browser: Page, pages: dict[str, Path], story: str, scheme: Literal["light", "dark"]
) -> None:
    """By axe-core's rules of contrast, names, structure and keyboard, in both schemes, with a check's evidence open."""
    # The page's own policy forbids what axe does.
    browser.command("Page.setBypassCSP", enabled=True)
    try:
        with browser.seen(1400, scheme=scheme):
            browser.open(pages[story])
            browser.evaluate(AXE.read_text("utf-8") + ";0")
            browser.evaluate(FEW)
            assert violations(browser) == []
            browser.evaluate('document.querySelector("a.chip").click()')
            browser.until(
                'document.querySelector("dialog[open] .evidence .raw, dialog[open] .evidence .message")'
            )
            assert violations(browser) == []
    finally:
        browser.command("Page.setBypassCSP", enabled=False)


@needs_axe
def test_axe_finds_what_nobody_can_read(browser: Page, tmp_path: Path) -> None:
    """Grey on grey is told: the test above can fail."""
    page = tmp_path / "grey.html"
    words = "".join(
        f"<p style='color:#999;background:#aaa'>{word}</p>"
        for word in ("nobody can", "read this", "on this paper")
    )
    page.write_text(f"<!doctype html><html lang=en><title>x</title><main><h1>x</h1>{words}</main>")
    browser.open(page)
    browser.evaluate(AXE.read_text("utf-8") + ";0")
    told = json.loads(browser.evaluate("axe.run(document).then((found) => JSON.stringify(found))"))
    assert "color-contrast" in {one["id"] for one in told["violations"]}


def test_keys_alone_lead_through_the_page(browser: Page, pages: dict[str, Path]) -> None:
    """The first Tab offers to skip the bar; a chip opens by Enter, arrows step, and Escape leads back to the chip."""
    browser.open(pages["broken"])
    browser.press("Tab")
    assert "Skip" in browser.focused
    browser.press("Enter")
    browser.evaluate('document.querySelector("a.chip.v-fail").focus()')
    chip = browser.focused
    browser.press("Enter")
    browser.until('document.querySelector("dialog[open] .evidence .raw")')
    first = browser.evaluate('document.querySelector("#drawer-title").textContent')
    for _ in range(6):
        browser.press("Tab")
        assert browser.evaluate(
            'document.querySelector("dialog").contains(document.activeElement) || document.activeElement === document.body'
        )
    browser.press("ArrowRight")
    browser.until(f'document.querySelector("#drawer-title").textContent !== {json.dumps(first)}')
    browser.press("ArrowLeft")
    browser.until(f'document.querySelector("#drawer-title").textContent === {json.dumps(first)}')
    browser.press("Escape")
    browser.until('!document.querySelector("dialog[open]")')
    assert browser.focused == chip


def test_the_focus_can_be_seen(browser: Page, pages: dict[str, Path]) -> None:
    """Whatever Tab comes to has an outline."""
    browser.open(pages["broken"])
    for _ in range(12):
        browser.press("Tab")
        assert browser.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_a_suite_is_folded_by_keys(browser: Page, pages: dict[str, Path]) -> None:
    """A button of the matrix says whether its flows are shown, and Space changes it."""
    browser.open(pages["broken"])
    fold = 'document.querySelector(".fold")'
    browser.evaluate(f"{fold}.focus()")
    before = browser.evaluate(f"{fold}.getAttribute('aria-expanded')")
    browser.press("Space")
    assert browser.evaluate(f"{fold}.getAttribute('aria-expanded')") != before


def test_dark_is_the_system_s_until_somebody_says_otherwise(
    browser: Page, pages: dict[str, Path]
) -> None:
    """The button names the other scheme, follows the system, and changes the paper."""
    paper = "getComputedStyle(document.body).backgroundColor"
    button = 'document.querySelector("#theme")'
    browser.open(pages["healthy"])
    light = browser.evaluate(paper)
    assert browser.evaluate(f"{button}.textContent") == "Dark"
    with browser.seen(scheme="dark"):
        browser.until(f'{button}.textContent === "Light"')
        assert browser.evaluate(paper) != light
        browser.evaluate(f"{button}.click()")
        assert browser.evaluate(paper) == light


def test_search_leads_to_a_check_and_back(browser: Page, pages: dict[str, Path]) -> None:
    """What is typed leaves the checks that have it; what nothing has says so; cleared, all are there."""
    browser.open(pages["broken"])
    shown = 'document.querySelectorAll(".chip:not(.off)").length'
    everything = browser.evaluate(shown)
    browser.tab.locator("input[name=text]").fill(RED)
    browser.until(f"{shown} > 0 && {shown} < 10")
    found = browser.evaluate(
        '[...document.querySelectorAll(".chip:not(.off)")].map((one) => one.dataset.check)'
    )
    assert RED in found
    browser.tab.locator("input[name=text]").fill("zorblax")
    browser.until(f'{shown} === 0 && !document.querySelector(".nothing").hidden')
    browser.tab.locator("form.filters button[type=reset]").click()
    browser.until(f"{shown} === {everything}")


def test_a_link_to_a_check_survives_a_reload_and_going_back(
    browser: Page, pages: dict[str, Path]
) -> None:
    """Who is sent it, reloads it or goes back has the same check open."""
    browser.open(pages["broken"], RED)
    browser.until('document.querySelector("dialog[open] .evidence .raw")')
    browser.tab.reload()
    browser.until('document.querySelector("dialog[open] .evidence .raw")')
    assert re.search("#.*pod-to-service-fqdn", browser.tab.url)
    browser.press("Escape")
    browser.until('!document.querySelector("dialog[open]")')


@pytest.mark.parametrize("story", ["healthy", "broken", "fleet"])
def test_a_page_stays_small_until_something_is_opened(
    browser: Page, pages: dict[str, Path], story: str
) -> None:
    """Eight elements a check and 6,000 at most besides: evidence and lists are made when they are opened."""
    browser.open(pages[story])
    checks = browser.evaluate('document.querySelectorAll(".chip").length')
    assert checks > 0
    assert browser.evaluate('document.querySelectorAll("*").length') < 6_000 + 8 * checks


def test_a_telephone_shows_what_is_wrong_in_three_lines(
    browser: Page, pages: dict[str, Path]
) -> None:
    """The headline takes three lines, and the picture of nodes comes next, before any counts."""
    browser.open(pages["fleet"])
    with browser.seen(360):
        lines = """(({offsetHeight}, style) => Math.round(offsetHeight / parseFloat(style.lineHeight)))(
          document.querySelector("h1 span"), getComputedStyle(document.querySelector("h1")))"""
        assert 1 <= browser.evaluate(lines) <= 3
        top = 'document.querySelector("{}").getBoundingClientRect().top'
        tops = [
            browser.evaluate(top.format(part)) for part in (".hero .heat", ".failing", ".tiles")
        ]
        assert tops == sorted(tops)


LONG, OTHER = "aks-win-pool-00000", "aks-lin-pool-00001"
CAUSES = (
    f"Packets between {LONG} and other nodes get no answer",
    f"UDP packets between {OTHER} and other nodes get no answer",
    f"Packets from {LONG} to Pods of {OTHER} do not arrive; those in the other direction do",
    f"Packets between {LONG} and {OTHER} do not arrive, in either direction",
    f"TCP packets from {LONG} to {OTHER} are lost now and then: 53 of 233 attempts got no answer",
    f"Connections to Service svc-server-windows-1-2 through the Service proxy of {LONG} get no answer",
    f"Connections from other nodes or outside to a NodePort on {LONG} over TCP get no answer",
    f"Packets above 1,400 bytes between {LONG} and other nodes do not arrive; smaller ones do: Pods need an MTU of …",
    f"New Pods on {LONG} reach no Service by its name for their first 6 s",
    f"Short names, which need the DNS search list, of Pods on {LONG} get the answer “no such name”",
    f"Servers see another source address than the client Pod's, for connections through the Service proxy of {LONG}",
    f"Settings of {LONG} are not as documented (cni-exceptions, outbound-nat, kubelet-restarts and 2 more)",
    "The documented limitation nodeport-needs-local-pod no longer shows",
    f"Cluster DNS does not answer at its Service address from {LONG}",
)
"""As incidents name them, on nodes whose names have eighteen characters."""


@pytest.mark.parametrize("cause", CAUSES)
def test_a_headline_fits_a_telephone_whatever_the_names(
    browser: Page, tmp_path: Path, eventful_run: Results, cause: str
) -> None:
    """Three lines at 360 pixels, the number of other causes among them, whichever cause leads."""
    first = replace(eventful_run.incidents[0], explained=True)
    named = (replace(first, cause=each) for each in (cause, *CAUSES))
    file = tmp_path / "report.html"
    file.write_text(render_html(replace(eventful_run, incidents=tuple(named))), "utf-8")
    browser.open(file)
    with browser.seen(360):
        lines = """(({offsetHeight}, style) => Math.round(offsetHeight / parseFloat(style.lineHeight)))(
          document.querySelector("h1 span"), getComputedStyle(document.querySelector("h1")))"""
        assert 1 <= browser.evaluate(lines) <= 3
        assert browser.overflow == []
    assert re.search(r" · \d+ more", browser.evaluate('document.querySelector("h1").textContent'))


@pytest.mark.parametrize("story", ["healthy", "broken"])
def test_paper_shows_what_is_wrong_and_nothing_to_click(
    browser: Page, pages: dict[str, Path], story: str
) -> None:
    """Printed, bar and filters are gone, nothing sticks out, and a PDF of some pages comes of it."""
    browser.open(pages[story])
    with browser.seen(1000, printed=True):
        for hidden in (".top", ".filters"):
            assert (
                browser.evaluate(f'getComputedStyle(document.querySelector("{hidden}")).display')
                == "none"
            )
        assert browser.evaluate('document.querySelector("h1").offsetHeight') > 0
        pdf = browser.tab.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert 1 <= pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") <= 12


def test_text_that_runs_from_right_to_left_disturbs_nothing(
    browser: Page, tmp_path: Path, quiet: Results
) -> None:
    """A name in Hebrew or Arabic stands in its own direction; what stands beside it keeps its order."""
    page = render_html(quiet).replace("lab-test", "אשכול")
    file = tmp_path / "rtl.html"
    file.write_text(page, "utf-8")
    browser.open(file)
    direction = 'getComputedStyle(document.querySelector(".coverage")).direction'
    assert browser.evaluate(direction) == "ltr"
    with browser.seen(360):
        assert browser.overflow == []
