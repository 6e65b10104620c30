"""Delay and reorder frames: take them off the wire, keep them for a while, put them back.

The kernel's own queue for this (netem) is not everywhere, so the lab does it itself: nft hands frames to a tap device
on the bridge, the event loop reads them and writes each back when its time has come. The bridge learns nothing at the
tap and floods nothing to it, so only frames that were handed over pass here.
"""

import asyncio
import errno
import fcntl
import os
import random
import struct
from contextlib import suppress

_TUN = "/dev/net/tun"
_TUNSETIFF = 0x400454CA
_TAP_WITHOUT_HEADER = 0x0002 | 0x1000
"""``IFF_TAP | IFF_NO_PI`` of linux/if_tun.h."""
_LARGEST = 65_600


def open_tap(name: str) -> int:
    """Make a tap device in the calling thread's namespace; return its descriptor. ``OSError`` where none can be had."""
    descriptor = os.open(_TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.ioctl(
            descriptor, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _TAP_WITHOUT_HEADER)
        )
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


class Detour:
    """Writes back what it reads from a tap device: ``seconds`` later, and up to ``jitter`` more, at random.

    ``every`` holds back one frame of so many and lets the others pass at once. Closing loses what is held.
    """

    def __init__(
        self, descriptor: int, seconds: float, jitter: float, every: int, seed: int
    ) -> None:
        self._descriptor = descriptor
        self._seconds, self._jitter, self._every = seconds, jitter, every
        self._dice = random.Random(seed)  # noqa: S311  # an order of packets, not a secret
        self._count = 0
        self._held: set[asyncio.TimerHandle] = set()

    def start(self) -> None:
        """Carry frames in the running loop."""
        asyncio.get_running_loop().add_reader(self._descriptor, self._take)

    def close(self) -> None:
        """Stop, and close the device, which removes it."""
        asyncio.get_running_loop().remove_reader(self._descriptor)
        for timer in self._held:
            timer.cancel()
        self._held.clear()
        os.close(self._descriptor)

    def _take(self) -> None:
        with suppress(BlockingIOError):
            while True:
                self._pass_on(os.read(self._descriptor, _LARGEST))

    def _pass_on(self, frame: bytes) -> None:
        self._count += 1
        if self._every > 1 and self._count % self._every:
            self._write(frame)
            return
        wait = self._seconds + self._dice.random() * self._jitter
        timer: asyncio.TimerHandle

        def due() -> None:
            self._held.discard(timer)
            self._write(frame)

        timer = asyncio.get_running_loop().call_later(wait, due)
        self._held.add(timer)

    def _write(self, frame: bytes) -> None:
        try:
            os.write(self._descriptor, frame)
        except OSError as failure:
            # a full queue loses frames, as a wire does; a device that is down carries none
            if failure.errno not in {errno.EAGAIN, errno.ENOBUFS, errno.EIO}:
                raise
