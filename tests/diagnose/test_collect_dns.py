"""The cluster's DNS among the diagnostics, and what happens where the cluster does not answer as it should."""

from pathlib import Path
from typing import Any

import pytest

from nettests.diagnose import Collected, Collector, Reader, Subject, Wanted
from nettests.diagnose.subjects import DNS, POD, SERVICE
from nettests.model.channel import ChannelError
from nettests.model.cluster_profile import DiagnosticsLimits
from nettests.redaction import Redactor
from tests.diagnose.cluster import NAMESPACE, Cluster, Tools
from tests.probes.made import FACTS

SYSTEM = "/api/v1/namespaces/kube-system"
SUBJECT = Subject(DNS, "")


def of_dns(name: str) -> dict[str, Any]:
    """Return a Pod of the cluster's DNS."""
    return {
        "metadata": {"name": name, "namespace": "kube-system"},
        "spec": {"containers": [{"name": "coredns"}]},
        "status": {"containerStatuses": [{"name": "coredns", "restartCount": 0}]},
    }


@pytest.fixture
def cluster() -> Cluster:
    """A cluster whose DNS has three Pods behind two Services of its label."""
    made = Cluster()
    names = ("coredns-a", "coredns-b", "coredns-c")
    services = [{"metadata": {"name": name}} for name in ("kube-dns", "kube-dns-upstream")]
    made.objects = {
        f"{SYSTEM}/services": {"kind": "ServiceList", "apiVersion": "v1", "items": services},
        f"{SYSTEM}/services/kube-dns": {"kind": "Service", "spec": {"clusterIP": "10.96.0.10"}},
        f"{SYSTEM}/pods": {"kind": "PodList", "apiVersion": "v1", "items": [*map(of_dns, names)]},
        f"{SYSTEM}/configmaps/coredns": {"kind": "ConfigMap", "data": {"Corefile": ".:53 {}"}},
        f"{SYSTEM}/events": {"items": []},
        "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices": {"items": []},
    }
    made.logs = {f"{SYSTEM}/pods/{name}/log": f"{name} is ready\n" for name in names}
    return made


def collect(cluster: Cluster, folder: Path, subject: Subject = SUBJECT) -> Collected:
    """Collect one subject of the cluster; no node has a Pod that would run tools."""
    reader = Reader(
        api=cluster,
        facts=FACTS,
        namespace=NAMESPACE,
        redactor=Redactor(()),
        open_exec=lambda _: Tools(),
        why_closed=lambda _: "no Pod stands for it",
        seconds=5,
        log_lines=10,
        log_bytes=1000,
    )
    limits = DiagnosticsLimits(seconds=30.0)
    wanted = [Wanted(subject=subject, checks=("flow/a",))]
    (collected,) = Collector(reader=reader, directory=folder, limits=limits).run(wanted)
    return collected


def problems(collected: Collected) -> dict[str, str]:
    """Return what is missing, with the reason."""
    return {item.title: item.problem for item in collected.items if item.problem}


def test_the_dns_is_its_service_its_pods_their_logs_and_its_configuration(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Of many Pods two stand for the others, and of several Services the first; a list's items say what they are."""
    collected = collect(cluster, tmp_path)
    written = {item.file for item in collected.items if item.file}
    assert {"service.yaml", "endpointslices.yaml", "pods.yaml", "configmap.yaml"} <= written
    assert problems(collected) == {}
    pods = (tmp_path / "dns" / "pods.yaml").read_text()
    assert (pods.count("kind: Pod\n"), "coredns-c" in pods) == (2, False)
    logs = "".join(path.read_text() for path in (tmp_path / "dns").glob("*.log"))
    assert ("coredns-a is ready" in logs, "coredns-c is ready" in logs) == (True, False)
    assert "# there is none" in (tmp_path / "dns" / "endpointslices.yaml").read_text()
    requested = {path for path, _ in cluster.probed}
    assert f"{SYSTEM}/services/kube-dns-upstream" not in requested


def test_a_dns_that_may_not_be_read_has_one_reason(cluster: Cluster, tmp_path: Path) -> None:
    """Where neither Service nor Pods can be listed, nothing else is tried."""
    cluster.denied.add("/services")
    reason = problems(collect(cluster, tmp_path))
    assert list(reason) == ["the Service and Pods of the cluster DNS"]
    assert "403 Forbidden" in reason["the Service and Pods of the cluster DNS"]


def test_a_part_that_is_not_there_keeps_no_other_away(cluster: Cluster, tmp_path: Path) -> None:
    """A DNS without a ConfigMap, and slices that may not be listed, are reasons of their own."""
    del cluster.objects[f"{SYSTEM}/configmaps/coredns"]
    cluster.denied.add("endpointslices")
    found = collect(cluster, tmp_path)
    assert problems(found).keys() == {"its ConfigMap", "its EndpointSlices"}
    assert any(item.file == "pods.yaml" for item in found.items)


def test_a_pod_that_is_gone_is_said_to_be(cluster: Cluster, tmp_path: Path) -> None:
    """Its events and logs are not looked for: they are the Pod's."""
    found = collect(cluster, tmp_path, Subject(POD, "probe-windows-1-1"))
    assert [item.title for item in found.items] == ["the Pod"]
    assert "not found" in problems(found)["the Pod"]


class Broken(Cluster):
    """A cluster that is away, or answers with something else than JSON."""

    def __init__(self, text: str | None) -> None:
        super().__init__()
        self.text = text

    def read(self, path: str, query: Any) -> tuple[int, str]:
        if self.text is None:
            raise ChannelError("the API server cannot be reached")
        return 200, self.text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "the API server cannot be reached"),
        ("<html>login</html>", "did not answer with JSON"),
        ('["a list"]', "nettests failed: AttributeError"),
    ],
)
def test_whatever_comes_instead_is_a_reason_and_ends_nothing(
    text: str | None, why: str, tmp_path: Path
) -> None:
    """An API server that is away, a proxy's page, and data of another shape."""
    found = collect(Broken(text), tmp_path, Subject(SERVICE, "svc"))
    assert found.items
    assert all(item.file == "" for item in found.items if item.problem)
    assert any(why in item.problem for item in found.items), problems(found)


def test_a_folder_that_cannot_be_written_is_a_reason(cluster: Cluster, tmp_path: Path) -> None:
    """Where a file stands in the folder's place, each item says so and the run goes on."""
    (tmp_path / "dns").write_text("")
    found = collect(cluster, tmp_path)
    assert all(reason.startswith("it cannot be written: ") for reason in problems(found).values())
    assert len(problems(found)) >= 4
