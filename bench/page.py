"""The page of a run on sixty nodes: how large it is, and how soon a browser has it.

    python bench/page.py [REPORT_HTML]…

Three runs are told without a cluster, by ``tests/report/sixty.py``: all in order, one node dead, and no Windows node
sends anything. For each, and for pages that are named, are printed the bytes, the bytes for 500 checks that have
evidence, the elements, the seconds until headless Chromium has loaded and drawn it (the median of seven), and the
milliseconds from opening a check until its evidence is there. The budget on two cores: 3 MB for 500 checks, 2 s.
"""

import argparse
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
CHECKS = 'document.querySelectorAll("details.check")'
OPEN_ONE = f"""new Promise((done) => {{
  const check = [...{CHECKS}].at(-1), began = performance.now();
  const there = () => {{ if (check.querySelector(".raw")) done(performance.now() - began); }};
  new MutationObserver(there).observe(check, {{ subtree: true, childList: true }});
  check.closest(".list").open = check.open = true;
  there();
}})"""


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
    checks = browser.evaluate(f"{CHECKS}.length")
    elements = browser.evaluate('document.querySelectorAll("*").length')
    shown = browser.evaluate(OPEN_ONE)
    return (
        f"{size} bytes, {checks} checks, {size * 500 // checks} bytes for 500; {elements} elements;"
        f" open in {statistics.median(took):.2f} s ({min(took):.2f}-{max(took):.2f}),"
        f" evidence {shown:.0f} ms after a click"
    )


if __name__ == "__main__":
    main()
