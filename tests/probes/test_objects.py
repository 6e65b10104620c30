"""The objects of a plan: pinned, tolerating, owned, and exposing nothing that runs commands."""

from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from nettests.model.check import Action, Plan, ProbePod, ServiceObject, Target, Vantage
from nettests.model.cluster_profile import Images
from nettests.model.facts import known
from nettests.model.labels import MEMBER_LABEL
from nettests.model.service import ServiceSettings
from nettests.model.windows_programs import AGNHOST, START_AGNHOST
from nettests.model.words import OS, Protocol, Question, TargetKind, VantageKind
from nettests.plan.least_privilege import limited
from nettests.plan.pod_security import forbidden
from nettests.probes import objects
from nettests.resources import manifests_path
from tests.probes.made import FACTS, PODS, check

SERVICES = (
    ServiceObject(
        name="svc-server-linux-1-1",
        backends=("server-linux-1-1",),
        settings=ServiceSettings(label="svc", type="NodePort"),
    ),
    ServiceObject(
        name="affinity-linux-1",
        backends=("server-linux-1-1", "b"),
        settings=ServiceSettings(label="affinity", session_affinity=True),
    ),
    ServiceObject(
        name="servers",
        backends=("server-linux-1-1",),
        settings=ServiceSettings(label="servers", headless=True),
    ),
)  # fmt: skip
PLAN = Plan(checks=(), skips=(), pods=PODS, services=SERVICES)
BLANK = objects.Blank(
    namespace="nettests-r",
    labels={"nettests.dev/run": "r"},
    images=Images(probe="registry.internal/agnhost:1"),
)


POLICIES = (
    ProbePod(
        name="probe-windows-1-1-none",
        purpose="resolver",
        node="w1",
        os=OS.WINDOWS,
        pool="windows-1",
        dns_policy="None",
    ),
    ProbePod(
        name="node-linux-1-1-hostnet",
        purpose="node",
        node="n1",
        os=OS.LINUX,
        pool="linux-1",
        dns_policy="ClusterFirstWithHostNet",
    ),
)


@pytest.fixture
def pods() -> dict[str, Any]:
    """The plan's pods by name."""
    return {pod["metadata"]["name"]: pod for pod in objects.pods(PLAN, FACTS, BLANK)}


@pytest.fixture
def services() -> dict[str, Any]:
    """The plan's Services by name."""
    return {item["metadata"]["name"]: item for item in objects.services(PLAN, FACTS, BLANK)}


def test_every_pod_is_pinned_declares_its_os_and_is_owned(pods: dict[str, Any]) -> None:
    """Labels pin a pod to its node and OS; run labels and image come from the run."""
    for planned in PODS:
        pod = pods[planned.name]
        spec = pod["spec"]
        assert spec["nodeSelector"] == {
            "kubernetes.io/hostname": planned.node,
            "kubernetes.io/os": planned.os.value,
        }
        assert spec["os"] == {"name": planned.os.value}
        assert "nodeName" not in spec
        assert pod["metadata"]["namespace"] == "nettests-r"
        assert pod["metadata"]["labels"]["nettests.dev/run"] == "r"
        assert {item["image"] for item in spec["containers"]} == {"registry.internal/agnhost:1"}


def test_no_pod_has_an_account_links_or_a_probe_over_the_network(pods: dict[str, Any]) -> None:
    """httpGet and tcpSocket probes are node → pod flows themselves: a process in the container proves that it listens.

    But for the pod whose probe fails wherever it gets.
    """
    for pod in pods.values():
        assert pod["spec"]["automountServiceAccountToken"] is False
        assert pod["spec"]["enableServiceLinks"] is False
        for container in pod["spec"]["containers"]:
            assert not {"livenessProbe", "readinessProbe"} & container.keys()
            assert not {"httpGet", "tcpSocket", "grpc"} & container.get("startupProbe", {}).keys()


def test_taints_of_the_node_are_tolerated(pods: dict[str, Any]) -> None:
    """Windows nodes are tainted in most clusters; the toleration names the taint."""
    assert pods["probe-windows-1-1"]["spec"]["tolerations"] == [
        {"key": "os", "operator": "Exists", "effect": "NoSchedule"}
    ]
    assert pods["server-linux-1-1"]["spec"]["tolerations"] == []


def test_a_windows_node_vantage_is_a_host_process(pods: dict[str, Any]) -> None:
    """HostProcess needs hostNetwork, hostProcess, a user, and the path of the program."""
    spec = pods["node-windows-1-1"]["spec"]
    assert spec["hostNetwork"] is True
    assert spec["securityContext"]["windowsOptions"] == {
        "hostProcess": True,
        "runAsUserName": "NT AUTHORITY\\SYSTEM",
    }
    assert spec["containers"][0]["command"] == list(START_AGNHOST)


def test_only_what_stands_on_a_windows_node_is_given_a_command(pods: dict[str, Any]) -> None:
    """Elsewhere the image's own entry point starts."""
    for name, pod in pods.items():
        commands = [container.get("command") for container in pod["spec"]["containers"]]
        on_host = name.startswith("node-windows")
        assert all(commands) if on_host else not any(commands), name


def test_every_server_proves_that_it_listens(pods: dict[str, Any]) -> None:
    """A connection with itself, by a process in the container, comes before Ready; what only waits proves nothing."""
    for name, pod in pods.items():
        for container in pod["spec"]["containers"]:
            ports = [word.partition("=")[2] for word in container["args"] if "-port=" in word]
            probe = container.get("startupProbe")
            assert bool(probe) is bool(ports), name
            if probe:
                program, *words = probe["exec"]["command"]
                assert program == (AGNHOST if name.startswith("node-windows") else "/agnhost")
                assert words == ["connect", "--timeout=5s", f"127.0.0.1:{ports[0]}"]
                assert probe["timeoutSeconds"] > 5


def test_a_container_that_ends_says_what_it_wrote_last(pods: dict[str, Any]) -> None:
    """The end of its log is in its Pod's status, for which no further request is needed."""
    for pod in pods.values():
        for container in pod["spec"]["containers"]:
            assert container["terminationMessagePolicy"] == "FallbackToLogsOnError"


def test_a_linux_node_vantage_is_on_the_host(pods: dict[str, Any]) -> None:
    """hostNetwork is enough on Linux, and nothing of Windows is declared."""
    spec = pods["node-linux-1-1"]["spec"]
    assert spec["hostNetwork"] is True
    assert "windowsOptions" not in spec["securityContext"]


@pytest.mark.parametrize("file", sorted((manifests_path() / "probes").glob("*.yaml")))
def test_whatever_is_exposed_has_its_handler_overridden(file: Path) -> None:
    """Only the probe inside the pod network runs a netexec that serves /shell and /exit."""
    item = YAML(typ="safe").load(file.read_text())
    if item["kind"] != "Pod" or item["metadata"]["labels"]["nettests.dev/purpose"] == "probe":
        return
    for container in item["spec"]["containers"]:
        if container.get("command", [""])[0] == "sleep":
            continue  # it serves nothing
        command, *options = container["args"]
        overridden = any(option.startswith("--http-override=/") for option in options)
        assert command in {"no-snat-test", "pause"} or (command == "netexec" and overridden)


def test_pods_run_with_no_more_rights_than_they_use(pods: dict[str, Any]) -> None:
    """At level privileged too: no root, no capability, no administrator; HostProcess stays what it is."""
    for name, pod in pods.items():
        spec = pod["spec"]
        if name.startswith("node-windows"):
            continue
        if spec["os"]["name"] == "windows":
            assert spec["securityContext"] == {"windowsOptions": {"runAsUserName": "ContainerUser"}}
            continue
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["runAsUser"] > 0
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in spec["containers"]:
            context = container["securityContext"]
            assert context["allowPrivilegeEscalation"] is False
            assert context["capabilities"] == {"drop": ["ALL"]}


def test_what_pings_keeps_the_right_to_and_no_other() -> None:
    """A probe that checks ping from is root without capabilities but the one that raw sockets take."""
    action = Action(
        source=Vantage(kind=VantageKind.POD, probe="probe-linux-1-1", node="n1", os=OS.LINUX),
        target=Target(kind=TargetKind.POD_IP, pod="server-linux-1-1"),
        protocol=Protocol.ICMP,
        question=Question.PING,
    )
    probe_pod = replace(PODS[0], name="probe-linux-1-1", purpose="probe", node="n1", os=OS.LINUX)
    plan = replace(PLAN, checks=(check(action),), pods=(*PODS, probe_pod))
    made = {pod["metadata"]["name"]: pod["spec"] for pod in objects.pods(plan, FACTS, BLANK)}
    probe, server = made["probe-linux-1-1"], made["server-linux-1-1"]
    assert "runAsUser" not in probe["securityContext"]
    dropped = set(probe["containers"][0]["securityContext"]["capabilities"]["drop"])
    assert "NET_RAW" not in dropped
    assert {"CHOWN", "DAC_OVERRIDE", "SETUID", "NET_BIND_SERVICE", "SYS_CHROOT"} <= dropped
    assert server["securityContext"]["runAsNonRoot"] is True
    assert not forbidden(probe, OS.LINUX, "baseline")


def test_what_a_check_needs_of_rights_is_left_alone() -> None:
    """A Pod with contexts or an image of its own is the question itself."""
    own = {"containers": [{"name": "c"}], "securityContext": {"runAsUser": 0}}
    other = {"containers": [{"name": "c", "image": "coredns:1"}]}
    assert limited(own, OS.LINUX) == own
    assert limited(other, OS.LINUX) == other
    plain = {"containers": [{"name": "c"}]}
    user = {"windowsOptions": {"runAsUserName": "ContainerUser"}}
    assert limited(plain, OS.WINDOWS)["securityContext"] == user
    assert limited({**plain, "os": {"name": "windows"}}, OS.LINUX).keys() == {"containers", "os"}
    assert limited(plain, OS.LINUX)["securityContext"]["runAsNonRoot"] is True


@pytest.mark.parametrize(
    "writes",
    [
        {"volumeMounts": [{"name": "v", "mountPath": "/v"}]},
        {"args": ["mounttest", "--new_file_0644=/dev/termination-log"]},
    ],
)
def test_what_writes_files_on_windows_stays_an_administrator(writes: dict[str, Any]) -> None:
    """Folders of volumes and of termination messages let no other account write."""
    writing = {"containers": [{"name": "c", **writes}]}
    assert limited(writing, OS.WINDOWS) == writing


def test_servers_have_names_and_back_their_services(
    pods: dict[str, Any], services: dict[str, Any]
) -> None:
    """A server pod is selected by each Service that lists it and by no other pod's."""
    server = pods["server-linux-1-1"]
    assert (server["spec"]["hostname"], server["spec"]["subdomain"]) == (
        "server-linux-1-1",
        "servers",
    )
    for service in services.values():
        selector = service["spec"]["selector"]
        assert selector.items() <= server["metadata"]["labels"].items()
        assert not selector.items() <= pods["probe-windows-1-1"]["metadata"]["labels"].items()


def test_services_have_their_kind(services: dict[str, Any]) -> None:
    """NodePort, affinity and headless are what the plan says; ports are the same everywhere."""
    assert services["svc-server-linux-1-1"]["spec"]["type"] == "NodePort"
    assert services["affinity-linux-1"]["spec"]["sessionAffinity"] == "ClientIP"
    assert services["servers"]["spec"]["clusterIP"] == "None"
    assert [
        (port["name"], port["port"], port["targetPort"], port["protocol"])
        for port in services["svc-server-linux-1-1"]["spec"]["ports"]
    ] == [("hostname", 80, 18080, "TCP"), ("clientip", 82, 18082, "TCP"), ("udp", 81, 18081, "UDP")]


def spec_of(settings: ServiceSettings, backend: str = "server-linux-1-1") -> Any:
    """Return the ``spec`` of one Service with these settings."""
    service = ServiceObject(name="s", backends=(backend,), settings=settings)
    plan = Plan(checks=(), skips=(), pods=PODS, services=(service,))
    return objects.services(plan, FACTS, BLANK)[0]["spec"]


def test_settings_are_spelled_as_the_api_spells_them() -> None:
    """Each setting becomes its field; what is not stated stays the API server's to fill in."""
    stated = ServiceSettings(
        label="s",
        type="LoadBalancer",
        session_affinity=True,
        affinity_seconds=1,
        external_traffic_policy="Local",
        internal_traffic_policy="Local",
        publish_not_ready=True,
    )
    spec = spec_of(stated)
    assert spec["type"] == "LoadBalancer"
    assert spec["sessionAffinityConfig"] == {"clientIP": {"timeoutSeconds": 1}}
    assert spec["externalTrafficPolicy"] == spec["internalTrafficPolicy"] == "Local"
    assert spec["publishNotReadyAddresses"] is True
    assert set(spec_of(ServiceSettings(label="s"))) == {"ports", "selector", "type"}


def test_target_ports_are_those_of_the_pods_behind() -> None:
    """Names where names are queried, and the one port of a full netexec before a probe."""
    named = spec_of(ServiceSettings(label="s", named_ports=True))["ports"]
    assert [port["targetPort"] for port in named] == ["hostname", "clientip", "udp"]
    probe = spec_of(ServiceSettings(label="s", behind="probe"), "probe-windows-1-1")["ports"]
    assert [port["targetPort"] for port in probe] == [8080, 8080, 8081]


def test_servers_name_the_ports_that_services_probe_by_name(pods: dict[str, Any]) -> None:
    """Each name is given once in the pod, to the port that the numbers mean."""
    containers = pods["server-linux-1-1"]["spec"]["containers"]
    named = {port["name"]: port["containerPort"] for one in containers for port in one["ports"]}
    assert named == {"hostname": 18080, "clientip": 18082, "udp": 18081}


def test_an_external_name_is_the_declared_target() -> None:
    """Such a Service has a name and neither selector nor ports."""
    spec = spec_of(ServiceSettings(label="s", type="ExternalName", external_name=True))
    assert spec == {"type": "ExternalName", "externalName": "server.outside.test"}


def test_label_values_and_keys_are_valid() -> None:
    """Keys and values stay within Kubernetes' limits for the longest names a plan makes."""
    longest = f"{MEMBER_LABEL}svc-server-windows-10-2-b"
    assert len(longest.partition("/")[2]) <= 63


def test_the_namespace_allows_privileged_pods() -> None:
    """Pod Security would refuse hostNetwork and HostProcess otherwise."""
    item = objects.namespace(BLANK)
    assert item["metadata"]["name"] == "nettests-r"
    assert item["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    assert item["metadata"]["labels"]["nettests.dev/run"] == "r"


def test_a_namespace_of_a_level_stands_beside_the_run_s() -> None:
    """It enforces the level, and carries the run's marks, by which it is removed."""
    item = objects.namespace_of_level(BLANK, "restricted")
    assert item["metadata"]["name"] == "nettests-r-restricted"
    assert item["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert item["metadata"]["labels"]["nettests.dev/run"] == "r"


def test_pods_resolve_by_the_policy_they_are_planned_with() -> None:
    """None names the cluster's DNS and another namespace's domain; a second node pod opens no port."""
    facts = replace(FACTS, dns_address=known(ip_address("10.96.0.10"), "test"))
    made = objects.pods(replace(PLAN, pods=POLICIES, services=()), facts, BLANK)
    none, host = (pod["spec"] for pod in made)
    assert none["dnsPolicy"] == "None"
    assert none["dnsConfig"] == {
        "nameservers": ["10.96.0.10"],
        "searches": ["default.svc.cluster.local"],
    }
    assert (host["dnsPolicy"], host["hostNetwork"]) == ("ClusterFirstWithHostNet", True)
    assert host["containers"][0]["args"] == ["pause"]


def made(**settings: Any) -> Any:
    """The Service of one flow with these settings."""
    service = ServiceObject(
        name="one-a",
        backends=("server-linux-1-1",),
        settings=ServiceSettings(label="one", **settings),
    )
    (item,) = objects.services(replace(PLAN, services=(service,)), FACTS, BLANK)
    return item


def test_a_load_balancer_is_requested_tcp_alone() -> None:
    """Clouds differ in whether they take two protocols; source ranges go into the spec as they are."""
    item = made(type="LoadBalancer", source_ranges=("192.0.2.255/32",))
    assert {port["protocol"] for port in item["spec"]["ports"]} == {"TCP"}
    assert item["spec"]["loadBalancerSourceRanges"] == ["192.0.2.255/32"]


def test_external_ips_are_documentation_addresses_unless_stated() -> None:
    """Each Service with an externalIP gets one of its own."""
    assert made(external_ip=True)["spec"]["externalIPs"] == ["192.0.2.1"]
    assert "externalIPs" not in made()["spec"]


def test_the_annotation_that_keeps_destinations() -> None:
    """It is spelled as kube-proxy reads it, on the Services that request it alone."""
    item = made(type="LoadBalancer", preserve_destination=True)
    assert item["metadata"]["annotations"] == {"preserve-destination": "true"}
    assert "annotations" not in made()["metadata"]


def test_servers_of_many_backends_are_none_of_all_servers() -> None:
    """A Service that is led to all servers would have more backends than HNS on Windows Server 2019 takes."""
    one = next(pod for pod in PODS if pod.purpose == "server")
    many = replace(one, name="backends-001")
    made = objects.pods(replace(PLAN, pods=(one, many)), FACTS, BLANK)
    purposes = [item["metadata"]["labels"]["nettests.dev/purpose"] for item in made]
    assert purposes == ["server", "backend"]
