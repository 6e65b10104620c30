"""Next steps of incidents: what is looked at fits the cluster."""

from dataclasses import replace

from nettests.report import Results
from nettests.report.incidents import find_incidents
from tests.report.test_incidents import LINUX, WIN, broken, crossing


def test_next_steps_fit_the_cluster(quiet: Results) -> None:
    """Encapsulation is named where packets are encapsulated, and only there."""
    assert quiet.facts is not None
    struck = broken(quiet, crossing(WIN, LINUX))
    overlay = replace(
        quiet.facts,
        cni=replace(quiet.facts.cni, backend=replace(quiet.facts.cni.backend, value="vxlan")),
    )
    host_gw = replace(
        quiet.facts,
        cni=replace(quiet.facts.cni, backend=replace(quiet.facts.cni.backend, value="host-gw")),
        nodes=tuple(
            replace(node, cni_driver=replace(node.cni_driver, value="l2bridge"))
            for node in quiet.facts.nodes
        ),
    )
    (on_overlay,) = find_incidents(struck.checks, overlay)
    (on_bridge,) = find_incidents(struck.checks, host_gw)
    assert "encapsulated" in on_overlay.next_step
    assert "encapsulated" not in on_bridge.next_step
    assert "routes" in on_bridge.next_step
