"""The only writer to the terminal: no text of a cluster controls it, and none brings a secret to it.

Commands, the plugin and their errors print through here only, which a test enforces. Escape sequences and reordering
characters are replaced by their names, markup of rich is plain text, and a text passed as one line stays one line.
Line feeds and tabs pass only in texts that we lay out ourselves (``block``). ``drawing`` follows the same rules, and
is imported only where something is drawn.
"""

import io
import json
import logging
import os
import sys
import threading
import traceback
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, TextIO

import click

from nettests.model.visible import as_line, as_paragraph, escaped_json, visible


def _clean(text: str) -> str:
    """Return a text without secrets: those of this process, and what looks like one of a cluster's."""
    from nettests.redaction import Redactor  # noqa: PLC0415 - slow; ``--help`` prints nothing here

    return Redactor().text(text)


def line(text: str = "", *, err: bool = False) -> None:
    """Print one line; a line feed in ``text`` is shown, not obeyed."""
    click.echo(as_line(_clean(text)), err=err)


def lines(texts: Iterable[str]) -> None:
    """Print each text as one line."""
    for text in texts:
        line(text)


def paragraph(text: str, *, err: bool = False) -> None:
    """Print what may have several lines, such as an error; all but the first are indented."""
    click.echo(as_paragraph(_clean(text)), err=err)


def block(text: str, *, err: bool = False) -> None:
    """Print lines that we have laid out ourselves, such as YAML; ends with one line feed."""
    click.echo(visible(_clean(text)).rstrip("\n"), err=err)


def encoded(text: str) -> None:
    """Print files in base64 as they are: what they hold was redacted when they were written."""
    click.echo(text.rstrip("\n"))


def document(data: object) -> None:
    r"""Print one JSON value for programs; hidden characters are ``\u`` escapes, so nothing is lost."""
    from nettests.redaction import Redactor  # noqa: PLC0415 - slow; ``--help`` prints nothing here

    click.echo(escaped_json(json.dumps(Redactor().value(data), indent=2, ensure_ascii=False)))


def uncaptured() -> tuple[TextIO, bool]:
    """Return a stream to the present standard output that pytest's capturing does not redirect.

    pytest captures by replacing file descriptor 1, so a duplicate of it is kept; where standard
    output is no file, it is used as it is, and is not the caller's to close.
    """
    try:
        descriptor = os.dup(sys.stdout.fileno())
    except (io.UnsupportedOperation, AttributeError, ValueError):
        return sys.stdout, False
    buffered = io.BufferedWriter(_Untroubled(descriptor, "w"))
    return io.TextIOWrapper(buffered, encoding=sys.stdout.encoding or "utf-8"), True


class _Untroubled(io.FileIO):
    """A file whose reader may be gone: what it does not take is dropped.

    A pipe that was closed, a terminal that hung up or a full disk must not end a run, nor keep it from its clean-up.
    """

    def write(self, data: Any) -> int:
        """Write what can be written, and say that all of it was."""
        written = None  # also where a pipe that does not block is full
        with suppress(OSError):
            written = super().write(data)
        return memoryview(data).nbytes if written is None else written


def guard() -> None:
    """Send through here what Python itself would print: tracebacks, and warnings of libraries."""
    sys.excepthook = _traceback
    threading.excepthook = _of_thread
    logging.lastResort = _Logged(logging.WARNING)


def _traceback(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    block("".join(traceback.format_exception(kind, error, trace)), err=True)


def _of_thread(failure: Any) -> None:
    if failure.exc_value is not None and not issubclass(failure.exc_type, SystemExit):
        _traceback(failure.exc_type, failure.exc_value, failure.exc_traceback)


class _Logged(logging.Handler):
    """For records that nobody else handles: Python's own handler of last resort prints them raw."""

    def emit(self, record: logging.LogRecord) -> None:
        line(record.getMessage(), err=True)
