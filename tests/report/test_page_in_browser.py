"""The page in a real browser: evidence appears when a check is opened, texts stay texts, nothing is loaded."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nettests.report import Results, build_results, render_html
from tests.report.browser import Page
from tests.report.hostile import hostile_records
from tests.report.sweep import swept

RED = "pod-to-service-fqdn/linux-1/windows-1/other-node/tcp"
DRAWER = 'document.querySelector("dialog[open] .evidence")'
Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A function that puts a page on disk."""

    def put(page: str) -> Path:
        file = tmp_path / "report.html"
        file.write_text(page, "utf-8")
        return file

    return put


@pytest.fixture
def eventful(write: Write, eventful_run: Results) -> Path:
    """The page of a run in which every verdict occurs."""
    return write(render_html(eventful_run))


def listed(check: str) -> str:
    """Return the expression of a check in its flow's list, which has been opened."""
    return f"document.querySelector('details.check[data-check={json.dumps(check)}]')"


def open_list(browser: Page, check: str) -> None:
    """Open the list of a check's flow, and return when the check stands in it."""
    flow = f"document.getElementById({json.dumps(check)}).closest('.flow')"
    browser.evaluate(f"{flow}.querySelector('.list').open = true")
    browser.until(listed(check))


def open_all(browser: Page) -> None:
    """Open every check's evidence, and return when it is there."""
    browser.evaluate('document.querySelectorAll(".list").forEach((one) => { one.open = true; })')
    browser.until('!document.querySelector(".list:not(:has(.check))")')
    browser.evaluate('document.querySelectorAll("details").forEach((one) => { one.open = true; })')
    browser.until('!document.querySelector("details.check:not(:has(.message, .error))")')


def test_a_check_s_evidence_is_made_when_it_is_opened(browser: Page, eventful: Path) -> None:
    """Nothing of it is in the document before; commands, answers and controls are, after."""
    browser.open(eventful)
    assert browser.evaluate('document.querySelectorAll("details.check, .raw").length') == 0
    open_list(browser, RED)
    browser.evaluate(f"{listed(RED)}.open = true")
    browser.until(f'{listed(RED)}.querySelector(".raw")')
    text = browser.evaluate(f"{listed(RED)}.textContent")
    assert "/dial?host=10.96.44.7" in text
    assert "connection refused" in text
    assert "Positive controls" in text
    assert browser.evaluate(f'{listed(RED)}.querySelectorAll(".message").length') == 1
    assert browser.complaints == []


def test_a_link_to_a_check_opens_its_evidence(browser: Page, eventful: Path) -> None:
    """Whoever is sent the page's address with a check's id sees that check, and can step to the next."""
    browser.open(eventful, RED)
    browser.until(f'{DRAWER}?.querySelector(".raw")')
    assert "connection refused" in browser.evaluate(f"{DRAWER}.textContent")
    browser.evaluate("document.querySelector('dialog [data-step=\"1\"]').click()")
    browser.until(f'{DRAWER}.querySelector(".raw") && !{DRAWER}.textContent.includes({json.dumps(RED)})')  # fmt: skip


def test_a_cell_of_the_picture_opens_its_pair(browser: Page, write: Write) -> None:
    """Of thirty pairs that deviate, the one whose cell was clicked stands open."""
    browser.open(write(render_html(swept(lambda action: action.target.node == "win-3"))))
    mark = "document.querySelector('.heat a[data-member=\"win-6 → win-3\"]')"
    browser.evaluate(f'{mark}.dispatchEvent(new MouseEvent("click", {{bubbles: true, cancelable: true}}))')  # fmt: skip
    browser.until(f'{DRAWER}?.querySelector(".member[open]")')
    opened = browser.evaluate(f'{DRAWER}.querySelector(".member[open]").textContent')
    assert "win-6 → win-3" in opened
    assert "i/o timeout" in opened


def test_a_count_leads_to_the_suite_of_its_row(browser: Page, eventful: Path) -> None:
    """A click on a cell of the overview goes where a click on the suite's name goes."""
    browser.open(eventful)
    row = 'document.querySelector(".overview tr.suite:has(.tally)")'
    browser.evaluate(f'{row}.querySelector(".tally span").click()')
    browser.until(f'location.hash === {row}.querySelector("th a").getAttribute("href")')


def test_the_filter_offers_flows_once_somebody_turns_to_it(browser: Page, eventful: Path) -> None:
    """Two hundred options are no part of the page before; then there is one for each flow, skipped ones too."""
    browser.open(eventful)
    flows = 'document.querySelector("[name=flow]")'
    assert browser.evaluate(f"{flows}.options.length") == 1
    browser.evaluate(f"{flows}.focus()")
    offered = browser.evaluate(f"[...{flows}.options].map((one) => one.value)")
    assert len(offered) == len(set(offered))
    assert {"nodeport-from-external", "pod-to-pod-ip"} <= {*offered}
    browser.evaluate(f'{flows}.value = "nodeport-from-external"')
    browser.evaluate(f'{flows}.dispatchEvent(new Event("input", {{bubbles: true}}))')
    shown = '[...document.querySelectorAll("section.of-suite:not([hidden]) .skips:not([hidden])")]'
    assert browser.evaluate(f'{shown}.map((one) => one.dataset.flow.split(" ").includes("nodeport-from-external"))') == [True]  # fmt: skip


def test_the_filter_finds_words_of_evidence(browser: Page, eventful: Path) -> None:
    """A word that only one check's answers hold leaves that check, though nobody has opened it."""
    browser.open(eventful)
    browser.evaluate(
        'document.querySelector("[name=text]").value = "connection refused windows-1",'
        'document.querySelector("[name=text]").dispatchEvent(new Event("input", {bubbles: true}))'
    )
    shown = '[...document.querySelectorAll(".chip:not(.off)")]'
    browser.until(f"{shown}.length > 0 && {shown}.length < 60")
    found = browser.evaluate(f"{shown}.map((one) => one.dataset.check)")
    assert RED in found
    assert len(found) < 60
    said = browser.evaluate('document.querySelector("[name=found]").value')
    assert said.startswith(f"{len(found)} of ")


def test_hostile_texts_stay_texts(browser: Page, write: Write) -> None:
    """With everything opened, what the cluster said is shown, and no element or dialogue came of it."""
    browser.open(write(render_html(build_results(hostile_records()))))
    open_all(browser)
    assert browser.evaluate('document.querySelector("details.check .raw").textContent').count(
        "<script>alert(1)</script>"
    )
    scripts = 'document.querySelectorAll("script:not(.packed)").length'
    assert browser.evaluate(scripts) == 1
    assert browser.evaluate('document.querySelectorAll("b[onmouseover], [onerror]").length') == 0
    assert browser.complaints == []


def test_nothing_is_loaded_but_the_file(browser: Page, eventful: Path) -> None:
    """Opening the page and all its evidence requests no other address."""
    browser.open(eventful)
    open_all(browser)
    assert browser.requested == [eventful.as_uri()]


def test_the_page_lets_no_script_parse_markup(browser: Page, eventful: Path) -> None:
    """Not even the page's own script could make elements of a text: the browser refuses."""
    browser.open(eventful)
    refused = """(() => {
      try { document.querySelector("footer").innerHTML = "<b>x</b>"; return "done"; }
      catch (problem) { return problem.name; }
    })()"""
    assert browser.evaluate(refused) == "TypeError"


def test_a_browser_that_cannot_unpack_says_where_evidence_is(browser: Page, eventful: Path) -> None:
    """Without DecompressionStream, an opened check names the files that have its evidence."""
    gone = browser.command(
        "Page.addScriptToEvaluateOnNewDocument", source="delete globalThis.DecompressionStream;"
    )
    try:
        browser.open(eventful, RED)
        browser.until(f'{DRAWER}?.querySelector(".error")')
    finally:
        browser.command("Page.removeScriptToEvaluateOnNewDocument", **gone)
    text = browser.evaluate(f"{DRAWER}.textContent")
    assert "results.json" in text
    assert "journal.jsonl" in text


def test_an_opened_check_is_printed(browser: Page, eventful: Path) -> None:
    """On paper the flows take their room, also those that were never scrolled to, and open evidence stands in them."""
    browser.open(eventful)
    open_list(browser, RED)
    browser.evaluate(f"{listed(RED)}.open = true")
    browser.until(f'{listed(RED)}.querySelector(".raw")')
    browser.command("Emulation.setEmulatedMedia", media="print")
    try:
        hidden = """[...document.querySelectorAll("section.of-suite:has(.check[open])")].filter(
          (one) => getComputedStyle(one).contentVisibility !== "visible").length"""
        assert browser.evaluate(hidden) == 0
        assert browser.evaluate(f"{listed(RED)}.querySelector('.raw').offsetHeight") > 0
    finally:
        browser.command("Emulation.setEmulatedMedia", media="")


def test_a_link_to_a_flow_lands_on_it(browser: Page, eventful: Path) -> None:
    """Flows that were not laid out yet do not shift the one that was asked for out of sight."""
    browser.open(eventful)
    browser.evaluate(
        "document.querySelector('tr.of-suite a[href=\"#flow:session-affinity\"]').click()"
    )
    box = 'document.getElementById("flow:session-affinity").getBoundingClientRect()'
    assert 0 <= browser.evaluate(f"{box}.top") < browser.evaluate("innerHeight")


@pytest.mark.parametrize("width", [1440, 420])
def test_nothing_sticks_out_of_the_page(browser: Page, eventful: Path, width: int) -> None:
    """On a wide screen and on a telephone, with everything opened, tables scroll for themselves and the page does not."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.command("Emulation.setDeviceMetricsOverride", **metrics)
    try:
        browser.open(eventful)
        open_all(browser)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
    finally:
        browser.command("Emulation.clearDeviceMetricsOverride")


def test_a_slash_leads_to_the_filter(browser: Page, eventful: Path) -> None:
    """It is not typed into it; in the field it is a character as any other."""
    browser.open(eventful)
    press = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true, cancelable: true}))"
    assert browser.evaluate(press) is False
    assert browser.evaluate("document.activeElement.name") == "text"
    assert browser.evaluate(press) is True
