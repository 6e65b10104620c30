"""Every loop that receives ends by its deadline and within a bound of work, whatever an API server sends."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest

from nettests.cluster.execute import Exec, attach, converse
from nettests.cluster.port_forward import PortForward
from nettests.errors import ClusterError
from nettests.model.channel import ChannelError
from tests.cluster.api import message
from tests.cluster.hostile import Wire, frame, hostile
from tests.cluster.test_hostile import GONE_SECONDS, HEAD, OPENED, Opened, hung_up_on, opened, small

__all__ = ["opened", "small"]


SAYS = {
    "empty messages": frame(b""),
    "pings": bytes([0x89, 0]),
    "closed channels": frame(bytes([255, 1])),
    "bytes": message(1, b"x"),
    "unknown channels": message(77, b"x"),
}
"""What a server sends frame by frame that brings no loop nearer to its end."""
LISTENS = {
    "exec": lambda to: Exec(to, "ns", "p", "c", threading.Semaphore()).run(["x"], timeout=0.3),
    "attach": lambda to: attach(to, "ns", "p", "c", until="never said"),
    "converse": lambda to: converse(to, "ns", "p", "c", ["x"]).hear(lambda _: False, seconds=0.3),
    "port-forward": lambda to: PortForward(to, "ns", "p", 80).get("/hostname", timeout=0.3),
    "words of a port": lambda to: PortForward(to, "ns", "p", 80).read(timeout=0.3),
    "watch": lambda to: list(to.watch("/api/v1/pods", seconds=0.1)),
}
"""Every loop that receives until something comes, with a deadline of its own."""


@pytest.mark.parametrize("flooded", [False, True], ids=["dripped", "flooded"])
@pytest.mark.parametrize(
    ("loop", "said"),
    [(loop, said) for loop in LISTENS for said in SAYS if loop != "watch"] + [("watch", "bytes")],
)
def test_no_loop_is_held_by_what_is_no_progress(
    opened: Opened, loop: str, said: str, *, flooded: bool
) -> None:
    """Whatever comes, slowly or as fast as it is taken: the deadline is absolute, and the work has a bound."""
    part = b"\n" if loop == "watch" else SAYS[said]

    def speak(path: str, wire: Wire) -> None:
        if loop == "watch":
            wire.send(HEAD)
        else:
            wire.switch()
            wire.send(OPENED if "port" in loop else b"")
        if flooded:
            wire.flood(part * 50)
        while not wire.server.over.wait(0.02):
            wire.send(part)

    with hostile(speak) as server, ThreadPoolExecutor(1) as pool:
        connection_ = opened(server.url)
        connection_.timing = replace(connection_.timing, execute=0.3, channel_tries=1)
        listening = pool.submit(LISTENS[loop], connection_)
        with suppress(ClusterError, ChannelError):
            listening.result(timeout=GONE_SECONDS)
        connection_.close()
        assert hung_up_on(server) or loop == "converse"
