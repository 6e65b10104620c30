"""The lab is no table: a rule changed by hand in a switch changes exactly the outcomes it decides."""

from collections.abc import Iterator

import pytest

from tests.acceptance.labs import UpLab, lab
from tests.acceptance.objects import Objects, connect, wait_for

# The official client leaves some of its TLS connections to the garbage collector.
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SWITCH = "win-1/switch"


@pytest.fixture(scope="module")
def up_lab() -> Iterator[UpLab]:
    """A lab whose switch is edited by hand."""
    with lab("win2019-l2bridge") as up:
        yield up


class Scene:
    """A probe, a HostProcess vantage and two Services, all seen from ``win-1``."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        objects.start()
        netexec = ("netexec", "--http-port=8080", "--udp-port=-1")
        self.server = objects.pod("server", "win-2", *netexec)
        objects.pod("probe", "win-1", *netexec)
        objects.pod("vantage", "win-1", "pause", host_process=True)
        self.edited = objects.service("edited", "server")
        self.other = objects.service("other", "server")
        wait_for(lambda: objects.dial("probe", self.edited, 80) == "connected")
        wait_for(lambda: objects.dial("probe", self.other, 80) == "connected")

    def outcomes(self) -> dict[str, bool]:
        """Whether each path connects."""
        dial, curl = self.objects.dial, self.objects.curl
        return {
            "pod → edited Service": dial("probe", self.edited, 80) == "connected",
            "pod → other Service": dial("probe", self.other, 80) == "connected",
            "pod → server pod": dial("probe", self.server, 8080) == "connected",
            "node → edited Service": curl("vantage", f"http://{self.edited}/") == "connected",
            "node → other Service": curl("vantage", f"http://{self.other}/") == "connected",
            "node → server pod": curl("vantage", f"http://{self.server}:8080/") == "connected",
        }


def test_nft_is_found_where_the_path_lacks_the_system_directories(
    up_lab: UpLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ordinary user's PATH on Debian is enough to look at a switch's rules."""
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
    assert "table ip hns" in up_lab.enter(SWITCH, "nft", "list", "tables")


def test_rules_changed_by_hand_change_exactly_what_they_decide(
    up_lab: UpLab, request: pytest.FixtureRequest
) -> None:
    """A rule on the host's port lets the node reach one ClusterIP; flushing a chain takes it from pods."""
    objects = connect(up_lab.kubeconfig)
    request.addfinalizer(objects.close)
    scene = Scene(objects)
    chain = "ClusterIP/by-hand/edited/http"
    untouched = scene.outcomes()
    assert [path for path, works in untouched.items() if not works] == [
        "node → edited Service",
        "node → other Service",
    ]

    rule = f'insert rule ip hns load-balancing iifname "host" ip daddr {scene.edited} tcp dport 80'
    up_lab.enter(SWITCH, "nft", *rule.split(), "goto", chain)
    assert scene.outcomes() == untouched | {"node → edited Service": True}

    up_lab.enter(SWITCH, "nft", "flush", "chain", "ip", "hns", chain)
    assert scene.outcomes() == untouched | {"pod → edited Service": False}
