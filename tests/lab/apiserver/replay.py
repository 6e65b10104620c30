"""The replay of recorded requests against any API server, and the comparison row by row.

Works on a base URL and a token, so that it runs against the API server alone (with the test's own
nodes) and against a whole lab. Rows are sent in the order of the recording; what the recorder did
between rows without writing it down is in ``PREPARATIONS``.
"""

import asyncio
import base64
import contextlib
import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from ruamel.yaml import YAML
from yarl import URL

from tests.lab.apiserver.compare import alike, compare_bodies, compare_headers
from tests.lab.apiserver.frames import SECONDS, WebSocketRow
from tests.lab.apiserver.preparations import (
    BODY_OF_A_MOMENT,
    FIRST_POD,
    NAMESPACE,
    PREPARATIONS,
    REWRITES,
)

Json = dict[str, Any]

TRANSCRIPTS = Path(__file__).parents[2] / "fixtures" / "transcripts"


def rows(name: str) -> dict[int, Json]:
    """Return the rows of a transcript by line number."""
    text = (TRANSCRIPTS / name).read_text(encoding="utf-8")
    return {number: json.loads(line) for number, line in enumerate(text.splitlines(), 1)}


@dataclass(slots=True, kw_only=True)
class Cluster:
    """Where to replay. ``nodes`` maps the recording's node names to the cluster's own."""

    base_url: str
    token: str
    tls: ssl.SSLContext | None = None
    nodes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_kubeconfig(cls, path: Path, nodes: Mapping[str, str]) -> "Cluster":
        """Return the cluster of a kubeconfig with a token and an inline certificate authority."""
        document = YAML(typ="safe").load(path)
        cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        tls = ssl.create_default_context(cadata=authority)
        return cls(base_url=cluster["server"], token=user["token"], tls=tls, nodes=nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What came back for an http row."""

    status: str
    headers: Mapping[str, str]
    text: str

    def compare(self, line: int, row: Json) -> list[str]:
        """Return what is not as recorded."""
        complaints = [] if self.status == row["status"] else [f"{self.status}, not {row['status']}"]
        complaints += compare_headers(row["headers"], self.headers)
        if line not in BODY_OF_A_MOMENT:
            complaints += compare_bodies(row, self.text)
        return complaints


@dataclass(slots=True)
class Replay:
    """One run through the transcript; ``differences`` holds the complaints by line number.

    Some rows retry at once, before a deletion is through: answers are compared when all are there.
    """

    cluster: Cluster
    differences: dict[int, list[str]] = field(default_factory=dict)
    events: list[Json] = field(default_factory=list)
    _session: aiohttp.ClientSession | None = None
    _told: int = 0
    _answers: dict[int, _Answer] = field(default_factory=dict)

    @property
    def session(self) -> aiohttp.ClientSession:
        """The HTTP session."""
        assert self._session is not None
        return self._session

    async def run(self, transcript: Mapping[int, Json]) -> None:
        """Replay every row."""
        connector = aiohttp.TCPConnector(ssl=self.cluster.tls or False)
        async with aiohttp.ClientSession(
            self.cluster.base_url,
            connector=connector,
            headers={"User-Agent": "probe"},
            skip_auto_headers=("Accept-Encoding", "Accept"),
            auto_decompress=False,
        ) as session:
            self._session = session
            watcher: asyncio.Task[None] | None = None
            for line, row in transcript.items():
                if line in PREPARATIONS:
                    await PREPARATIONS[line](self)
                if line == FIRST_POD:
                    watcher = asyncio.create_task(self._watch())
                    await self.until(lambda: bool(self.events))
                await self._row(line, row)
            if watcher:
                watcher.cancel()
                await asyncio.gather(watcher, return_exceptions=True)
        for line, answer in self._answers.items():
            self._note(line, answer.compare(line, transcript[line]))

    async def _row(self, line: int, row: Json) -> None:
        match row["kind"]:
            case "http":
                self._answers[line] = await self._http(line, row)
            case "websocket":
                self._note(line, await self._websocket(row))
            case "watch-event":
                self._note(line, await self._watched(row))

    def _note(self, line: int, complaints: list[str]) -> None:
        if complaints:
            self.differences[line] = complaints

    def headers(self, *, known: bool = True) -> dict[str, str]:
        """Return the credentials."""
        return {"Authorization": f"Bearer {self.cluster.token}"} if known else {}

    def path(self, path: str) -> str:
        """Return a path with the cluster's own node names."""
        for recorded, own in self.cluster.nodes.items():
            for end in ("/", ":"):
                path = path.replace(f"/nodes/{recorded}{end}", f"/nodes/{own}{end}")
            path = path.removesuffix(f"/nodes/{recorded}") + (
                f"/nodes/{own}" if path.endswith(f"/nodes/{recorded}") else ""
            )
        return path

    async def _http(self, line: int, row: Json) -> _Answer:
        requested = row["request"]
        headers = {**self.headers(known=requested["client_cert"]), **requested["headers"]}
        body = requested["body"]
        if line in REWRITES:
            body = await REWRITES[line](self)
        async with self.session.request(
            requested["method"],
            URL(self.path(requested["path"]), encoded=True),
            headers=headers,
            data=body,
            allow_redirects=False,
        ) as response:
            text = await response.text()
            status = f"HTTP/1.1 {response.status} {response.reason}"
            return _Answer(status=status, headers=response.headers, text=text)

    async def _websocket(self, row: Json) -> list[str]:
        headers = self.headers()
        if row["offered"]:
            headers["Sec-WebSocket-Protocol"] = row["offered"]
        path = self.path(row["path"])
        return await WebSocketRow(self.session, path, row).replay(headers)

    async def _watched(self, row: Json) -> list[str]:
        """Find an event, and wait for bookmarks, which come once the collection is quiet."""
        if row["type"] == "BOOKMARK":
            with contextlib.suppress(TimeoutError):
                await self.until(lambda: not self._event(row))
        return self._event(row)

    def _event(self, row: Json) -> list[str]:
        """Find an event of that type and shape, not before those of earlier rows.

        How often a kubelet reports a status that changes nothing but a time is its own affair, so one
        event may stand for two rows; bookmarks come by the clock and have no place in the order.
        """
        ordered = row["type"] != "BOOKMARK"
        start = self._told if ordered else 0
        for index, event in enumerate(self.events[start:], start):
            if event["type"] == row["type"] and alike(row["object"], event["object"]):
                self._told = index if ordered else self._told
                return []
        left = [event["type"] for event in self.events[start:]]
        return [f"no {row['type']} event of this shape among {left}"]

    async def _watch(self) -> None:
        query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        async with self.session.get(
            f"{NAMESPACE}/pods?{query}",
            headers=self.headers(),
            timeout=aiohttp.ClientTimeout(total=None),
        ) as response:
            async for part in response.content:
                if part.strip():
                    event = json.loads(part)
                    name = event["object"]["metadata"].get("name")
                    if event["type"] == "BOOKMARK" or name == "p1":
                        self.events.append(event)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition, at most so long."""
        async with asyncio.timeout(SECONDS):
            while not condition():
                await asyncio.sleep(0.02)

    async def get(self, path: str) -> Json:
        """Return an object, or its ``Status``."""
        async with self.session.get(path, headers=self.headers()) as response:
            answer: Json = json.loads(await response.text())
            return answer

    async def post(self, path: str, item: Json) -> None:
        """Create an object."""
        async with self.session.post(path, headers=self.headers(), json=item) as response:
            assert response.status == 201, await response.text()

    async def wait_for(self, path: str, condition: Callable[[Json], Any]) -> None:
        """Wait until an object satisfies a condition."""
        async with asyncio.timeout(SECONDS):
            while not condition(await self.get(path)):
                await asyncio.sleep(0.05)
