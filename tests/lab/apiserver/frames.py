"""Replay of a recorded WebSocket: handshake, frames sent, frames received, close."""

from dataclasses import dataclass
from typing import Any

import aiohttp
from yarl import URL

from tests.lab.apiserver.compare import collapse, compare_headers
from tests.lab.apiserver.shapes import settled

Json = dict[str, Any]

SECONDS = 20.0


@dataclass(slots=True)
class WebSocketRow:
    """Replays one WebSocket row: handshake, frames sent, frames received, close."""

    session: aiohttp.ClientSession
    path: str
    row: Json

    async def replay(self, headers: dict[str, str]) -> list[str]:
        """Return what differs."""
        accepted = self.row["status"].split()[1] == "101"
        upgrade = {
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        }
        url = URL(self.path, encoded=True)
        if not accepted:
            async with self.session.get(url, headers={**headers, **upgrade}) as response:
                return await self._refused(response)
        protocols = [name.strip() for name in headers.pop("Sec-WebSocket-Protocol", "").split(",")]
        try:
            async with self.session.ws_connect(
                url,
                headers=headers,
                protocols=[name for name in protocols if name],
                autoclose=False,
                max_msg_size=0,
            ) as socket:
                return await self._talk(socket)
        except aiohttp.WSServerHandshakeError as error:
            return [f"handshake: {error.status} {error.message}"]

    async def _refused(self, response: aiohttp.ClientResponse) -> list[str]:
        status = f"HTTP/1.1 {response.status} {response.reason}"
        complaints = [] if status == self.row["status"] else [f"{status}, not {self.row['status']}"]
        text = await response.text()
        if settled(text) != settled(self.row["body"]):
            complaints.append(f"{text!r}, not {self.row['body']!r}")
        return complaints + compare_headers(self.row["headers"], response.headers)

    async def _talk(self, socket: aiohttp.ClientWebSocketResponse) -> list[str]:
        recorded = dict(self.row["headers"]).get("Sec-WebSocket-Protocol", "")
        complaints = []
        if (socket.protocol or "") != recorded:
            complaints.append(f"subprotocol {socket.protocol!r}, not {recorded!r}")
        for frame in self.row["frames"]:
            if frame["dir"] == "send":
                await socket.send_bytes(bytes.fromhex(frame["hex"]))
        wanted = [frame for frame in self.row["frames"] if frame["dir"] == "recv"]
        got = await self._receive(socket, closes=self.row["ended"] == "close frame")
        return complaints + _frame_complaints(wanted, got)

    async def _receive(
        self, socket: aiohttp.ClientWebSocketResponse, *, closes: bool
    ) -> list[tuple[int, bytes]]:
        """Return (opcode, payload) of each frame; without a recorded close, of the first moment."""
        frames: list[tuple[int, bytes]] = []
        seconds = SECONDS if closes else 0.5
        try:
            while True:
                message = await socket.receive(timeout=seconds)
                match message.type:
                    case aiohttp.WSMsgType.BINARY:
                        frames.append((2, message.data))
                    case aiohttp.WSMsgType.TEXT:
                        frames.append((1, message.data.encode()))
                    case aiohttp.WSMsgType.CLOSE:
                        frames.append((8, int(message.data or 0).to_bytes(2, "big")))
                        await socket.close()
                        return frames
                    case _:
                        return frames
        except TimeoutError:
            await socket.close()
            return frames


def _frame_complaints(wanted: list[Json], got: list[tuple[int, bytes]]) -> list[str]:
    want = [_recorded_frame(frame) for frame in wanted]
    have = [_answered_frame(opcode, data) for opcode, data in got]
    return [] if _joined(want) == _joined(have) else [f"{_joined(have)}, not {_joined(want)}"]


def _joined(frames: list[tuple[int, int | None, str]]) -> list[tuple[int, int | None, str]]:
    """Join the text of neighbouring frames of a channel: how data is cut is a matter of timing."""
    joined: list[tuple[int, int | None, str]] = []
    for opcode, channel, text in frames:
        if joined and text and joined[-1][2] and joined[-1][:2] == (opcode, channel):
            joined[-1] = (opcode, channel, joined[-1][2] + text)
        else:
            joined.append((opcode, channel, text))
    return joined


def _recorded_frame(frame: Json) -> tuple[int, int | None, str]:
    if frame["opcode"] == 8:
        return (8, None, frame["hex"])
    text = "<base64>" if frame["opcode"] == 1 and frame["len"] > 8 else frame["text"]
    return (frame["opcode"], frame["channel"], _settled_frame(text))


def _answered_frame(opcode: int, data: bytes) -> tuple[int, int | None, str]:
    if opcode == 8:
        return (8, None, data.hex())
    text = data[1:].decode("utf-8", "replace")
    if opcode == 1 and len(data) > 8:
        text = "<base64>"
    return (opcode, data[0], _settled_frame(text))


def _settled_frame(text: str) -> str:
    for name in ("Date: ", "Server: "):
        text = "\r\n".join(line for line in text.split("\r\n") if not line.startswith(name))
    text = "\r\n".join(sorted(text.split("\r\n"))) if text.startswith("HTTP/") else text
    return collapse("".join("#" if c.isdigit() else c for c in settled(text)))
