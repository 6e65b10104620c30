"""Export a finished run: metrics to a file, a summary to a webhook. Both are off by default.

The I/O for ``report.open_metrics`` and ``report.slack_message``. It runs last, when documents and
exit code are final: a failure here is printed and changes neither. The webhook's address
(``--webhook``, or better ``$NETTESTS_WEBHOOK``) is a secret, because whoever knows it can post to
the channel: errors do not repeat it, and the HTTP client's logs are suppressed.
"""

import ipaddress
import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import Any
from urllib.parse import SplitResult, urlsplit

import requests
from requests.exceptions import RequestException, Timeout
from requests.utils import get_environ_proxies
from urllib3.exceptions import HTTPError

from nettests.deadlines import Patience
from nettests.errors import PathError, PlanError
from nettests.model.run_folder import HTML
from nettests.plugin.option_table import WEBHOOK_VARIABLE
from nettests.probes.external import TimelyAdapter
from nettests.redaction import REDACTED, register
from nettests.report import Results
from nettests.report.slack_message import slack_message

OPTION = "--webhook"
# samples: --webhook=https://x.test/y, addopts=-x --webhook https://x.test/y
_NAMED = re.compile(rf"({OPTION}(?:=|\s+))\S+")
SECONDS = 10.0
"""For each of two attempts, from the connection to the last header."""
PAUSE = 1.0
"""Before the second attempt."""
TELLING = 16
"""A shorter part of an address may be an ordinary word, and is not treated as a secret."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address for POST requests, repeated once after ``pause`` seconds if that may help."""

    address: str = field(repr=False)
    pause: float = PAUSE
    seconds: float = SECONDS

    def secrets(self) -> tuple[str, ...]:
        """Return the address, and the parts of it that are secret as well."""
        parts = urlsplit(self.address)
        path = self.address.partition(parts.netloc)[2]
        candidates = (
            path,
            parts.path,
            parts.query,
            *PurePosixPath(parts.path).parts,
            parts.password or "",
        )
        return (self.address, *(part for part in candidates if len(part) >= TELLING))

    def post(self, message: Mapping[str, Any]) -> str:
        """Post a message; return why it failed, or nothing."""
        body = json.dumps(message).encode("utf-8")
        with _no_logs():
            problem, again = self._attempt(body)
            if problem and again:
                time.sleep(self.pause)
                problem, _ = self._attempt(body)
        return problem

    def _attempt(self, body: bytes) -> tuple[str, bool]:
        """Post once; return what went wrong, and whether another attempt may help."""
        patience = Patience()
        patience.begin(self.seconds)
        encrypted = self.address.startswith("https:")
        with requests.Session() as session:
            session.trust_env = False  # no .netrc; proxy and CA are set below
            for scheme in ("https://", "http://"):
                session.mount(scheme, TimelyAdapter(patience))
            try:
                answer = session.post(
                    self.address,
                    data=body,
                    headers={"Content-Type": "application/json", "Connection": "close"},
                    proxies=get_environ_proxies(self.address) if encrypted else {},
                    verify=os.environ.get("REQUESTS_CA_BUNDLE") or True,
                    timeout=self.seconds,
                    allow_redirects=False,
                    stream=True,  # the body is not read
                )
            except Timeout:
                return f"no answer within {self.seconds:g} s", True
            except RequestException as error:
                return _reason(error), True
            except (
                HTTPError
            ) as error:  # a host name that cannot be one, which requests lets through
                return f"no connection ({type(error).__name__})", False
            except OSError as error:  # a missing CA bundle; the message has no address
                return f"no connection ({error})", False
        status = answer.status_code
        if 200 <= status < 300:
            return "", False
        hint = "" if status >= 500 else ": see whether the address is right, and still in use"
        return f"it answered {status}{hint}", status >= 500 or status == 429


def webhook_of(option: str | None) -> Webhook | None:
    """Return the webhook of the option or environment, if any; ``PlanError`` if it is invalid."""
    address = (os.environ.get(WEBHOOK_VARIABLE, "") if option is None else option).strip()
    if not address:
        return None
    try:
        allowed = address.isprintable() and " " not in address and _allowed(urlsplit(address))
    except ValueError:
        allowed = False
    if not allowed:
        raise PlanError(
            "the address of the webhook cannot be used: it is no https:// address",
            hint=f"see --webhook and ${WEBHOOK_VARIABLE}; http:// is for this machine's own addresses alone",
        )
    webhook = Webhook(address)
    register(*webhook.secrets())
    return webhook


def without_address(words: Sequence[str]) -> tuple[str, ...]:
    """Return command-line arguments without the webhook's address, for journals."""
    before = ("", *words)
    return tuple(
        REDACTED if named == OPTION else _NAMED.sub(rf"\1{REDACTED}", word)
        for named, word in zip(before, words, strict=False)
    )


def _allowed(parts: SplitResult) -> bool:
    """Whether a summary may be sent there: encrypted, or to loopback."""
    host = parts.hostname or ""
    if parts.port == 0 or not host:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(host))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _reason(error: RequestException) -> str:
    """Return the innermost reason: outer messages of the client contain the address."""
    reason = getattr(error.args[0], "reason", None) if error.args else None
    if reason is None:
        return f"no connection ({type(error).__name__})"
    message = str(reason).rpartition(": ")[2].removesuffix('")))')  # the quotes of an outer error
    return f"no connection ({type(reason).__name__}: {message})"


@contextmanager
def _no_logs() -> Iterator[None]:
    """Suppress the HTTP client's logs: they contain whole addresses, even in warnings."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("urllib3")]
    loggers = [logging.getLogger(name) for name in names]

    def nothing(_record: logging.LogRecord) -> bool:
        return False

    for logger in loggers:
        logger.addFilter(nothing)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(nothing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifications:
    """Where the results of a run are sent besides its folder."""

    metrics: Path | None = None
    webhook: Webhook | None = None

    def send(self, results: Results, directory: Path, say: Callable[[str], None]) -> None:
        """Write and post what was requested, and print one line about each."""
        if self.metrics is not None:
            say(_result_line("metrics", str(self.metrics), partial(_write, results, self.metrics)))
        if self.webhook is not None:
            page = str((directory / HTML).resolve())
            done = "the summary was sent"
            say(_result_line("webhook", done, partial(_post, results, page, self.webhook)))


def notifications_of(metrics: Path | None, webhook: str | None = "") -> Notifications:
    """Return the destinations, before anything runs; ``NettestsError`` if they cannot work.

    ``webhook`` is the option, ``None`` to use the environment.
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
    try:
        problem = act()
    except KeyboardInterrupt:
        problem = "interrupted"
    except Exception as error:  # noqa: BLE001 - the run has ended, and its result is final
        problem = f"nettests failed: {type(error).__name__}"
    return f"{name}: {problem or done}"


def _post(results: Results, page: str, webhook: Webhook) -> str:
    problem = webhook.post(slack_message(results, page))
    return f"the summary was not sent: {problem}" if problem else ""


def _write(results: Results, file: Path) -> str:
    """Replace the metrics file atomically; return why it failed, or nothing.

    Its mode follows the umask: collectors run as another user.
    """
    from nettests.report.open_metrics import render_open_metrics  # noqa: PLC0415 - for metrics only

    # Collectors read files that end with .prom: this one does not.
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
