"""Every profile runs clean, and differs from the others where its mechanisms differ."""

from collections import Counter

import pytest

from tests.acceptance.runs import PROFILES, SELECTED, Runs, by_night

pytestmark = [pytest.mark.xdist_group("whole-runs"), pytest.mark.timeout(1800)]
RED = {"fail", "lifted", "flaky", "unknown"}
REQUESTS_A_MEMBER = 935 / 867
"""Of a run on two nodes of each system before every node was a member of each check (decision 0093)."""


@pytest.mark.parametrize("profile", by_night(*PROFILES, *SELECTED))
def test_a_profile_runs_clean(finished_runs: Runs, profile: str) -> None:
    """A run on an unharmed lab exits 0 and judges no check fail, lifted, flaky or unknown."""
    run = finished_runs[profile]
    red = {check: verdict for check, verdict in run.verdicts.items() if verdict in RED}
    assert red == {}, run.printed
    assert run.exit_code == 0, run.printed


def test_the_default_profile_runs_at_least_150_checks(finished_runs: Runs) -> None:
    """The default profile judges at least 150 checks, and limited ones name the documented ones."""
    run = finished_runs["win2019-l2bridge"]
    counts = Counter(run.verdicts.values())
    assert sum(counts.values()) - counts["skipped"] >= 150
    limited = {c["flow"] for c in run.results["checks"] if c["verdict"] == "limited"}
    assert limited >= {
        "node-to-service-clusterip",
        "nodeport-from-local-node",
        "icmp-egress",
        "pod-to-service-partial-name",
    }


@pytest.mark.parametrize("profile", by_night(*PROFILES))
def test_most_questions_cost_no_api_request(finished_runs: Runs, profile: str) -> None:
    """Probe pods are reached over forwardings that stay open, so that few requests are left for each member."""
    records = finished_runs[profile].records
    raws = [record["raw"] for record in records if record["record"] == "raw"]
    checks = [record["check"] for record in records if record["record"] == "planned"]
    members = sum(len(check["members"]["rows"]) if "members" in check else 1 for check in checks)
    assert {raw["channel"] for raw in raws if raw["tool"] == "dial"} == {"port-forward"}
    kept_open = [raw for raw in raws if raw["channel"] == "port-forward"]
    assert len(kept_open) > 2 * (len(raws) - len(kept_open))
    assert sum(records[-1]["requests"].values()) < REQUESTS_A_MEMBER * members


def test_limited_checks_come_with_their_source(finished_runs: Runs) -> None:
    """Each limited check names a limitation whose sources are in the results."""
    results = finished_runs["win2019-l2bridge"].results
    for check in results["checks"]:
        if check["verdict"] == "limited":
            assert check["limitation"]["sources"], check["id"]


@pytest.mark.nightly
def test_affinity_works_on_20348_and_is_ignored_on_17763(finished_runs: Runs) -> None:
    """ClientIP affinity holds on 20348 and is limited on 17763 for every Windows client."""
    new = finished_runs["win2022-l2bridge-dsr"].flow("session-affinity")
    old = finished_runs["win2019-l2bridge"].flow("session-affinity")
    windows = [check for check in new if check.split("/")[1].startswith("windows")]
    assert windows
    assert {new[check]["verdict"] for check in windows} == {"pass"}
    assert {old[check]["verdict"] for check in windows} == {"limited"}
    assert {old[c]["verdict"] for c in old if c not in windows} == {"pass"}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("profile", "seen"),
    [
        ("win2022-l2bridge-dsr", "client-pod"),
        ("win2019-l2bridge", "client-node"),
        ("win2019-overlay", "source-vip"),
        ("win2022-overlay-dsr", "client-pod"),
    ],
)
def test_backends_see_the_address_that_driver_and_dsr_call_for(
    finished_runs: Runs, profile: str, seen: str
) -> None:
    """Behind a ClusterIP the backend sees the pod under DSR, the node or source VIP without."""
    checks = finished_runs[profile].flow("dsr-source-address")
    windows = [c for c in checks.values() if c["source"]["os"] == "windows"]
    assert windows
    assert {c["observed"]["text"].partition("source = ")[2] for c in windows} == {seen}


@pytest.mark.nightly
@pytest.mark.parametrize("profile", ["win2019-overlay", "win2022-overlay-dsr"])
def test_a_windows_node_does_not_reach_remote_pods_on_overlay(
    finished_runs: Runs, profile: str
) -> None:
    """On overlay a Windows node reaches its own pods and times out towards other nodes' pods."""
    checks = finished_runs[profile].flow("node-to-pod")
    windows = {i: c for i, c in checks.items() if c["source"]["os"] == "windows"}
    remote = {c["verdict"] for c in windows.values() if c["placement"] == "other-node"}
    local = {c["verdict"] for c in windows.values() if c["placement"] == "same-node"}
    assert (remote, local) == ({"limited"}, {"pass"})


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("flow", "verdicts"),
    [
        ("session-affinity", {1: "limited", 2: "pass", 3: "pass"}),
        ("nodeport-from-local-node", {1: "limited", 2: "recorded", 3: "recorded"}),
    ],
)
def test_conditions_hold_for_each_node_by_itself(
    finished_runs: Runs, flow: str, verdicts: dict[int, str]
) -> None:
    """In a cluster of three Windows builds the same flow is judged by the build of each source."""
    checks = finished_runs["mixed-builds"].flow(flow)
    found = {
        number: {c["verdict"] for i, c in checks.items() if i.split("/")[1] == f"windows-{number}"}
        for number in verdicts
    }
    assert found == {number: {verdict} for number, verdict in verdicts.items()}


@pytest.mark.nightly
def test_a_kube_proxy_without_a_pod_is_expected_to_do_what_a_pod_does(finished_runs: Runs) -> None:
    """What its nodes tell settles the same expectations, and the same checks pass, as where Pods tell it."""
    services, pods = (
        finished_runs[name] for name in ("win2022-overlay-services", "win2022-overlay-dsr")
    )
    flows = ("session-affinity", "dsr-source-address", "service-no-endpoints", "node-to-pod")
    both = {check for check in services.verdicts if check.split("/")[0] in flows}
    assert both
    for check in both:
        assert services.verdicts[check] == pods.verdicts[check], check
    on_host = services.flow("kube-proxy-on-host")
    judged = {name: one["verdict"] for name, one in on_host.items() if one["verdict"] != "skipped"}
    assert len(judged) == 7
    assert set(judged.values()) == {"pass"}
