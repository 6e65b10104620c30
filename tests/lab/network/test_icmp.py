"""Ping: between pods it works everywhere, out of a Windows pod it is lost where NAT would be needed."""

import pytest

from nettests.lab.topology import Driver
from tests.lab.network.clusters import (
    LINUX,
    NODE_ADDRESS,
    VIP,
    WIN_A,
    WIN_B,
    backend,
    profile,
    service,
)
from tests.lab.network.conftest import StartLab
from tests.lab.network.requests_of_pods import Ask

OUTSIDE = "198.51.100.10"
# fmt: off
TABLE = {
    # source, target                  l2bridge   overlay
    ("client", "pod local"):         ("replied", "replied"),
    ("client", "pod remote"):        ("replied", "replied"),
    ("client", "pod linux"):         ("replied", "replied"),
    ("client", NODE_ADDRESS[WIN_A]): ("replied", "replied"),
    ("client", NODE_ADDRESS[LINUX]): ("replied", "timed out"),
    ("client", OUTSIDE):             ("timed out", "timed out"),
    ("client", VIP):                 ("timed out", "timed out"),
    ("linux", "pod remote"):         ("replied", "replied"),
    ("linux", OUTSIDE):              ("replied", "replied"),
    (WIN_A, OUTSIDE):                ("replied", "replied"),
    (WIN_A, "pod local"):            ("replied", "replied"),
}
# fmt: on
DRIVERS = (Driver.L2BRIDGE, Driver.OVERLAY)
Answers = dict[tuple[str, str, Driver], str]


@pytest.fixture(scope="module")
def answers(start_shared_lab: StartLab) -> Answers:
    """Ping along all rows, on both drivers."""
    seen: Answers = {}
    for driver in DRIVERS:
        lab = start_shared_lab(profile(driver))
        placed = {"client": WIN_A, "local": WIN_A, "remote": WIN_B, "linux": LINUX}
        pods = {f"pod {name}": lab.attach(node, name) for name, node in placed.items()}
        lab.program(service(backend(pods["pod local"], WIN_A)))
        rows = list(TABLE)
        requests_sent = [Ask(source=s, address=pods.get(t, t), protocol="icmp") for s, t in rows]
        for (source, target), answer in zip(rows, lab.send_all(*requests_sent), strict=True):
            seen[source, target, driver] = answer
    return seen


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(("source", "target"), TABLE)
def test_ping(answers: Answers, source: str, target: str, driver: Driver) -> None:
    """ICMP is answered where no address translation is needed, and lost without an error elsewhere."""
    expected = TABLE[source, target][DRIVERS.index(driver)]
    assert answers[source, target, driver].startswith(expected)


@pytest.mark.parametrize("driver", DRIVERS)
def test_windows_answers_with_its_own_time_to_live(answers: Answers, driver: Driver) -> None:
    """Windows sends 128 as the first TTL, Linux 64; each router takes one."""
    assert answers["client", "pod local", driver] == "replied ttl 127"
    assert answers["client", "pod linux", driver] in {"replied ttl 62", "replied ttl 63"}
