"""SPDY frames, as far as port-forward needs them."""

import struct
import zlib

import pytest

from nettests.lab.apiserver import spdy
from nettests.lab.apiserver.spdy import Kind


def test_the_dictionary_is_the_standard_one() -> None:
    """Length and checksum of SPDY/3's dictionary, which zlib streams name by its Adler-32."""
    assert len(spdy.DICTIONARY) == 1423
    assert zlib.adler32(spdy.DICTIONARY) == 0xE3C6A7C2


def test_headers_survive_the_way() -> None:
    """Two streams in a row share one compression state."""
    there, here = spdy.Connection(), spdy.Connection()
    for number in (1, 3):
        headers = {"streamtype": "data", "port": "8080", "requestid": str(number)}
        (frame,) = here.feed(there.syn_stream(number, headers))
        assert (frame.kind, frame.stream, frame.headers) == (Kind.SYN_STREAM, number, headers)


def test_frames_may_come_in_pieces() -> None:
    """A frame is complete when its last byte is there."""
    wire = spdy.data(5, b"hello", fin=True) + spdy.ping(7)
    connection = spdy.Connection()
    frames = [frame for byte in wire for frame in connection.feed(bytes([byte]))]
    assert [(f.kind, f.stream, f.data, f.fin) for f in frames] == [
        (Kind.DATA, 5, b"hello", True),
        (Kind.PING, 7, b"", False),
    ]


@pytest.mark.parametrize(
    "wire",
    [
        struct.pack(">HHI", 0x8002, 1, 0),
        struct.pack(">HHI", 0x8003, 99, 0),
        struct.pack(">HHI", 0x8003, 1, 14) + b"\x00" * 10 + b"junk",
    ],
)
def test_what_is_not_spdy_is_refused(wire: bytes) -> None:
    """Another version, an unknown type, a header block that is none."""
    with pytest.raises(spdy.ProtocolError):
        list(spdy.Connection().feed(wire))


def test_control_frames_have_their_layout() -> None:
    """Version 3, type, length, then the fields."""
    assert spdy.reset(9, 1) == struct.pack(">HHIII", 0x8003, 3, 8, 9, 1)
    assert spdy.go_away(4) == struct.pack(">HHIII", 0x8003, 7, 8, 4, 0)
