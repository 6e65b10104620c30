"""L2tunnel (Azure CNI) and Transparent (Open vSwitch with Antrea): who answers whom, and what is seen.

One table of rows as in ``test_reachability``, on the shipped profiles; the claims that set these drivers
apart from l2bridge and overlay have tests of their own, with captured frames.
"""

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.layers.vxlan import VXLAN

from nettests.lab.topology import profiles
from tests.lab.network.clusters import backend, service
from tests.lab.network.conftest import StartLab
from tests.lab.network.laboratory import Laboratory
from tests.lab.network.requests_of_pods import Ask

PROFILES = ("azure-l2tunnel", "antrea-transparent")
OUTSIDE = "198.51.100.10"
OWN, OTHER, LIN = "win-1", "win-2", "linux-1"
NODES = {name: str(profiles.load(PROFILES[0]).node(name).address) for name in (OWN, OTHER, LIN)}
PORTS = {"local": 30001, "remote": 30002, "nobody": 30003}
VIPS = {"local": "10.96.7.1", "remote": "10.96.7.2", "self": "10.96.7.3", "nobody": "10.96.7.4"}

# P is the client pod, N the client's or ingress node, GW that node's first pod address (Antrea's gateway
# port). ICMP rows say whether an answer came.
# fmt: off
TABLE = {
    # source, target, protocol:            azure-l2tunnel  antrea-transparent
    ("client", "pod local", "tcp"):        ("P",           "P"),
    ("client", "pod remote", "tcp"):       ("P",           "P"),
    ("client", "pod linux", "tcp"):        ("P",           "P"),
    ("client", "vip local", "tcp"):        ("N",           "P"),
    ("client", "vip remote", "tcp"):       ("N",           "P"),
    ("client", "vip self", "tcp"):         ("N",           "N"),
    ("client", "vip nobody", "tcp"):       ("timed out",   "refused"),
    ("client", "outside", "tcp"):          ("N",           "N"),
    ("client", "node other", "tcp"):       ("P",           "N"),
    ("client", "pod local", "icmp"):       ("replied",     "replied"),
    ("client", "pod remote", "icmp"):      ("replied",     "replied"),
    ("client", "outside", "icmp"):         ("timed out",   "replied"),
    (OWN, "pod local", "tcp"):             ("N",           "N"),
    (OWN, "pod remote", "tcp"):            ("N",           "GW"),
    (OWN, "vip local", "tcp"):             ("timed out",   "GW"),
    (OWN, "vip remote", "tcp"):            ("timed out",   "GW"),
    (OWN, "vip nobody", "tcp"):            ("timed out",   "refused"),
    (OWN, "nodeport own remote", "tcp"):   ("N",           "GW"),
    ("linux", "pod client", "tcp"):        ("Plin",        "Plin"),
    ("outside-client", "nodeport own local", "tcp"):  ("N", "GW"),
    ("outside-client", "nodeport own remote", "tcp"): ("N", "GW"),
    ("outside-client", "nodeport own nobody", "tcp"): ("timed out", "refused"),
    (OWN, "nodeport own nobody", "tcp"):   ("timed out",   "refused"),
    ("outside-client", "pod local", "tcp"):           ("timed out", "timed out"),
}
# fmt: on
Answers = dict[tuple[str, str, str, str], str]


def standing(start_lab: StartLab, profile: str) -> tuple[Laboratory, dict[str, str]]:
    """Start a profile with pods and Services; return it with the addresses of the table's targets."""
    lab = start_lab(profiles.load(profile))
    placed = {"client": OWN, "local": OWN, "remote": OTHER, "linux": LIN}
    pods = {name: lab.attach(node, name) for name, node in placed.items()}
    backends = {
        "local": [backend(pods["local"], OWN)],
        "remote": [backend(pods["remote"], OTHER)],
        "self": [backend(pods["client"], OWN)],
        "nobody": [],
    }
    lab.serve(OTHER, 8080)
    lab.serve("outside-server", 8080)
    lab.program(
        *(
            service(*backends[name], name=name, vip=vip, node_port=PORTS.get(name))
            for name, vip in VIPS.items()
        )
    )
    return lab, {
        **{f"pod {name}": address for name, address in pods.items()},
        **{f"vip {name}": vip for name, vip in VIPS.items()},
        **{f"nodeport own {name}": NODES[OWN] for name in PORTS},
        "outside": OUTSIDE,
        "node other": NODES[OTHER],
    }


def port_of(target: str) -> int:
    """Return the port that a target of the table is queried on."""
    kind, _, name = target.rpartition(" ")
    return {"vip": 80, "nodeport own": PORTS.get(name, 0)}.get(kind, 8080)


@pytest.fixture(scope="module")
def answers(start_shared_lab: StartLab) -> Answers:
    """All answers of the table, with addresses spelled as the table does."""
    found: Answers = {}
    for profile in PROFILES:
        lab, where = standing(start_shared_lab, profile)
        gateway = where["pod client"].rpartition(".")[0] + ".1"
        names = {
            where["pod client"]: "P",
            where["pod linux"]: "Plin",
            NODES[OWN]: "N",
            gateway: "GW",
        }
        requests_sent = [
            Ask(source=source, address=where[target], port=port_of(target), protocol=protocol)
            for source, target, protocol in TABLE
        ]
        for row, answer in zip(TABLE, lab.send_all(*requests_sent), strict=True):
            seen = answer.rpartition(" ")[2]
            found[(profile, *row)] = names.get(seen, answer)
    return found


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("source", "target", "protocol"), TABLE)
def test_who_answers_and_what_is_seen(
    answers: Answers, profile: str, source: str, target: str, protocol: str
) -> None:
    """Every row of the table holds on both drivers."""
    expected = TABLE[source, target, protocol][PROFILES.index(profile)]
    assert answers[profile, source, target, protocol].startswith(expected)


def test_l2tunnel_packets_between_pods_of_one_node_pass_the_fabric(start_lab: StartLab) -> None:
    """Even to a pod beside it a pod's packet leaves the node, and comes back from the gateway."""
    lab, where = standing(start_lab, "azure-l2tunnel")
    request = Ask(source="client", address=where["pod local"])
    frames = [Ether(frame) for frame in lab.capture("gateway", "eth0", request)]
    syns = [frame for frame in frames if TCP in frame and frame[TCP].flags == "S"]
    assert {(frame[IP].src, frame[IP].dst) for frame in syns} == {
        (where["pod client"], where["pod local"])
    }
    assert len({frame.src for frame in syns}) == 2


def test_l2tunnel_pods_stay_private(start_lab: StartLab) -> None:
    """An untranslated echo request arrives outside, and its answer ends at the virtual network."""
    lab, where = standing(start_lab, "azure-l2tunnel")
    request = Ask(source="client", address=OUTSIDE, protocol="icmp")
    frames = [Ether(frame) for frame in lab.capture("outside-server", "eth0", request)]
    pairs = {(frame[IP].src, frame[IP].dst) for frame in frames if IP in frame}
    assert pairs == {(where["pod client"], OUTSIDE), (OUTSIDE, where["pod client"])}


@pytest.mark.parametrize(("source", "port"), [("client", 80), (OWN, 80)])
def test_transparent_service_flows_are_encapsulated(
    start_lab: StartLab, source: str, port: int
) -> None:
    """Towards a pod elsewhere the wire carries VXLAN between the nodes, for pods and the host alike."""
    lab, where = standing(start_lab, "antrea-transparent")
    request = Ask(source=source, address=VIPS["remote"], port=port)
    frames = [Ether(frame) for frame in lab.capture("underlay", "to-172-30-0-14", request)]
    outer = [frame for frame in frames if VXLAN in frame]
    assert {(f[IP].src, f[IP].dst) for f in outer} == {
        (NODES[OWN], NODES[OTHER]),
        (NODES[OTHER], NODES[OWN]),
    }
    assert len(outer) == len(frames)
    assert {f[VXLAN].payload[IP].dst for f in outer if f[IP].src == NODES[OWN]} == {
        where["pod remote"]
    }
