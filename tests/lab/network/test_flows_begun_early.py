"""What a client sent before the rules came, or to a backend that has gone, must not hold its source port against it later.

A packet that no rule translates may be remembered by connection tracking as a flow to the Service's
own address; whoever then dials from the same port within two minutes follows that memory past the
rules. Clients choose their ports at random from 28 232, so it shows about once in as many dials.
"""

import pytest

from nettests.lab.topology import Backend, Driver, Profile, ServicePort
from tests.lab.network.clusters import (
    LINUX,
    NODE_ADDRESS,
    NODE_PORT,
    VIP,
    WIN_A,
    WIN_B,
    backend,
    profile,
    service,
)
from tests.lab.network.conftest import StartLab
from tests.lab.network.requests_of_pods import Ask

PORT, LINE = 45555, 21000

PROFILES = {
    "l2bridge": profile(),
    "dsr": profile(dsr=True),
    "overlay": profile(Driver.OVERLAY),
}


@pytest.mark.parametrize("protocol", ["tcp", "udp"])
@pytest.mark.parametrize("chosen", PROFILES.values(), ids=PROFILES)
def test_a_port_used_before_the_rules_came_is_translated_after(
    start_lab: StartLab, chosen: Profile, protocol: str
) -> None:
    """ClusterIP and another node's NodePort, from pods of both systems, nodes and outside."""
    lab = start_lab(chosen)
    lab.attach(WIN_A, "windows")
    lab.attach(LINUX, "linux")
    server = backend(lab.attach(WIN_B, "server"), WIN_B)
    requested = [
        Ask(source=source, address=address, port=port, protocol=protocol, source_port=PORT)
        for source, address, port in (
            ("windows", VIP, 80),
            ("linux", VIP, 80),
            (LINUX, VIP, 80),
            ("linux", NODE_ADDRESS[WIN_A], NODE_PORT),
            ("outside-client", NODE_ADDRESS[LINUX], NODE_PORT),
            ("outside-client", NODE_ADDRESS[WIN_A], NODE_PORT),
        )
    ]
    assert not any("sees" in answer for answer in lab.send_all(*requested))
    lab.program(service(server, protocol=protocol.upper()))
    # One after the other: translated, those of one source would meet at the server's port.
    answers = [answer for request in requested for answer in lab.send_all(request)]
    assert all(answer.startswith("server sees") for answer in answers), answers


@pytest.mark.parametrize("chosen", PROFILES.values(), ids=PROFILES)
def test_a_port_whose_backend_went_without_an_answer_is_led_to_the_next_one(
    start_lab: StartLab, chosen: Profile
) -> None:
    """A SYN without answer is remembered with its backend for two minutes; a connection that stands goes on."""
    lab = start_lab(chosen)
    lab.attach(WIN_A, "windows")
    lab.attach(LINUX, "linux")
    gone = backend(lab.attach(WIN_B, "gone"), WIN_B)
    server = backend(lab.attach(WIN_B, "server"), WIN_B)
    stays = backend(lab.attach_bare(WIN_B, "stays"), WIN_B, port=LINE)

    def held(*backends: Backend) -> ServicePort:
        return service(*backends, name="held", vip="10.96.7.8", port=LINE, node_port=None)

    lab.program(service(gone), held(stays))
    line = lab.open_line("linux", "stays", "10.96.7.8", LINE)
    assert lab.say(line, "before") == "before"
    lab.detach(WIN_B, "gone")
    requested = [
        Ask(source=source, address=address, port=port, source_port=PORT)
        for source, address, port in (
            ("windows", VIP, 80),
            ("linux", VIP, 80),
            (LINUX, VIP, 80),
            ("outside-client", NODE_ADDRESS[LINUX], NODE_PORT),
        )
    ]
    assert not any("sees" in answer for answer in lab.send_all(*requested))
    lab.program(service(server), held(server))
    answers = [answer for request in requested for answer in lab.send_all(request)]
    assert all(answer.startswith("server sees") for answer in answers), answers
    assert lab.say(line, "after") == "after"
