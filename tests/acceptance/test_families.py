"""A dual-stack cluster whose plugin gives Windows Pods IPv4 alone: Flannel on routed networks, with real packets.

No shipped profile is one: it is the dual-stack profile with another plugin.
"""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from nettests.resources import manifests_path
from tests.acceptance.labs import lab
from tests.acceptance.runs import run_on

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1200)]
PODS = "dual-stack-pods/windows-1/pod-families"
PROBED = ("dual-stack-pods", "pod-to-pod-ip", "nodeport-from-pod-other-node")
SETTINGS = ("hns-configuration", "flannel-host-configuration", "windows-cni-configuration")
BAD = {"fail", "unknown", "lifted", "flaky"}


@pytest.fixture
def profile(tmp_path: Path) -> str:
    """The dual-stack profile with Flannel in place of sdnbridge, as a file of one's own."""
    yaml = YAML()
    shipped = manifests_path() / "lab" / "win2022-l2bridge-dualstack.yaml"
    document = yaml.load(shipped.read_text(encoding="utf-8"))
    document["name"] = "flannel-dualstack"
    document["cni"] |= {"plugin": "flannel", "backend": "host-gw"}
    path = tmp_path / "flannel-dualstack.yaml"
    with path.open("w", encoding="utf-8") as file:
        yaml.dump(document, file)
    return str(path)


def test_ipv4_alone_is_what_the_documents_say_of_flannel(profile: str, tmp_path: Path) -> None:
    """The lack is limited once; settings conform in IPv4, IPv6 between Linux passes, the rest is skipped."""
    with lab(profile) as up:
        run = run_on(up, tmp_path / "run", *(f"--flow={name}" for name in PROBED + SETTINGS))
    assert run.exit_code == 0, run.printed
    assert run.verdicts[PODS] == "limited"
    assert not BAD & set(run.verdicts.values()), run.printed
    of_ipv6 = {check: said for check, said in run.verdicts.items() if check.endswith("/ipv6")}
    direct = {check: said for check, said in of_ipv6.items() if check.startswith("pod-to-pod-ip")}
    skipped = {check for check, said in direct.items() if said == "skipped"}
    assert skipped == {check for check in direct if "windows" in check}
    assert {direct[check] for check in direct.keys() - skipped} == {"pass"}
    done = [one for one in run.records if one["record"] == "done" and one["check"] in skipped]
    assert len(done) == len(skipped)
    assert all("limitation v6-flannel-pods" in one["skip"] for one in done), done


def test_ipv6_against_the_documents_is_lifted(profile: str, tmp_path: Path) -> None:
    """Where Windows Pods have IPv6 all the same the expectation turns red, and flows over it are run."""
    with lab(profile, "--mechanism=dual-stack=on") as up:
        run = run_on(up, tmp_path / "run", "--flow=dual-stack-pods", "--flow=pod-to-pod-ip")
    assert run.exit_code == 1, run.printed
    assert run.verdicts[PODS] == "lifted", run.printed
    direct = {said for check, said in run.verdicts.items() if check.startswith("pod-to-pod-ip")}
    assert direct == {"pass"}, run.printed
