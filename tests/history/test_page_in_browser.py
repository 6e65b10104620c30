"""The page of a history in a real browser: it fits any window, loads nothing, and charts and strips share their columns."""

from dataclasses import replace
from pathlib import Path

import pytest

from nettests.history.history_page import render_page
from nettests.history.trends import history_of
from tests.history.story import nights
from tests.history.test_page import hostile
from tests.report.axe import assert_readable, needs_axe
from tests.report.browser import Page

WIDTHS = (360, 768, 1400)


@pytest.fixture(params=["nights", "hostile"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The page of the thirty nights, and one whose every text is an attack."""
    found = history_of(nights()) if request.param == "nights" else hostile()
    written = tmp_path / "history.html"
    written.write_text(render_page(found), "utf-8")
    return written


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits_into_a_window(browser: Page, file: Path, width: int) -> None:
    """Nothing sticks out at the side, on a telephone as on a desk, with every flow open."""
    browser.assert_fits(file, width)


def test_the_page_loads_nothing_and_nothing_acts(browser: Page, file: Path) -> None:
    """One request, for the page itself; no script ran and none was forbidden, for there is none."""
    browser.assert_inert(file)


def test_a_strip_stands_below_its_columns_in_the_charts(browser: Page, tmp_path: Path) -> None:
    """On a desk all pictures begin and end at the same place, folded ones too."""
    written = tmp_path / "history.html"
    written.write_text(render_page(history_of(nights())), "utf-8")
    browser.open_whole(written, 1400)
    places = browser.evaluate(
        '[...document.querySelectorAll(".row > svg")].map((one) => one.getBoundingClientRect())'
        '.map((box) => `${Math.round(box.left)} ${Math.round(box.right)}`).join(",")'
    )
    assert len(set(places.split(","))) == 1


ODD_LABELS = """
[...document.querySelectorAll(".timeline")].flatMap((card) => {
  const frame = card.getBoundingClientRect();
  const boxes = [...card.querySelectorAll("text")].map((one) => one.getBoundingClientRect());
  const out = boxes.filter((box) => box.left < frame.left || box.right > frame.right);
  const ticks = [...card.querySelectorAll(".tick")].map((one) => one.getBoundingClientRect())
    .sort((one, other) => one.left - other.left);
  const over = ticks.filter((box, at) => at > 0 && box.left < ticks[at - 1].right);
  return [...out, ...over];
}).length
"""


@pytest.mark.parametrize("number", [1, 4, 12, 22, 30])
def test_labels_of_charts_are_within_their_card(browser: Page, tmp_path: Path, number: int) -> None:
    """On a telephone: a chart of a few runs keeps its size, and its letters theirs; dates do not overlap."""
    written = tmp_path / "history.html"
    written.write_text(render_page(history_of(nights()[:number])), "utf-8")
    browser.open_whole(written, 360)
    assert browser.evaluate('document.querySelectorAll(".timeline .tick").length') > 0
    assert browser.evaluate(ODD_LABELS) == 0


@needs_axe
def test_everybody_can_read_and_reach_it(browser: Page, tmp_path: Path) -> None:
    """By axe-core's rules of contrast, names, structure and keyboard: links in a picture are no part of an image."""
    read = [replace(one, report=f"{one.name}/report.html") for one in nights()]
    written = tmp_path / "history.html"
    written.write_text(render_page(history_of(read)), "utf-8")
    assert_readable(browser, written)
    assert browser.evaluate('document.querySelectorAll(".strip a").length') > 3
