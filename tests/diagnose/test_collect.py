"""What is collected about a subject: within bounds, without secrets, and with a reason for what is missing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nettests.diagnose import Collected, Collector, Reader, Subject, Wanted, index
from nettests.diagnose.object_text import is_whole
from nettests.model.cluster_profile import DiagnosticsLimits
from nettests.redaction import Redactor
from nettests.session.run import collected
from tests.diagnose.cluster import NAMESPACE, Cluster, Tools, pod
from tests.probes.made import FACTS

NODE = Subject("node", "w1")
SERVICE = Subject("service", "svc-server-linux-1-1")
POD = Subject("pod", "probe-windows-1-1")
PATH = f"/api/v1/namespaces/{NAMESPACE}"


@pytest.fixture
def cluster() -> Cluster:
    """A node with kube-proxy, a Service and a Pod that was restarted."""
    made = Cluster()
    proxy = pod("kube-proxy-x1", "kube-proxy")
    proxy["metadata"]["namespace"] = "kube-system"
    made.objects = {
        "/api/v1/nodes/w1": {"kind": "Node", "metadata": {"name": "w1"}},
        "/api/v1/events": {"items": []},
        "/api/v1/pods": {"kind": "PodList", "items": [proxy, pod("others", "app")]},
        f"{PATH}/events": {
            "items": [
                {"lastTimestamp": "2026-11-21T22:00:02Z", "reason": "Late", "message": "b"},
                {"lastTimestamp": "2026-11-21T22:00:01Z", "reason": "Early", "message": "a\nb"},
            ]
        },
        f"{PATH}/services/{SERVICE.name}": {"kind": "Service", "spec": {"clusterIP": "10.96.1.1"}},
        f"{PATH}/pods/{POD.name}": pod(POD.name, "probe", restarts=1),
    }
    made.logs = {
        "/api/v1/namespaces/kube-system/pods/kube-proxy-x1/log": "Policy creation failed\n",
        f"{PATH}/pods/{POD.name}/log": "listening\n",
        f"{PATH}/pods/{POD.name}/log?previous": "out of memory\n",
    }
    return made


def tools() -> Tools:
    """The tools that the node has."""
    return Tools(
        powershell='{"VIPs": ["10.96.0.10"]}',
        ipconfig="IPv4 Address",
        netsh="failed: access is denied",
        vfpctrl="  Port name             : 7F1C2A54-5F5C-4E2B-9A6D-0B6D4D1C7E11\n",
    )


Collect = Callable[..., dict[str, Collected]]


@pytest.fixture
def collect(cluster: Cluster, tmp_path: Path) -> Collect:
    """Collects subjects of the cluster by the node's tools."""

    def run(*subjects: Subject, by: Tools | None = None, **limits: float) -> dict[str, Collected]:
        probed = by or tools()
        reader = Reader(
            api=cluster,
            facts=FACTS,
            namespace=NAMESPACE,
            redactor=Redactor(("known-secret",)),
            open_exec=lambda _: probed,
            why_closed=lambda node: "" if node == "w1" else "no Pod stands for it",
            seconds=5,
            log_lines=10,
            log_bytes=1000,
        )
        bounds = DiagnosticsLimits(**{"seconds": 30.0, **limits})  # type: ignore[arg-type]
        wanted = [Wanted(subject=one, checks=("flow/a",)) for one in subjects]
        found = Collector(reader=reader, directory=tmp_path, limits=bounds).run(wanted)
        return {one.subject.name: one for one in found}

    return run


def files(one: Collected) -> dict[str, str]:
    """The titles of what was written, by file."""
    return {item.file: item.title for item in one.items if item.file}


def test_a_windows_node_is_collected_with_its_own_tools(collect: Collect, tmp_path: Path) -> None:
    """Node, kube-proxy's Pod and log, HNS, VFP counters; what a tool refuses or lacks is said."""
    node = collect(NODE)["w1"]
    written = files(node)
    assert {"node.yaml", "pods.txt", "kube-proxy.yaml", "kube-proxy.log", "vfp-counters.txt"} < {
        *written
    }
    folder = tmp_path / "nodes" / "w1"
    assert "10.96.0.10" in (folder / "hns-load-balancers.json").read_text()
    assert (folder / "kube-proxy.log").read_text() == "Policy creation failed\n"
    assert "netsh.exe ended with 1: failed: access is denied" in node.missing
    assert "routes" in node.missing["there is no route.exe"]


def test_pods_of_others_are_shown_as_a_table_alone(collect: Collect, tmp_path: Path) -> None:
    """A node's other Pods are named; their specification is not ours to carry away."""
    collect(NODE)
    assert "others" in (tmp_path / "nodes/w1/pods.txt").read_text()
    yaml = [path for path in tmp_path.rglob("*.yaml") if "others" in path.read_text()]
    assert yaml == []


def test_counters_are_read_from_listed_ports_alone(collect: Collect) -> None:
    """The switch's ports are listed first; each one's counters are probed by its identifier."""
    probed = tools()
    collect(NODE, by=probed)
    counters = [words for words in probed.ran if "/get-port-counter" in words]
    assert counters == [
        ("vfpctrl.exe", "/port", "7F1C2A54-5F5C-4E2B-9A6D-0B6D4D1C7E11", "/get-port-counter")
    ]


def test_layers_and_rules_of_the_switchs_ports_are_read(collect: Collect, tmp_path: Path) -> None:
    """As Microsoft's collectlogs.ps1 does, each under the command that printed it."""
    probed = tools()
    node = collect(NODE, by=probed)["w1"]
    port = "7F1C2A54-5F5C-4E2B-9A6D-0B6D4D1C7E11"
    for what in ("layer", "rule"):
        assert ("vfpctrl.exe", f"/list-{what}", "/port", port) in probed.ran
        assert f"vfp-{what}s.txt" in files(node)
        text = (tmp_path / "nodes" / "w1" / f"vfp-{what}s.txt").read_text()
        assert text.startswith(f"# vfpctrl.exe /list-{what} /port {port}\n")


def test_of_many_ports_some_are_read(collect: Collect) -> None:
    """A node with hundreds of Pods is not read for minutes."""
    names = [f"7F1C2A54-5F5C-4E2B-9A6D-{number:012X}" for number in range(100)]
    probed = Tools(vfpctrl="".join(f"  Port name             : {name}\n" for name in names))
    collect(NODE, by=probed)
    ran = [words for words in probed.ran if words[0] == "vfpctrl.exe"]
    assert len(ran) == 1 + 16 + 2 * 8


def test_a_node_nobody_stands_for_says_so_once(collect: Collect) -> None:
    """Without a Pod on the node its tools are one reason, and its objects are collected all the same."""
    node = collect(Subject("node", "n1"))["n1"]
    assert node.missing["no Pod stands for it"] == ("what its own tools say",)


def test_a_broken_exec_is_tried_few_times(collect: Collect) -> None:
    """A channel that failed once is not waited for by every tool."""
    broken = tools()
    broken.broken = "exec in node-windows-1-1 did not answer"
    node = collect(NODE, by=broken)["w1"]
    assert len(node.missing["exec in node-windows-1-1 did not answer"]) > 15
    assert len(broken.ran) <= 12  # as many as were under way at the same time


def test_a_service_and_a_pod_with_events_and_both_logs(collect: Collect, tmp_path: Path) -> None:
    """Events stand in the order of time; a restarted container has the log before its end too."""
    found = collect(SERVICE, POD)
    assert "10.96.1.1" in (tmp_path / "services" / SERVICE.name / "service.yaml").read_text()
    assert list(found[SERVICE.name].missing.values()) == [("its EndpointSlices",)]
    folder = tmp_path / "pods" / POD.name
    assert (folder / "probe.previous.log").read_text() == "out of memory\n"
    events = (folder / "events.txt").read_text().splitlines()
    assert [line.split()[-1] for line in events] == ["b", "b"]
    assert [("Early" in line, "Late" in line) for line in events] == [(True, False), (False, True)]


def test_what_may_not_be_read_is_a_reason_and_no_error(collect: Collect, cluster: Cluster) -> None:
    """With lesser permissions the rest is collected, and the denied part names the refusal."""
    cluster.denied = {"/api/v1/nodes", "/api/v1/pods", "events"}
    node = collect(NODE)["w1"]
    assert "hns-endpoints.json" in files(node)
    assert sum("403 Forbidden" in reason for reason in node.missing) == 3


def test_planted_secrets_are_nowhere(collect: Collect, cluster: Cluster, tmp_path: Path) -> None:
    """Variables, annotations, logs and tools' output: no secret reaches any file or reason."""
    cluster.objects[f"{PATH}/pods/{POD.name}"] = pod(
        POD.name, "probe", env=[{"name": "DB_PASSWORD", "value": "hunter2"}]
    )
    cluster.logs[f"{PATH}/pods/{POD.name}/log"] = "GET / Authorization: Bearer hunter2-hunter2\n"
    said = tools()
    said.said |= {
        "powershell": '{"token": "hunter2", "said": "known-secret"}',
        "netsh": "failed: password=hunter2",
    }
    found = collect(NODE, POD, by=said)
    page = index(list(found.values()), [])
    texts = [page, *(path.read_text() for path in tmp_path.rglob("*") if path.is_file())]
    assert not [text for text in texts if "hunter2" in text or "known-secret" in text]
    assert any("[redacted]" in text for text in texts)


def test_a_long_log_keeps_its_end_and_says_what_is_gone(
    collect: Collect, cluster: Cluster, tmp_path: Path
) -> None:
    """An item is cut to its bound, with a line that says so; objects keep their beginning."""
    log = "".join(f"line {number}\n" for number in range(9000))
    cluster.logs[f"{PATH}/pods/{POD.name}/log"] = log
    cluster.objects[f"{PATH}/pods/{POD.name}"]["metadata"]["note"] = "x" * 9000
    collect(POD, item_bytes=2048)
    text = (tmp_path / "pods" / POD.name / "probe.log").read_text()
    assert len(text) <= 2048
    assert text.startswith(f"[cut: {len(log)} bytes were read")
    assert text.endswith("line 8999\n")
    yaml = (tmp_path / "pods" / POD.name / "pod.yaml").read_text()
    assert yaml.startswith(("apiVersion", "metadata"))
    assert yaml.rstrip().endswith("at most 2048 are kept]")


def test_a_cut_file_speaks_neither_for_a_trace_nor_against_it(
    collect: Collect, tmp_path: Path
) -> None:
    """The routes of a node among many are cut: what is not among them may have been."""
    routes = "".join(f"  10.244.{number}.0  255.255.255.0  On-link\n" for number in range(250))
    for bound, said in ((262_144, routes), (2048, None)):
        collect(NODE, by=Tools(route=routes), item_bytes=bound)
        assert collected(tmp_path)("w1", "routes.txt") == said
    assert collected(tmp_path)("w1", "addresses.txt") is None


def test_all_files_together_keep_to_their_bound(collect: Collect, tmp_path: Path) -> None:
    """What exceeds the whole's bound is not written, and its place says why."""
    found = collect(NODE, SERVICE, POD, total_bytes=400)
    written = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert written <= 400
    reasons = {reason for one in found.values() for reason in one.missing}
    assert "not collected: the diagnostics have reached 400 bytes" in reasons


def test_an_output_that_was_cut_short_is_missing(collect: Collect) -> None:
    """What it lacks would seem not to be there; tools that print no mark of their end are taken as they are."""
    cutting = tools()
    cutting.cuts = True
    node = collect(NODE, by=cutting)["w1"]
    assert "HNS networks" in node.missing["the output of powershell.exe was cut short"]
    assert "addresses.txt" in files(node)


def test_a_tool_that_hangs_is_given_up(collect: Collect) -> None:
    """When the time is over the rest is there, and what is missing says so."""
    hanging = tools()
    hanging.hangs = "ipconfig"
    node = collect(NODE, by=hanging, seconds=1.0)["w1"]
    hanging.let_go.set()
    assert node.missing["not collected: the 1 s for diagnostics were used up"] == (
        "addresses of all compartments",
    )
    assert "hns-networks.json" in files(node)


def test_a_switch_that_is_slow_keeps_what_has_come(collect: Collect, tmp_path: Path) -> None:
    """Counters and layers stand in their files, and what rules were read; the rest is missing by name."""
    names = [f"7F1C2A54-5F5C-4E2B-9A6D-{number:012X}" for number in range(3)]
    slow = Tools(vfpctrl="".join(f"  Port name             : {name}\n" for name in names))
    slow.hangs_at = ("vfpctrl.exe", "/list-rule", "/port", names[1])
    node = collect(NODE, by=slow, seconds=1.0)["w1"]
    slow.let_go.set()
    assert {"vfp-counters.txt", "vfp-layers.txt", "vfp-rules.txt"} < {*files(node)}
    folder = tmp_path / "nodes" / "w1"
    assert is_whole((folder / "vfp-counters.txt").read_text())
    rules = (folder / "vfp-rules.txt").read_text()
    assert rules.startswith(f"# vfpctrl.exe /list-rule /port {names[0]}\n")
    assert rules.endswith("[cut: 1 of 3 commands had run by then]\n")
    assert not is_whole(rules)
    assert node.missing["not collected: the 1 s for diagnostics were used up"] == (
        "more counters, layers and rules of the virtual switch",
    )


def test_a_file_that_grows_counts_once(collect: Collect, tmp_path: Path) -> None:
    """What it had before is no part of all bytes, nor a file of its own, and the whole one has no note."""
    names = [f"7F1C2A54-5F5C-4E2B-9A6D-{number:012X}" for number in range(8)]
    probed = Tools(vfpctrl="".join(f"  Port name             : {name}\n" for name in names))
    collect(NODE, by=probed, total_bytes=16_000)
    folder = tmp_path / "nodes" / "w1"
    vfp = sorted(path.name for path in folder.glob("vfp-*"))
    assert vfp == ["vfp-counters.txt", "vfp-layers.txt", "vfp-ports.txt", "vfp-rules.txt"]
    assert all(is_whole((folder / name).read_text()) for name in vfp)


def test_the_page_names_files_reasons_and_checks(collect: Collect) -> None:
    """Whoever opens the folder finds what is where, what is missing, and for which checks it was read."""
    page = index([*collect(SERVICE).values()], [Subject("node", "w9")])
    assert f"[services/{SERVICE.name}/service.yaml]" in page
    assert "not available: its EndpointSlices: status 404" in page
    assert "- `flow/a`" in page
    assert "## Left out\n\n- node w9" in page
