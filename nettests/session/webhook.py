"""Post a run's summary to an address of the user's: the only request to neither cluster nor target.

Off unless ``--webhook`` or ``$NETTESTS_WEBHOOK`` names an address. It is a secret, because whoever knows it can post
to the channel: no error repeats it, and no log of the HTTP client is printed. ``report.slack_message`` makes the
message; a failure changes nothing of a run.
"""

import ipaddress
import json
import logging
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import SplitResult, urlsplit

import requests
from requests.exceptions import RequestException, Timeout
from requests.utils import get_environ_proxies
from urllib3.exceptions import HTTPError

from nettests.deadlines import Patience
from nettests.errors import PlanError
from nettests.probes.external import TimelyAdapter
from nettests.redaction import REDACTED, register
from nettests.session.option_table import WEBHOOK_VARIABLE

OPTION = "--webhook"
# samples: --webhook=https://x.test/y, addopts=-x --webhook https://x.test/y
_NAMED = re.compile(rf"({OPTION}(?:=|\s+))\S+")
SECONDS = 10.0
"""For each of two attempts, from the connection to the last header."""
PAUSE = 1.0
"""Before the second one."""
TELLING = 16
"""A part of an address that is shorter may be a word of a report's own, and is no secret by itself."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that is posted to, once, and once more after ``pause`` seconds if that may help."""

    address: str = field(repr=False)
    pause: float = PAUSE
    seconds: float = SECONDS

    def secrets(self) -> tuple[str, ...]:
        """Return the address and what of it is as good as the whole."""
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
        """Post a message; return why it did not arrive, or nothing."""
        body = json.dumps(message).encode("utf-8")
        with _no_logs():
            problem, again = self._attempt(body)
            if problem and again:
                time.sleep(self.pause)
                problem, _ = self._attempt(body)
        return problem

    def _attempt(self, body: bytes) -> tuple[str, bool]:
        """Post once; return what went wrong, and whether another attempt may do better."""
        patience = Patience()
        patience.begin(self.seconds)
        encrypted = self.address.startswith("https:")
        with requests.Session() as session:
            session.trust_env = False  # no .netrc; a proxy and its CA are what the user says
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
                    stream=True,  # its words are of no interest, however many they are
                )
            except Timeout:
                return f"no answer within {self.seconds:g} s", True
            except RequestException as error:
                return _reason(error), True
            except (
                HTTPError
            ) as error:  # a host name that cannot be one, which requests lets through
                return f"no connection ({type(error).__name__})", False
            except OSError as error:  # of a CA bundle that is not there; its words hold no address
                return f"no connection ({error})", False
        status = answer.status_code
        if 200 <= status < 300:
            return "", False
        hint = "" if status >= 500 else ": see whether the address is right, and still in use"
        return f"it answered {status}{hint}", status >= 500 or status == 429


def webhook_of(option: str | None) -> Webhook | None:
    """Return what the option or else the environment names; an empty text is none. ``PlanError`` if it cannot be used."""
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
    """Return the words of a command line as a journal may hold them."""
    before = ("", *words)
    return tuple(
        REDACTED if named == OPTION else _NAMED.sub(rf"\1{REDACTED}", word)
        for named, word in zip(before, words, strict=False)
    )


def _allowed(parts: SplitResult) -> bool:
    """Whether a summary may be sent there: encrypted, or not over a network at all."""
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
    """Return the innermost reason, without what holds the address: the client's own words have its path."""
    reason = getattr(error.args[0], "reason", None) if error.args else None
    if reason is None:
        return f"no connection ({type(error).__name__})"
    message = str(reason).rpartition(": ")[2].removesuffix('")))')  # what quotes another error
    return f"no connection ({type(reason).__name__}: {message})"


@contextmanager
def _no_logs() -> Iterator[None]:
    """Keep back what the HTTP client logs meanwhile: it repeats whole addresses, in warnings too."""
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
