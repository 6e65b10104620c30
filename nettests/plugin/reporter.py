"""Terminal output of a run: progress, and the dozen lines at its end.

On a terminal, one live line shows the stage, its progress and the verdicts so far; a pipe gets plain lines, one for
each stage and each quarter of the checks. ``NO_COLOR`` is honoured (by rich). Output goes to the terminal that pytest
started with, because pytest captures standard output while tests run.
"""

import threading
from collections import Counter
from types import TracebackType
from typing import Self

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from nettests.model.verdict import SUMMARY_ORDER
from nettests.model.visible import as_line, as_paragraph
from nettests.model.words import Verdict
from nettests.redaction import Redactor
from nettests.session.run_options import Progress
from nettests.terminal import uncaptured
from nettests.terminal.drawing import console

STYLE = {
    Verdict.FAIL: "bold red",
    Verdict.LIFTED: "bold red",
    Verdict.UNKNOWN: "bold magenta",
    Verdict.FLAKY: "bold red",
    Verdict.KNOWN_BUG: "bold yellow",
    Verdict.LIMITED: "yellow",
    Verdict.RECORDED: "cyan",
    Verdict.PASS: "green",
    Verdict.SKIPPED: "dim",
}

_BY_SHAPE = Redactor()
_UNITS = {
    "pull": "images on nodes",
    "deploy": "pods Ready",
    "converge": "Services converged",
    "observe": "checks observed",
    "diagnose": "diagnostics read",
}


class Reporter:
    """Tells how far a run is; ``output`` is the option of that name.

    Called from the run's background threads and from pytest's hooks.
    """

    def __init__(self, output: str) -> None:
        self._stream, self._own_stream = uncaptured()
        self.console = console(self._stream, soft_wrap=True)
        self.quiet = output == "quiet"
        self._beside_pytest = output == "pytest"
        self._progress = Progress(stage="start")
        self._counts: Counter[Verdict] = Counter()
        self._printed: set[tuple[str, int]] = set()
        self._lock = threading.Lock()
        # Two live displays would fight over the terminal: pytest's own keeps it.
        live = output == "own" and self.console.is_terminal
        self._live = (
            Live(get_renderable=self._line, console=self.console, transient=True) if live else None
        )

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.still()
        if self._own_stream:
            self._stream.close()

    def still(self) -> None:
        """End the live line; what is printed afterwards stays."""
        if self._live:
            self._live.stop()

    def stage(self, text: str) -> None:
        """Tell that a stage before the tests begins."""
        self._tell(Progress(stage=text))

    def progress(self, progress: Progress) -> None:
        """Tell how far the run is; beside pytest's own progress, say nothing."""
        if not self._beside_pytest:
            self._tell(progress)

    def _tell(self, progress: Progress) -> None:
        with self._lock:
            self._progress = progress
            if self._live or self.quiet or progress.stage == "done":
                return
            quarter = 4 * progress.done // progress.total if progress.total else 0
            key = (progress.stage, quarter)
            if key not in self._printed:
                self._printed.add(key)
                self.console.print(as_line(_plain(progress)), style="dim")

    def verdict(self, verdict: Verdict) -> None:
        """Count one more verdict."""
        self._counts[verdict] += 1

    def _line(self) -> Table:
        progress = self._progress
        line = Table.grid(padding=(0, 1))
        cells: list[Spinner | ProgressBar | Text] = [
            Spinner("dots"),
            Text(progress.stage, style="bold"),
        ]
        if progress.total:
            cells.append(ProgressBar(total=progress.total, completed=progress.done, width=24))
            cells.append(Text(f"{progress.done}/{progress.total}"))
        cells += [
            Text(f"{self._counts[verdict]} {verdict.value}", style=STYLE[verdict])
            for verdict in SUMMARY_ORDER
            if self._counts[verdict]
        ]
        line.add_row(*cells)
        return line

    def say(self, text: str, *, style: str = "") -> None:
        """Print one line of the documents as it is: a text of a cluster neither ends it nor is read as markup."""
        self.console.print(as_line(text), style=style or None)

    def paragraph(self, text: str, *, style: str = "") -> None:
        """Print a text that was worded elsewhere, without secrets: it may have several lines, all but the first indented."""
        self.console.print(as_paragraph(_BY_SHAPE.text(text)), style=style or None)


def _plain(progress: Progress) -> str:
    if not progress.total:
        return progress.stage
    return f"{progress.stage}: {progress.done}/{progress.total} {_UNITS.get(progress.stage, '')}"
