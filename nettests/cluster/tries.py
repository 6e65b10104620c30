"""Retries of API requests: pauses, limits, and reading the token again when it is refused.

Used for requests, watches and handshakes alike. What a response means is up to the caller.
"""

import math
import random
import threading
import time
from contextlib import suppress

import urllib3

from nettests.cluster.failures import RETRIED
from nettests.cluster.kubeconfig import Chosen
from nettests.cluster.under_way import UnderWay
from nettests.errors import ClusterError
from nettests.model.cluster_profile import Timing

UNAUTHORIZED, TOO_MANY = 401, 429
_TOKEN = "BearerToken"  # noqa: S105 - the client's name of the setting


class Credentials:
    """The bearer token of a connection; one for all threads, as a kubeconfig has one."""

    def __init__(self, chosen: Chosen) -> None:
        self._chosen = chosen
        self._lock = threading.Lock()
        self._accepted: set[str] = set()
        self._in_vain = 0
        """New tokens in a row that were refused before they were accepted once."""

    @property
    def token(self) -> str | None:
        """The current token; waits while it is read again, because the old one is known to be refused."""
        with self._lock:
            return self._current()

    def accept(self, token: str | None) -> None:
        """Remember that the API server accepted this token."""
        if token is not None and token not in self._accepted:
            with self._lock:
                self._accepted = {*self._accepted, token}
                self._in_vain = 0

    def has_expired(self, token: str | None, *, patience: int) -> bool:
        """Whether a token is refused because it expired: the API server accepted it, or one before it.

        With many threads a new token may expire before its first answer arrives. After ``patience`` new ones
        in a row that were never accepted, expiry is not the reason: the client is no longer authorised.
        """
        return token in self._accepted or bool(self._accepted and self._in_vain < patience)

    def renew(self, refused: str | None) -> bool:
        """Read the token again, once for all threads; return whether it differs from ``refused``.

        ``ClusterError`` if none could be read: a plugin may fail like any other program.
        """
        with self._lock:
            if self._current() != refused:
                return True  # another thread was refused before
            fresh = self._chosen.anew()
            token = fresh.api_key.get(_TOKEN)
            if token is None and refused is not None:
                raise ClusterError("the credentials' plugin gave no token")
            if token == refused:
                return False
            if refused not in self._accepted:
                self._in_vain += 1
            self._chosen.configuration.api_key = fresh.api_key
            return True

    def _current(self) -> str | None:
        token: str | None = self._chosen.configuration.api_key.get(_TOKEN)
        return token


class Tries:
    """The tries of one request: ``begin`` each, report the status with ``heard``, and check whether to try ``again``.

    None begins after ``until``, by ``time.monotonic``, nor after what the connection as a whole allows.
    """

    def __init__(
        self,
        timing: Timing,
        credentials: Credentials,
        dice: random.Random,
        under_way: UnderWay,
        until: float = math.inf,
    ) -> None:
        self._under_way = under_way
        self._until = until
        self._timing = timing
        self._credentials = credentials
        self._dice = dice
        self._failed = 0
        self._expired = 0
        self._token: str | None = None

    def begin(self) -> None:
        """Begin a try, with the current token."""
        self._token = self._credentials.token

    def heard(self, status: int) -> None:
        """Note the status of an answer: most of them show that the API server accepted the token.

        A server error may come from a gateway whose API server is gone.
        """
        if status < 500:
            self._under_way.heard()
        if status < 500 and status not in {UNAUTHORIZED, TOO_MANY}:
            self._credentials.accept(self._token)

    def again(self, status: int | None = None, retry_after: str | None = None) -> bool:
        """Return whether to try again after a failure, and wait before the next try.

        ``status`` is that of the answer, ``None`` for a lost connection. A 401 is worth another try if there is
        another token now. An expired token counts apart from other failures: all threads share it, and each may
        be refused although the next token is valid.
        """
        if status == UNAUTHORIZED:
            patience = self._timing.api_tokens
            expired = self._credentials.has_expired(self._token, patience=patience)
            if not self._counted(expired=expired):
                return False
            try:
                return self._credentials.renew(self._token)
            except ClusterError:
                status = None
        if status is not None and status not in RETRIED:
            return False
        return self._counted() and self._paused(retry_after)

    def _counted(self, *, expired: bool = False) -> bool:
        """Count a failure; return whether the limits allow another try."""
        if expired and self._expired < self._timing.api_tokens:
            self._expired += 1
            return True
        self._failed += 1
        return self._failed < self._timing.api_tries

    def _paused(self, retry_after: str | None) -> bool:
        """Wait before the next try; return whether there is time for it."""
        longest = self._timing.api_longest_pause
        delay = min(longest, self._timing.api_first_pause * 2 ** (self._failed - 1))
        if retry_after:
            with suppress(urllib3.exceptions.InvalidHeader):  # seconds or a date
                delay = min(longest, urllib3.Retry().parse_retry_after(retry_after))
        delay *= 0.5 + self._dice.random() / 2
        if time.monotonic() + delay > min(self._until, self._under_way.until):
            return False
        return self._slept(delay)

    def _slept(self, seconds: float) -> bool:
        """Wait; return whether the connection is still open."""
        return not self._under_way.over.wait(seconds)
