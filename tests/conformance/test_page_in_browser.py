"""The page of a conformance report in a real browser: it fits any window, loads nothing, and a hostile text does nothing."""

from pathlib import Path

import pytest

from nettests.conformance.report_page import PAGE, documents
from tests.conformance.claimed import report
from tests.conformance.test_documents import FAILED, hostile
from tests.report.axe import assert_readable, needs_axe
from tests.report.browser import Page

WIDTHS = (360, 768, 1400)


@pytest.fixture(params=["failed", "hostile"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The page of a report, and one whose every text is an attack."""
    made = report(FAILED) if request.param == "failed" else hostile()
    written = tmp_path / PAGE
    written.write_text(documents(made)[PAGE], "utf-8")
    return written


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits_into_a_window(browser: Page, file: Path, width: int) -> None:
    """Nothing sticks out at the side, on a telephone as on a desk, with every list open."""
    browser.assert_fits(file, width)


def test_the_page_loads_nothing_and_nothing_acts(browser: Page, file: Path) -> None:
    """One request, for the page itself; no script ran and none was forbidden, for there is none."""
    browser.assert_inert(file)
    assert browser.evaluate("document.querySelectorAll('.feature').length") > 2


@needs_axe
def test_everybody_can_read_and_reach_it(browser: Page, file: Path) -> None:
    """By axe-core's rules of contrast, names, structure and keyboard: headings follow each other, for one."""
    assert_readable(browser, file)
