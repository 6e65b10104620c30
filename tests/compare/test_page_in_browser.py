"""The page of a difference in a real browser: it fits any window, loads nothing, and a hostile text does nothing."""

from dataclasses import replace
from pathlib import Path

import pytest

from nettests.compare.difference import difference
from nettests.compare.difference_text import overview
from nettests.compare.reading import read_results
from nettests.compare.sections import render_page
from nettests.report import Results, build_results, render_json
from tests.report.axe import assert_readable, needs_axe
from tests.report.browser import Page
from tests.report.hostile import hostile_records

WIDTHS = (360, 768, 1400)


@pytest.fixture
def hostile(tmp_path: Path, eventful_run: Results) -> Path:
    """The page of two runs, of which the later one's cluster attacks wherever it may choose a text."""
    before = read_results(render_json(eventful_run), "before")
    after = read_results(render_json(build_results(hostile_records())), "after")
    file = tmp_path / "difference.html"
    file.write_text(
        render_page(overview(difference(before, replace(after, incidents=())))), "utf-8"
    )
    return file


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits_into_a_window(browser: Page, hostile: Path, width: int) -> None:
    """Nothing sticks out at the side, on a telephone as on a desk, with every list of checks open."""
    browser.assert_fits(hostile, width)


def test_the_page_loads_nothing_and_nothing_acts(browser: Page, hostile: Path) -> None:
    """One request, for the page itself; no script ran and none was forbidden, for there is none."""
    browser.assert_inert(hostile)
    assert browser.evaluate("document.querySelectorAll('section').length") > 3


@needs_axe
def test_everybody_can_read_and_reach_it(browser: Page, hostile: Path) -> None:
    """By axe-core's rules of contrast, names, structure and keyboard, whatever the cluster says."""
    assert_readable(browser, hostile)
