"""The child process of ``isolation.probe_isolation``: try what the lab needs, and report what fails.

Run as ``python -m nettests.lab.network.isolation_probe``; exit code 0, or 1 with the reason on
standard output. Everything it creates vanishes when it ends.
"""

import sys
from importlib.resources import files
from pathlib import Path

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from nettests.lab.network import kernel, nft
from nettests.lab.network.isolation import IsolationError, enter_isolated_namespaces, explain

_SAMPLE = (files(__package__) / "isolation_probe.nft").read_text("utf-8")
"""One of each expression that the lab's rules use."""


def _make_links() -> None:
    with IPRoute() as routes:
        routes.link("add", ifname="probe0", kind="veth", peer={"ifname": "probe1"})
        routes.link(
            "add",
            ifname="probe2",
            kind="vxlan",
            vxlan_id=4096,
            vxlan_port=4789,
            vxlan_learning=False,
        )


def _load_rules() -> None:
    """Load a sample of rules; skipped without nft, which the caller reports by ``find_nft``."""
    try:
        nft.find_nft()
    except nft.NftError:
        return
    namespace = kernel.open_network()
    nft.load(namespace, _SAMPLE)


def reason() -> str | None:
    """Enter the namespaces, create links and rules, write a setting; return why that fails, or ``None``."""
    try:
        enter_isolated_namespaces()
        _make_links()
        _load_rules()
    except nft.NftError as failure:
        return f"nft or the kernel lacks something that the lab's rules need: {failure}"
    except IsolationError as failure:
        return str(failure)
    except NetlinkError as failure:
        return explain(
            OSError(failure.code, f"{failure.args[1]}, when making a veth or VXLAN link")
        )
    try:
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1", encoding="ascii")
    except OSError as failure:
        return (
            f"cannot write /proc/sys/net in a namespace of our own: {failure.strerror}. "
            "A container runtime mounts it read-only; run outside the container or privileged."
        )
    return None


if __name__ == "__main__":
    problem = reason()
    sys.stdout.write(problem or "")
    sys.exit(1 if problem else 0)
