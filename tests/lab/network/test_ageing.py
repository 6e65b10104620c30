"""What the virtual switch forgets: TCP flows between its own pods that nobody used for a while."""

import pytest

from nettests.lab.topology import Profile, profiles
from tests.lab.network.clusters import VIP, WIN_A, backend, profile, service
from tests.lab.network.conftest import StartLab
from tests.lab.network.laboratory import Laboratory

PORT = 21000
OWN, OTHER, LINUX = "win-1", "win-2", "linux-1"
PROFILES = ("win2019-l2bridge", "win2022-overlay-dsr", "azure-l2tunnel")


def line(lab: Laboratory, node: str, other: str, port: int, name: str) -> int:
    """Open a connection between pods of these nodes, and use it."""
    lab.attach_bare(node, f"{name}-client")
    address = lab.attach_bare(other, f"{name}-server")
    opened = lab.open_line(f"{name}-client", f"{name}-server", address, port)
    assert lab.say(opened, "before") == "before"
    return opened


@pytest.mark.parametrize("chosen", [*map(profiles.load, PROFILES)], ids=PROFILES)
def test_only_flows_between_pods_of_one_windows_node_are_forgotten(
    start_lab: StartLab, chosen: Profile
) -> None:
    """Once such a flow is forgotten its packets are lost; a new one, translated ones and all others go on."""
    lab = start_lab(chosen)
    aged = line(lab, OWN, OWN, PORT, "aged")
    across = line(lab, OWN, OTHER, PORT + 1, "across")
    linux = line(lab, LINUX, LINUX, PORT + 2, "linux")
    served = lab.attach_bare(OWN, "served")
    lab.program(service(backend(served, OWN, port=PORT + 4), port=PORT + 4))
    translated = lab.open_line("aged-client", "served", VIP, PORT + 4)
    assert lab.say(translated, "before") == "before"
    lab.forgets(f"{OWN}/switch", PORT)
    assert lab.say(aged, "after") == "timed out"
    assert lab.say(across, "after") == "after"
    assert lab.say(linux, "after") == "after"
    assert lab.say(translated, "after") == "after"
    line(lab, OWN, OWN, PORT + 3, "anew")


def test_a_switch_that_forgets_nothing_has_no_rules_for_it(start_lab: StartLab) -> None:
    """With the mechanism off no timeout stands in the switch's rules."""
    for on in (1, 0):
        lab = start_lab(profile(mechanisms=(("flow-ageing", on),)))
        assert ("ct timeout" in lab.nft(f"{WIN_A}/switch", "list ruleset")) is bool(on)
