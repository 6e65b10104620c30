"""SPDY/3.1 frames, as far as kubectl's port-forward uses them: reading, writing, header compression.

After the SPDY draft 3.1 (draft-mbelshe-httpbis-spdy-00): control frames section 2.2.1, data frames
2.2.2, header blocks 2.6.10. Flow control windows are not kept: kubectl's SPDY library has none.
Pure; ``tunnel`` moves the bytes.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

_WORDS = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language "
    "accept-ranges age allow authorization cache-control connection content-base content-encoding "
    "content-language content-length content-location content-md5 content-range content-type date "
    "etag expect expires from host if-match if-modified-since if-none-match if-range "
    "if-unmodified-since last-modified location max-forwards pragma proxy-authenticate "
    "proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url "
    "public set-cookie keep-alive origin"
)
_TEXT = (
    b"100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    b"203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request"
    b"401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented"
    b"503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 "
    b"Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,"
    b"application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age="
    b"gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)
DICTIONARY = (
    b"".join(
        struct.pack(">I", len(word)) + word.replace("_", " ").encode() for word in _WORDS.split()
    )
    + _TEXT
)
"""The compression dictionary of section 2.6.10.1: words with their lengths, then loose text."""

_CONTROL = 0x8000
_VERSION = 3
_ID = 0x7FFFFFFF
_FIN = 1


class Kind(IntEnum):
    """Control frame types (section 2.6); ``DATA`` stands for frames that are none."""

    DATA = 0
    SYN_STREAM = 1
    SYN_REPLY = 2
    RST_STREAM = 3
    SETTINGS = 4
    PING = 6
    GOAWAY = 7
    HEADERS = 8
    WINDOW_UPDATE = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One frame that was read; ``stream`` is a PING's own number there."""

    kind: Kind
    stream: int = 0
    fin: bool = False
    data: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class ProtocolError(Exception):
    """What came is not SPDY/3."""


class Connection:
    """Both directions' header compression and the bytes that are not a whole frame yet."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(zdict=DICTIONARY)
        self._deflate = zlib.compressobj(zdict=DICTIONARY)
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Take bytes off the wire and yield the frames they complete."""
        self._buffer += data
        while len(self._buffer) >= 8:
            first, second = struct.unpack_from(">II", self._buffer)
            length = second & 0xFFFFFF
            if len(self._buffer) < 8 + length:
                return
            payload = bytes(self._buffer[8 : 8 + length])
            del self._buffer[: 8 + length]
            yield self._frame(first, second >> 24, payload)

    def _frame(self, first: int, flags: int, payload: bytes) -> Frame:
        fin = bool(flags & _FIN)
        if not first >> 31:
            return Frame(kind=Kind.DATA, stream=first & _ID, fin=fin, data=payload)
        version, number = (first >> 16) & 0x7FFF, first & 0xFFFF
        if version != _VERSION or number not in Kind.__members__.values():
            raise ProtocolError(f"control frame of version {version}, type {number}")
        kind = Kind(number)
        stream = struct.unpack_from(">I", payload)[0] & _ID if len(payload) >= 4 else 0
        block = {Kind.SYN_STREAM: 10, Kind.SYN_REPLY: 4, Kind.HEADERS: 4}.get(kind)
        headers = {} if block is None else self._headers(payload[block:])
        return Frame(kind=kind, stream=stream, fin=fin, headers=headers)

    def _headers(self, block: bytes) -> Mapping[str, str]:
        try:
            text = self._inflate.decompress(block)
        except zlib.error as error:
            raise ProtocolError(f"header block: {error}") from error
        (count,) = struct.unpack_from(">I", text)
        at, strings = 4, []
        for _ in range(2 * count):
            (length,) = struct.unpack_from(">I", text, at)
            strings.append(text[at + 4 : at + 4 + length].decode("latin-1"))
            at += 4 + length
        return dict(zip(strings[::2], strings[1::2], strict=True))

    def syn_stream(self, stream: int, headers: Mapping[str, str], *, fin: bool = False) -> bytes:
        """Return the frame that opens a stream."""
        payload = struct.pack(">IIBB", stream, 0, 0, 0) + self._block(headers)
        return _control(Kind.SYN_STREAM, payload, fin=fin)

    def syn_reply(self, stream: int) -> bytes:
        """Return the frame that accepts a stream, without headers."""
        return _control(Kind.SYN_REPLY, struct.pack(">I", stream) + self._block({}))

    def _block(self, headers: Mapping[str, str]) -> bytes:
        text = struct.pack(">I", len(headers))
        for name, value in headers.items():
            for part in (name.encode("latin-1"), value.encode("latin-1")):
                text += struct.pack(">I", len(part)) + part
        return self._deflate.compress(text) + self._deflate.flush(zlib.Z_SYNC_FLUSH)


def _control(kind: Kind, payload: bytes, *, fin: bool = False) -> bytes:
    flags = _FIN if fin else 0
    return struct.pack(">HHI", _CONTROL | _VERSION, kind, flags << 24 | len(payload)) + payload


def data(stream: int, payload: bytes, *, fin: bool = False) -> bytes:
    """Return a data frame."""
    return struct.pack(">II", stream, (_FIN if fin else 0) << 24 | len(payload)) + payload


def ping(number: int) -> bytes:
    """Return a PING, which the other side sends back."""
    return _control(Kind.PING, struct.pack(">I", number))


def reset(stream: int, status: int = 5) -> bytes:
    """Return an RST_STREAM; 5 is CANCEL."""
    return _control(Kind.RST_STREAM, struct.pack(">II", stream, status))


def go_away(last: int) -> bytes:
    """Return a GOAWAY without an error."""
    return _control(Kind.GOAWAY, struct.pack(">II", last, 0))
