"""Talk to the API server: one client per thread, bounded time-outs and retries, readable errors.

Objects are dictionaries, as they are recorded and reported. Callers decide what a 404 or 409 means;
every other failure is a ``ClusterError``.
"""

import math
import random
import threading
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

import urllib3
from kubernetes import client
from kubernetes.client.exceptions import ApiException

from nettests.bounds import Bounds, for_requests
from nettests.cluster.client import Client, lines, whole
from nettests.cluster.failures import (
    RETRIED,
    Answer,
    ApiError,
    ClosedError,
    SilentError,
    SlowError,
    TlsError,
    distrust,
    failure,
)
from nettests.cluster.kubeconfig import Chosen
from nettests.cluster.retries import UNAUTHORIZED, Credentials, Sent, Tries, UnderWay, kind_of
from nettests.cluster.shared_watch import SharedWatch
from nettests.deadlines import came_too_slowly
from nettests.errors import ClusterError
from nettests.model import limits
from nettests.model.cluster_profile import Timing
from nettests.model.json_text import Object, read_json
from nettests.model.limits import TooBigError, TooMuchError

__all__ = ["Answer", "ApiError"]

Query = Mapping[str, str | int | bool]

JSON = "application/json"
BACKGROUND, FOREGROUND = "Background", "Foreground"
"""How dependents of a deleted object are removed: after it, or before."""
WATCH_END_SECONDS = 10.0
"""How long a server may take to end a watch after its time-out."""
METADATA = f"{JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,{JSON}"
"""Lists of metadata only; whole objects from aggregated APIs that cannot do that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handshake:
    """The request that opens a WebSocket, with the current credentials."""

    configuration: client.Configuration
    url: str
    headers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request; without a ``timeout`` it has the profile's time-outs."""

    method: str
    path: str
    query: Query | None = None
    body: Object | None = None
    timeout: tuple[float, float] | None = None
    accept: str = JSON

    def __str__(self) -> str:
        """Return the request as errors name it."""
        return f"{self.method} {self.path}"


class Connection:
    """One cluster, for any number of threads.

    Threads never share a client at the same time: a keep-alive connection is serial.
    """

    def __init__(self, chosen: Chosen, timing: Timing | None = None) -> None:
        self.context = chosen.context
        self.timing = timing or Timing()
        self.bounds = Bounds.of(self.timing)
        self.version: str | None = None
        """The API server's ``gitVersion``, once read."""
        self.server = chosen.configuration.host
        self._configuration = chosen.configuration
        self._impersonation = chosen.impersonation
        self.sent = Sent()
        """Counts requests and handshakes of streams, including retries and watches."""
        self.shared: dict[str, SharedWatch] = {}
        self._idle: list[Client] = []
        self.under_way = UnderWay()
        self._lock = threading.Lock()
        self._slots = for_requests(self.bounds)
        self._credentials = Credentials(chosen)
        self._random = random.Random()  # noqa: S311 - jitter

    @contextmanager
    def borrowed(self) -> Iterator[Client]:
        """Lend a client to one thread, an idle one if possible; ``ClosedError`` after ``close``."""
        if self.under_way.over.is_set():
            raise ClosedError(f"the connection to {self.server} was closed: the run is over")
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        lent = idle or Client(self._configuration, self._impersonation)
        lent.patience.renew()
        try:
            with self.under_way.cutting(lent.patience.give_up):
                yield lent
        finally:
            with self._lock:
                if kept := not self.under_way.over.is_set():
                    self._idle.append(lent)
            if not kept:
                lent.close()

    def close(self) -> None:
        """Close every connection, open no other, and cut running requests. May be called twice."""
        self.under_way.end()
        with self._lock:
            idle, self._idle = self._idle, []
        for lent in idle:
            lent.close()

    def get(self, path: str, **query: str | int | bool) -> Object:
        """Read one object or list."""
        return self._object(self.request("GET", path, query=query))

    def items(self, path: str, **query: str | int | bool) -> list[Object]:
        """Read all items of a list, page by page."""
        return self._items(path, query, JSON)

    def metadata(self, path: str, **query: str) -> list[Object]:
        """Read the metadata of all items of a list: contents of Secrets stay on the server."""
        return self._items(path, query, METADATA)

    def metadata_of(self, path: str) -> Object:
        """Read the metadata of one object."""
        accept = METADATA.replace("MetadataList", "Metadata")
        return self._object(self.request("GET", path, accept=accept))

    def _items(self, path: str, query: Query, accept: str) -> list[Object]:
        items: list[Object] = []
        page: dict[str, str | int | bool] = {"limit": 500, **query}
        for _ in range(limits.PAGES):
            listed = self._object(self.request("GET", path, query=page, accept=accept))
            listed_items, metadata = listed.get("items") or [], listed.get("metadata") or {}
            if not isinstance(listed_items, list) or not isinstance(metadata, dict):
                raise ApiError(f"GET {path}: the answer is no list", status=200)
            items += listed_items
            if not isinstance(token := metadata.get("continue"), str) or not token:
                return items
            page["continue"] = token
        raise TooBigError(f"the list {path} does not end after {limits.PAGES} pages")

    def text(self, path: str, **query: str | int | bool) -> str:
        """Read text, such as a log."""
        return self.request("GET", path, query=query).text

    def create(self, path: str, body: Object) -> Object:
        """Create an object; a retry after a lost answer may raise 409 for the own object."""
        return self._object(self.request("POST", path, body=body))

    def delete(
        self,
        path: str,
        *,
        uid: str | None = None,
        version: str | None = None,
        propagation: str | None = None,
    ) -> None:
        """Delete an object; no error if it is gone.

        With ``uid`` or ``version`` only exactly that object or version is deleted: 409 for any
        other. ``propagation`` says how dependents are removed; each kind has its own default.
        """
        conditions = {"uid": uid, "resourceVersion": version}
        stated = {key: value for key, value in conditions.items() if value}
        body: Object = {"preconditions": stated} if stated else {}
        body |= {"propagationPolicy": propagation} if propagation else {}
        try:
            self.request("DELETE", path, body=body or None)
        except ApiError as error:
            if error.status != 404:
                raise

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Object | None = None,
        accept: str = JSON,
    ) -> Answer:
        """Send a request until it is answered; ``ApiError`` for a permanent failure."""
        answer = self.answer(ApiRequest(method, path, query=query, body=body, accept=accept))
        if answer.status >= 400:
            raise failure(method, path, answer, self.server, self.context)
        return answer

    def answer(
        self,
        request: ApiRequest,
        *,
        retried: Collection[int] = RETRIED,
        most: int | None = None,
    ) -> Answer:
        """Send a request until a retry cannot improve the answer; return the last one.

        With the caller's own ``timeout``, a time-out raises and nothing is retried. At most
        ``most`` bytes are read.
        """
        tries = self.tries()
        while True:
            tries.begin()
            try:
                answer = self.send(request, most)
            except (ClosedError, TlsError, TooBigError, SlowError):
                raise
            except ClusterError as error:
                silence = request.timeout is not None and isinstance(error, SilentError)
                if silence or not tries.again():
                    raise
                continue
            tries.heard(answer.status)
            if answer.status != UNAUTHORIZED and answer.status not in retried:
                return answer
            if not tries.again(answer.status, answer.retry_after):
                return answer

    def tries(self, until: float = math.inf) -> Tries:
        """Return the tries of a request or handshake; none begins after ``until``."""
        return Tries(self.timing, self._credentials, self._random, self.under_way, until)

    def send(self, request: ApiRequest, most: int | None = None) -> Answer:
        """Send a request once and return the answer, whatever its status.

        The caller's time-outs together, or the profile's ``api_answer``, limit the whole answer.
        ``Bounds.requests`` limits concurrent requests, except those with the caller's time-outs,
        which may involve more than the API server.
        """
        timeout = request.timeout
        silences = timeout or (self.timing.api_connect, self.timing.api_read)
        whole_answer = sum(timeout) if timeout else self.timing.api_answer
        slots: AbstractContextManager[object] = self._slots if timeout is None else nullcontext()
        with slots, self.borrowed() as lent:
            lent.patience.begin(whole_answer)
            response = self._open(lent, request, silences)
            try:
                data = whole(
                    lambda size: response.read(size, decode_content=True),
                    limits.ANSWER_BYTES if most is None else most,
                    f"the answer to {request}",
                )
            except TooBigError:
                response.close()
                raise
            except urllib3.exceptions.HTTPError as error:
                raise self._unreachable(error, str(request)) from error
        headers = response.headers
        return Answer(
            status=response.status,
            body=data,
            content_type=headers.get("Content-Type", ""),
            retry_after=headers.get("Retry-After"),
        )

    def watch(
        self, path: str, *, seconds: float, **query: str | int | bool
    ) -> Generator[Object, None, None]:
        """Yield watch events (``type``, ``object``) until the server ends the watch.

        ``ClusterError`` if a watch cannot be opened, breaks off, or is not ended within
        ``WATCH_END_SECONDS`` after its time: the caller lists again.
        """
        query = {**query, "watch": True, "timeoutSeconds": max(1, int(seconds))}
        longest = max(1, seconds) + WATCH_END_SECONDS
        silences = (self.timing.api_connect, longest)
        with self.borrowed() as lent:
            tries = self.tries()
            while True:
                tries.begin()
                lent.patience.begin(longest)
                response = self._open(lent, ApiRequest("GET", path, query=query), silences)
                tries.heard(response.status)
                if response.status != UNAUTHORIZED or not tries.again(response.status):
                    break
                response.close()
            try:
                if response.status >= 400:
                    body = whole(response.read, limits.ANSWER_BYTES, f"the answer to GET {path}")
                    answer = Answer(status=response.status, body=body)
                    raise failure("GET", path, answer, self.server, self.context)
                for line in lines(response, limits.WATCH_LINE_BYTES, f"an event of {path}"):
                    if line.strip():
                        yield read_json(line)
            except (urllib3.exceptions.HTTPError, ValueError) as error:
                raise self._unreachable(error, f"watching {path}") from error
            finally:
                response.close()

    def _open(
        self, lent: Client, request: ApiRequest, silences: tuple[float, float]
    ) -> urllib3.BaseHTTPResponse:
        headers, query = {"Accept": request.accept}, request.query or {}
        if request.body is not None:
            headers["Content-Type"] = JSON
        serialized = lent.param_serialize(
            request.method,
            request.path,
            query_params=[(key, _spelled(value)) for key, value in query.items()],
            header_params=headers,
            body=request.body,
            auth_settings=["BearerToken"],
        )
        self.sent.count(kind_of(request.method, request.path, watched=bool(query.get("watch"))))
        try:
            opened: urllib3.BaseHTTPResponse = lent.call_api(
                *serialized, _request_timeout=silences
            ).response
        except ApiException as error:  # the client turns TLS failures into this one
            raise TlsError(
                f"the API server {self.server} was not trusted: {error.reason}",
                hint=distrust(str(error.reason)),
            ) from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise self._unreachable(error, str(request)) from error
        return opened

    def handshake(self, path: str, query: Sequence[tuple[str, str]]) -> Handshake:
        """Return the request that opens a WebSocket at ``path``, with the current credentials.

        The library's generated API classes would do the same, but import all models of Kubernetes,
        which takes two seconds.
        """
        self.sent.count(kind_of("GET", path))
        with self.borrowed() as lent:
            _, url, headers, *_ = lent.param_serialize(
                "GET", path, query_params=list(query), auth_settings=["BearerToken"]
            )
        return Handshake(configuration=self._configuration, url=url, headers=tuple(headers.items()))

    def _unreachable(self, error: Exception, request: str) -> ClusterError:
        if came_too_slowly(error):
            return SlowError(
                f"the API server {self.server} (context {self.context}) began to answer {request} and did not "
                "end by the deadline",
                hint="does something between here and it let little through? "
                "timing.apiAnswer of a cluster profile sets the deadline",
            )
        silent = isinstance(error, urllib3.exceptions.ReadTimeoutError)
        return (SilentError if silent else ClusterError)(
            f"the API server {self.server} (context {self.context}) cannot be reached: {error}",
            hint="is the cluster up, and does `kubectl version` work from this machine?",
        )

    def _object(self, answer: Answer) -> Object:
        try:
            loaded: Object = read_json(answer.body)
        except TooMuchError as error:
            raise TooBigError(f"an answer of {self.server} was not read: {error}") from error
        except ValueError as error:
            raise ClusterError(
                f"{self.server} did not answer with JSON; is it a Kubernetes API server?"
            ) from error
        if not isinstance(loaded, dict):
            raise ClusterError(
                f"{self.server} did not answer with an object; is it a Kubernetes API server?"
            )
        return loaded


def _spelled(value: str | int) -> str:
    return str(value).lower() if value is True or value is False else str(value)
