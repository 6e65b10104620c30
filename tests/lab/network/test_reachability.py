"""Who answers whom on Windows nodes, and which source address the answering side sees.

One table for all drivers and DSR settings, over TCP and UDP. Columns without DSR are Windows Server 2019
before the August 2020 update, columns with DSR are Windows Server 2022.
"""

from dataclasses import dataclass, field

import pytest

from nettests.lab.topology import Driver, ServicePort
from tests.lab.network.clusters import (
    LINUX,
    NODE_ADDRESS,
    SOURCE_VIP,
    WIN_A,
    WIN_B,
    WS2019_EARLY,
    WS2022,
    backend,
    profile,
    service,
)
from tests.lab.network.conftest import StartLab
from tests.lab.network.laboratory import Laboratory
from tests.lab.network.requests_of_pods import Ask

NEW_PODS = 40
COLUMNS = {
    "l2bridge": (Driver.L2BRIDGE, False),
    "l2bridge-dsr": (Driver.L2BRIDGE, True),
    "overlay": (Driver.OVERLAY, False),
    "overlay-dsr": (Driver.OVERLAY, True),
}
NODE_SERVER_PORT = 9090
CLOSED_PORT = 4444
OUTSIDE = "198.51.100.10"

# A Service's last octet and NodePort offset, by its backend.
SERVICES = {"local": 1, "remote": 2, "linux": 3, "self": 4, "nobody": 5, "node": 6, "own-node": 7}
LOCAL_ONLY = {"local": 11, "remote": 12}

# Sources and targets are pods unless they say otherwise. What the target sees is P (the client pod),
# N (the client's or ingress node), SV (that node's source VIP) or C (the outside client).
# fmt: off
TABLE = {
    # source, target:                 l2bridge      l2bridge-dsr   overlay       overlay-dsr
    ("client", "pod local"):         ("P",         "P",           "P",          "P"),
    ("client", "pod remote"):        ("P",         "P",           "P",          "P"),
    ("client", "pod linux"):         ("P",         "P",           "P",          "P"),
    ("client", "vip local"):         ("N",         "P",           "SV",         "P"),
    ("client", "vip remote"):        ("N",         "P",           "SV",         "P"),
    ("client", "vip linux"):         ("N",         "P",           "SV",         "P"),
    ("client", "vip self"):          ("N",         "timed out",   "SV",         "timed out"),
    ("client", "vip node"):          ("N",         "P",           "N",          "N"),
    ("client", "vip own-node"):      ("timed out", "timed out",   "timed out",  "timed out"),
    ("client", "vip nobody"):        ("timed out", "timed out",   "timed out",  "timed out"),
    ("client", "node own"):          ("P",         "P",           "P",          "P"),
    ("client", "node linux"):        ("P",         "P",           "N",          "N"),
    ("client", "outside"):           ("N",         "N",           "N",          "N"),
    ("client", "nodeport own local"):  ("N",       "N",           "SV",         "SV"),
    ("client", "nodeport own remote"): ("N",       "N",           "SV",         "SV"),
    ("client", "closed pod local"):  ("refused",   "refused",     "refused",    "refused"),
    ("client", "closed pod remote"): ("refused",   "refused",     "refused",    "refused"),
    ("client", "closed node own"):   ("timed out", "timed out",   "timed out",  "timed out"),
    ("client", "closed node linux"): ("refused",   "refused",     "refused",    "refused"),
    (WIN_A, "pod local"):            ("N",         "N",           "N",          "N"),
    (WIN_A, "pod remote"):           ("N",         "N",           "timed out",  "timed out"),
    (WIN_A, "pod linux"):            ("N",         "N",           "timed out",  "timed out"),
    (WIN_A, "vip local"):            ("timed out", "N",           "timed out",  "SV"),
    (WIN_A, "vip remote"):           ("timed out", "N",           "timed out",  "SV"),
    (WIN_A, "nodeport own local"):   ("timed out", "N",           "timed out",  "SV"),
    (WIN_A, "nodeport own remote"):  ("timed out", "N",           "timed out",  "SV"),
    (WIN_A, "node own"):             ("N",         "N",           "N",          "N"),
    (WIN_A, "node linux"):           ("N",         "N",           "N",          "N"),
    (WIN_A, "outside"):              ("N",         "N",           "N",          "N"),
    (WIN_A, "closed node own"):      ("timed out", "timed out",   "timed out",  "timed out"),
    (WIN_A, "loopback"):             ("refused",   "refused",     "refused",    "refused"),
    (WIN_B, "closed node own"):      ("timed out", "timed out",   "timed out",  "timed out"),
    (WIN_B, "nodeport own local"):   ("N",         "N",           "SV",         "SV"),
    ("outside-client", "nodeport own local"):  ("N", "N",         "SV",         "SV"),
    ("outside-client", "nodeport own remote"): ("N", "N",         "SV",         "SV"),
    ("outside-client", "nodeport own linux"):  ("N", "N",         "SV",         "SV"),
    ("outside-client", "nodeport own nobody"): ("timed out", "timed out", "timed out", "timed out"),
    ("outside-client", "local-only own local"):  ("C", "C",       "C",          "C"),
    ("outside-client", "local-only own remote"): ("timed out", "timed out", "timed out", "timed out"),
    ("outside-client", "pod local"): ("timed out", "timed out",   "timed out",  "timed out"),
    ("outside-client", "closed node own"): ("timed out", "timed out", "timed out", "timed out"),
    ("linux", "pod client"):         ("Plin",      "Plin",        "Plin",       "Plin"),
    ("linux", "vip local"):          ("Plin",      "Plin",        "Plin",       "Plin"),
    (LINUX, "pod local"):            ("Nlin",      "Nlin",        "VTEP",       "VTEP"),
    (LINUX, "vip local"):            ("Nlin",      "Nlin",        "VTEP",       "VTEP"),
    (LINUX, "nodeport own local"):   ("N",         "N",           "SV",         "SV"),
}
# fmt: on


@dataclass
class Column:
    """A running cluster with everything the table needs, and all answers by protocol and row."""

    lab: Laboratory
    pods: dict[str, str] = field(default_factory=dict)
    answers: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def seen(self, name: str) -> str:
        """Return the address behind a name of the table."""
        return {
            "P": self.pods["client"],
            "Plin": self.pods["linux"],
            "N": NODE_ADDRESS[WIN_A],
            "Nlin": NODE_ADDRESS[LINUX],
            "SV": SOURCE_VIP[WIN_A],
            "VTEP": "10.244.1.0",
            "C": "198.51.100.20",
        }[name]

    def target(self, target: str) -> tuple[str, int]:
        """Return address and port of a target of the table."""
        kind, *rest = target.split()
        who = rest[-1] if rest else ""
        node = NODE_ADDRESS[LINUX if who == "linux" else WIN_A]
        if kind == "closed":
            return (node if rest[0] == "node" else self.pods[who], CLOSED_PORT)
        if kind == "pod":
            return (self.pods[who], 8080)
        if kind == "vip":
            return (f"10.96.7.{SERVICES[who]}", 80)
        if kind in {"nodeport", "local-only"}:
            numbers = SERVICES if kind == "nodeport" else LOCAL_ONLY
            return (NODE_ADDRESS[WIN_A], 30000 + numbers[who])
        fixed = {
            "node": (node, NODE_SERVER_PORT),
            "outside": (OUTSIDE, 80),
            "loopback": ("127.0.0.1", 30001),
        }
        return fixed[kind]

    def answerer(self, target: str) -> str:
        """Return the name of the server that must answer."""
        named = {
            "vip self": "client",
            "vip node": LINUX,
            "node own": WIN_A,
            "node linux": LINUX,
            "outside": "outside-server",
        }
        return named.get(target, target.rsplit(maxsplit=1)[-1])


def _services(column: Column) -> list[ServicePort]:
    pods = column.pods
    node_of = {"local": WIN_A, "remote": WIN_B, "linux": LINUX, "client": WIN_A}
    single = {name: [backend(pods[name], node_of[name])] for name in ("local", "remote", "linux")}
    backends = {
        **single,
        "self": [backend(pods["client"], WIN_A)],
        "nobody": [],
        "node": [backend(NODE_ADDRESS[LINUX], LINUX, port=NODE_SERVER_PORT, own=True)],
        "own-node": [backend(NODE_ADDRESS[WIN_A], WIN_A, port=NODE_SERVER_PORT, own=True)],
    }
    return [
        service(
            *backends[name],
            name=f"{name}-{number}",
            protocol=protocol,
            vip=f"10.96.7.{number}",
            node_port=30000 + number,
            external_local=plan is LOCAL_ONLY,
        )
        for plan in (SERVICES, LOCAL_ONLY)
        for name, number in plan.items()
        for protocol in ("TCP", "UDP")
    ]


@pytest.fixture(scope="module")
def columns(start_shared_lab: StartLab) -> dict[str, Column]:
    """Start one cluster per column and query all rows at once, so that timeouts overlap."""
    made = {}
    for name, (driver, dsr) in COLUMNS.items():
        release = WS2022 if dsr else WS2019_EARLY
        column = Column(start_shared_lab(profile(driver, dsr=dsr, release=release)))
        for pod, node in (("client", WIN_A), ("local", WIN_A), ("remote", WIN_B), ("linux", LINUX)):
            column.pods[pod] = column.lab.attach(node, pod)
        for node in (WIN_A, LINUX):
            column.lab.serve(node, NODE_SERVER_PORT)
        column.lab.serve("outside-server", 80)
        column.lab.program(*_services(column))
        rows = [(source, target, kind) for source, target in TABLE for kind in ("tcp", "udp")]
        requests_sent = []
        for source, target, kind in rows:
            address, port = column.target(target)
            requests_sent.append(Ask(source=source, address=address, port=port, protocol=kind))
        column.answers = dict(zip(rows, column.lab.send_all(*requests_sent), strict=True))
        made[name] = column
    return made


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
@pytest.mark.parametrize("column_name", COLUMNS)
@pytest.mark.parametrize(
    ("source", "target"), [pytest.param(*row, id=" to ".join(row)) for row in TABLE]
)
def test_reachability_and_source(
    columns: dict[str, Column], source: str, target: str, column_name: str, protocol: str
) -> None:
    """Each path of the table is answered, refused or lost as documented, with the right source."""
    expected = TABLE[source, target][list(COLUMNS).index(column_name)]
    column = columns[column_name]
    if expected not in {"timed out", "refused"}:
        expected = f"{column.answerer(target)} sees {column.seen(expected)}"
    assert column.answers[source, target, protocol] == expected


def test_an_outside_address_among_the_exceptions_is_not_reached(start_lab: StartLab) -> None:
    """What OutBoundNAT excepts leaves with the pod's own address, and no answer finds its way back."""
    lab = start_lab(profile(exceptions=("198.51.100.0/24",)))
    lab.attach(WIN_A, "client")
    lab.attach(LINUX, "linux")
    lab.serve("outside-server", 80)
    requests_sent = [
        Ask(source=one, address=OUTSIDE, port=80) for one in ("client", "linux", WIN_A)
    ]
    windows, linux, node = lab.send_all(*requests_sent)
    assert windows == "timed out"
    assert linux.endswith(NODE_ADDRESS[LINUX])
    assert node.endswith(NODE_ADDRESS[WIN_A])


@pytest.mark.parametrize("node", [LINUX, WIN_A])
def test_a_new_pod_gets_what_is_sent_at_once(start_lab: StartLab, node: str) -> None:
    """A datagram that is sent as soon as a Pod is attached arrives, whatever the kernel's link watch has noticed by then."""
    came = start_lab(profile()).first_datagrams(node, NEW_PODS)
    assert came == [True] * NEW_PODS
