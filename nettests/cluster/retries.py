"""Retries of API requests, and what is under way over a connection.

For requests, watches and handshakes alike: pauses, limits, and reading the token again when it is
refused. Closing a connection cuts what is under way, so that no thread waits for a time-out.
Requests are counted by verb and resource, retries included. Callers decide what a response means.
"""

import math
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import urllib3

from nettests.cluster.failures import RETRIED
from nettests.cluster.kubeconfig import Chosen
from nettests.errors import ClusterError
from nettests.model.cluster_profile import Timing


class UnderWay:
    """How each running answer and stream is cut. Thread-safe."""

    def __init__(self) -> None:
        self.over = threading.Event()
        """Set once nothing new begins."""
        self.until = math.inf
        """No further try begins after this time (``time.monotonic``)."""
        self._heard = time.monotonic()
        self._cuts: dict[object, Callable[[], None]] = {}
        self._lock = threading.Lock()

    def heard(self) -> None:
        """Note that the API server has answered, whatever the answer."""
        self._heard = time.monotonic()

    def silence(self) -> float:
        """Return for how many seconds it has not answered."""
        return time.monotonic() - self._heard

    @contextmanager
    def cutting(self, cut: Callable[[], None]) -> Iterator[None]:
        """Let ``end`` call ``cut`` in another thread during the block; at once if it has ended."""
        key = object()
        with self._lock:
            self._cuts[key] = cut
        if self.over.is_set():
            cut()
        try:
            yield
        finally:
            with self._lock:
                del self._cuts[key]

    def hasten(self) -> None:
        """Cut everything under way without retries; whatever begins later has one try."""
        self.until = time.monotonic()
        self._cut()

    def end(self) -> None:
        """Cut everything under way, and begin nothing more."""
        self.over.set()
        self._cut()

    def _cut(self) -> None:
        with self._lock:
            cuts = list(self._cuts.values())
        for cut in cuts:
            cut()


UNAUTHORIZED, TOO_MANY = 401, 429
_TOKEN = "BearerToken"  # noqa: S105 - the client's name of the setting


class Credentials:
    """The bearer token of a connection, shared by all threads."""

    def __init__(self, chosen: Chosen) -> None:
        self._chosen = chosen
        self._lock = threading.Lock()
        self._accepted: set[str] = set()
        self._in_vain = 0
        """Consecutive new tokens that were refused and never accepted."""

    @property
    def token(self) -> str | None:
        """The current token; wait while a refused one is being replaced."""
        with self._lock:
            return self._current()

    def accept(self, token: str | None) -> None:
        """Remember that the API server accepted this token."""
        if token is not None and token not in self._accepted:
            with self._lock:
                self._accepted = {*self._accepted, token}
                self._in_vain = 0

    def has_expired(self, token: str | None, *, patience: int) -> bool:
        """Whether a token is refused because it expired: it, or an earlier one, was accepted.

        With many threads a new token may expire before its first answer arrives. After ``patience``
        consecutive new ones that were never accepted, the client is not authorised.
        """
        return token in self._accepted or bool(self._accepted and self._in_vain < patience)

    def renew(self, refused: str | None) -> bool:
        """Read the token again, once for all threads; return whether it differs from ``refused``.

        ``ClusterError`` if none could be read: a plugin may fail.
        """
        with self._lock:
            if self._current() != refused:
                return True  # another thread has renewed it
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
    """The tries of one request: ``begin`` each, note its status (``heard``), try ``again`` or not.

    None begins after ``until`` (``time.monotonic``), nor after the connection's own limit.
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

        ``status`` is that of the answer, ``None`` for a lost connection. A 401 is retried if there
        is another token now. An expired token is counted separately: all threads share it, and each
        may be refused although the next token is valid.
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
        return not self._under_way.over.wait(seconds)


VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "HEAD": "get"}
"""Kubernetes' verbs by method; for GET the verb depends on the path."""
STREAMS = frozenset({"exec", "portforward"})
"""Subresources that open a stream by a handshake."""


def kind_of(method: str, path: str, *, watched: bool = False) -> str:
    """Return verb and resource of a request: ``list pods``, ``get nodes/proxy``, ``watch events``.

    Requests without a resource, such as ``/version``, are named by their path.
    """
    parts = path.partition("?")[0].strip("/").split("/")
    # samples: api/v1/namespaces/n/pods/p/log, apis/apps/v1/daemonsets, api/v1/namespaces/n, version
    rest = parts[2:] if parts[0] == "api" else parts[3:] if parts[0] == "apis" else []
    if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in {"status", "finalize"}:
        rest = rest[2:]
    if not rest or not rest[0]:
        return f"{VERBS.get(method, 'get')} /{'/'.join(parts)}"
    named, resource = len(rest) > 1, "/".join([rest[0], *rest[2:3]])
    if method == "GET":
        return f"{'watch' if watched else 'get' if named else 'list'} {resource}"
    many = method == "DELETE" and not named
    return f"{'delete collection of' if many else VERBS.get(method, method)} {resource}"


@dataclass(slots=True)
class Sent:
    """Counts requests. Thread-safe."""

    _counts: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, kind: str) -> None:
        """Count a request."""
        with self._lock:
            self._counts[kind] += 1

    def __str__(self) -> str:
        """Return the counts for people."""
        return f"the API server was sent {self.requests} requests, and {self.streams} for exec and port-forward"

    def counts(self) -> Mapping[str, int]:
        """Return the numbers by kind of request, the most frequent first."""
        with self._lock:
            return dict(self._counts.most_common())

    @property
    def requests(self) -> int:
        """The number of requests, including retries and watches."""
        return sum(many for kind, many in self.counts().items() if not _is_stream(kind))

    @property
    def streams(self) -> int:
        """The number of stream handshakes."""
        return sum(many for kind, many in self.counts().items() if _is_stream(kind))


def _is_stream(kind: str) -> bool:
    return kind.rpartition("/")[2] in STREAMS
