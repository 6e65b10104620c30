"""Export a finished run: metrics to a file, a summary to a webhook. Both are off by default.

The I/O for ``report.open_metrics`` and ``report.slack_message``. It comes last, when documents and exit code are
final: a failure here is printed on the terminal and changes neither.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

from nettests.errors import PathError
from nettests.model.run_folder import HTML
from nettests.report import Results
from nettests.report.slack_message import slack_message
from nettests.session.webhook import Webhook, webhook_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifications:
    """Where the results of a run go besides its folder."""

    metrics: Path | None = None
    webhook: Webhook | None = None

    def send(self, results: Results, directory: Path, say: Callable[[str], None]) -> None:
        """Write and post what is wanted, and print one line about each."""
        if self.metrics is not None:
            say(_result_line("metrics", str(self.metrics), partial(_write, results, self.metrics)))
        if self.webhook is not None:
            page = str((directory / HTML).resolve())
            done = "the summary was sent"
            say(_result_line("webhook", done, partial(_post, results, page, self.webhook)))


def notifications_of(metrics: Path | None, webhook: str | None = "") -> Notifications:
    """Return what is wanted, before anything runs; ``NettestsError`` where it cannot work.

    ``webhook`` is the option, ``None`` where the environment decides.
    """
    if metrics is not None:
        try:
            if metrics.is_dir():
                raise IsADirectoryError(0, "it is a folder")
            with TemporaryFile(dir=metrics.parent):
                pass
        except OSError as error:
            raise PathError(
                f"no metrics can be written to {metrics}: {error.strerror}",
                hint="name a file in a folder that is there, and yours, with --metrics",
            ) from error
    return Notifications(metrics=metrics, webhook=webhook_of(webhook))


def _result_line(name: str, done: str, act: Callable[[], str]) -> str:
    """Call ``act``, and return a line about its result."""
    try:
        problem = act()
    except KeyboardInterrupt:
        problem = "interrupted"
    except Exception as error:  # noqa: BLE001 - the run has ended; its result stands
        problem = f"nettests failed: {type(error).__name__}"
    return f"{name}: {problem or done}"


def _post(results: Results, page: str, webhook: Webhook) -> str:
    """Send the summary; return why it did not arrive."""
    problem = webhook.post(slack_message(results, page))
    return f"the summary was not sent: {problem}" if problem else ""


def _write(results: Results, file: Path) -> str:
    """Put a whole text in the place of the last one; return why it could not be.

    A scrape in between reads the last one. Others may read it, as the umask says: a collector has a user of its own.
    """
    from nettests.report.open_metrics import render_open_metrics  # noqa: PLC0415 - only who wants metrics loads their library

    # The collector takes whatever ends with .prom: this one does not.
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with beside.open("x", encoding="utf-8") as begun:
            begun.write(render_open_metrics(results))
        beside.replace(file)
    except OSError as error:
        return f"not written to {file}: {error.strerror}"
    finally:
        beside.unlink(missing_ok=True)
    return ""
