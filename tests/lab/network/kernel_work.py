"""How much work of the kernel a lab takes: counted in the isolated child, for tests of how it grows."""

from typing import Any

from pyroute2.netlink.nlsocket import NetlinkRequest

from nettests.lab.network import nft


class Work:
    """Counts netlink requests and nft runs of this process, from when it is made."""

    def __init__(self) -> None:
        self.netlink_requests = 0
        self.nft_runs = 0
        send, load = NetlinkRequest.send, nft.load

        async def counted_send(request: Any) -> None:
            self.netlink_requests += 1
            await send(request)

        def counted_load(fd: int, ruleset: str) -> str:
            self.nft_runs += 1
            return load(fd, ruleset)

        NetlinkRequest.send = counted_send
        nft.load = counted_load
