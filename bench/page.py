"""The page of a run on sixty nodes: how large it is, and how soon a browser has it.

    python bench/page.py [REPORT_HTML]…

Three runs are told without a cluster, by ``tests/report/sixty.py``: all in order, one node dead, and no Windows node
sends anything. For each, and for pages that are named, are printed the bytes, the bytes for 500 checks that have
evidence, the elements, the A4 pages on paper, the seconds until headless Chromium has loaded and drawn it (the median
of seven), and the milliseconds from opening a check until its evidence is there. Budgets for 1,900 checks on two cores:
15,000 elements, 12 pages, 1.5 s.
"""

import argparse
import re
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the runs and the browser are those of the tests

from nettests.report import render_html  # noqa: E402
from tests.report import sixty  # noqa: E402
from tests.report.browser import PROGRAM, Page, browsing  # noqa: E402

RUNS = (sixty.green, sixty.one_node_dead, sixty.no_windows_node_sends)
OPENINGS = 7
CHECKS = 'document.querySelectorAll(".chip").length'
ELEMENTS = 'document.querySelectorAll("*").length'
OPEN_LAST = """new Promise((done) => {
  const began = performance.now(), drawer = document.getElementById("drawer");
  const shown = () => { if (drawer.querySelector(".versus")) done(performance.now() - began); };
  new MutationObserver(shown).observe(drawer, { subtree: true, childList: true });
  [...document.querySelectorAll(".chip")].at(-1).click();
})"""


def main() -> None:
    """Print a row for each page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, help="pages of other runs")
    given = parser.parse_args()
    if PROGRAM is None:
        sys.exit("there is no Chromium here: nothing to open a page with")
    with tempfile.TemporaryDirectory(prefix="nettests-page-") as folder:
        files = [*_synthetic(Path(folder)), *given.pages]
        with browsing(Path(folder) / "browser") as browser:
            for file in files:
                print(f"{file.stem if file.is_relative_to(folder) else file}: {measure(browser, file)}")  # fmt: skip


def _synthetic(folder: Path) -> list[Path]:
    """Write the page of each run, and return their files."""
    files = []
    for run in RUNS:
        file = folder / f"{run.__name__}.html"
        file.write_text(render_html(run()), "utf-8")
        files.append(file)
    return files


def measure(browser: Page, file: Path) -> str:
    """Return a line about one page."""
    took = [browser.open(file) for _ in range(OPENINGS)]
    size = file.stat().st_size
    checks, elements = browser.evaluate(CHECKS), browser.evaluate(ELEMENTS)
    printed = browser.tab.pdf(format="A4")
    sheets = len(re.findall(rb"/Type\s*/Page\b", printed))
    shown = browser.evaluate(OPEN_LAST)
    return (
        f"{size} bytes, {checks} checks, {size * 500 // checks} bytes for 500; {elements} elements;"
        f" {sheets} pages on paper; open in {statistics.median(took):.2f} s"
        f" ({min(took):.2f}-{max(took):.2f}), evidence {shown:.0f} ms after a click"
    )


if __name__ == "__main__":
    main()
