"""What the node agent makes of pods, on a running lab."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes.stream import stream
from kubernetes.stream.ws_client import ERROR_CHANNEL

from tests.lab.running import AGNHOST, EVERYTHING, Lab, close, host_process, pod, until, waiting


@pytest.fixture(scope="module", autouse=True)
def tidy(lab: Lab) -> Iterator[None]:
    """Delete all pods of these tests at the end."""
    yield
    lab.core.delete_collection_namespaced_pod("default")


def test_a_windows_pod_serves_from_its_nodes_pod_range(lab: Lab) -> None:
    """A pod on a Windows node gets an address of that node's pod CIDR and answers there."""
    made = lab.run("serves", "win-1", os={"name": "windows"})
    assert made.status.pod_ip.startswith("10.244.3.")
    assert made.status.host_ip == "172.30.0.13"
    assert lab.exec("serves", "hostname")[1].strip() == "serves"


def test_host_network_is_the_nodes_own_on_linux(lab: Lab) -> None:
    """A hostNetwork pod on Linux has its node's address and name."""
    made = lab.run("host-linux", "linux-2", hostNetwork=True, args=["pause"])
    assert made.status.pod_ip == made.status.host_ip == "172.30.0.12"
    assert lab.exec("host-linux", "hostname") == (0, "linux-2\n")


def test_host_network_is_ignored_for_ordinary_windows_pods(lab: Lab) -> None:
    """``hostNetwork`` without HostProcess is accepted on Windows and changes nothing."""
    made = lab.run("host-ignored", "win-1", hostNetwork=True, args=["pause"])
    assert made.status.pod_ip.startswith("10.244.3.")
    assert made.status.pod_ip != made.status.host_ip


def test_a_host_process_pod_runs_in_its_nodes_network(lab: Lab) -> None:
    """A HostProcess pod has the node's address, sees its interfaces and uses its resolver."""
    lab.create(host_process("hpc", "win-2"))
    made = lab.ready("hpc")
    assert made.status.pod_ip == made.status.host_ip == "172.30.0.14"
    assert "172.30.0.14" in lab.exec("hpc", "ipconfig")[1]
    assert "whoami" not in lab.exec("hpc", "whoami")[1]


def test_a_linux_image_cannot_be_pulled_on_windows(lab: Lab) -> None:
    """An image without a Windows manifest stays in ErrImagePull, then ImagePullBackOff."""
    lab.create(pod("no-platform", "win-1", image="registry.k8s.io/coredns/coredns:v1.11.1"))
    found = lab.until_pod("no-platform", lambda it: waiting(it) == "ImagePullBackOff")
    message = found.status.container_statuses[0].state.waiting.message
    assert "no match for platform in manifest: not found" in message


def test_an_unknown_image_fails_first_and_backs_off_then(lab: Lab) -> None:
    """``ErrImagePull`` is shown with the registry's error before ``ImagePullBackOff``."""
    lab.create(pod("no-image", "linux-1", image="registry.k8s.io/none:1"))
    first = lab.until_pod("no-image", lambda it: waiting(it) == "ErrImagePull")
    assert "no such host" in first.status.container_statuses[0].state.waiting.message
    lab.until_pod("no-image", lambda it: waiting(it) == "ImagePullBackOff")
    assert until(lambda: lab.warnings("no-image").get("Failed"))


def test_a_base_image_of_another_build_does_not_start(lab: Lab) -> None:
    """Process isolation refuses a Windows Server 2022 image on a 2019 node, in HCS' words."""
    image = "mcr.microsoft.com/windows/nanoserver:ltsc2022"
    lab.create(pod("wrong-build", "win-1", image=image))
    found = lab.until_pod("wrong-build", lambda it: _ended(it) is not None)
    assert "does not match the host operating system" in _ended(found).message


def test_a_missing_program_is_a_start_error_and_crash_loops(lab: Lab) -> None:
    """A command that the image lacks ends with StartError, 128, and is restarted with back-off."""
    lab.create(pod("no-program", "linux-1", command=["nosuch"]))
    found = lab.until_pod("no-program", lambda it: waiting(it) == "CrashLoopBackOff")
    last = found.status.container_statuses[0].last_state.terminated
    assert (last.reason, last.exit_code) == ("StartError", 128)
    assert 'exec: "nosuch": executable file not found in $PATH' in last.message


@pytest.mark.parametrize(
    ("command", "phase", "code"),
    [(["true"], "Succeeded", 0), (["false"], "Failed", 1)],
    ids=["success", "failure"],
)
def test_a_pod_that_is_not_restarted_ends(
    lab: Lab, command: list[str], phase: str, code: int
) -> None:
    """With ``restartPolicy: Never`` the phase says how the program ended."""
    name = f"once-{phase.lower()}"
    lab.create(pod(name, "linux-1", command=command, restartPolicy="Never"))
    found = lab.until_pod(name, lambda it: it.status.phase == phase)
    assert _ended(found).exit_code == code
    assert found.status.pod_ip


def test_a_program_that_ends_is_started_again(lab: Lab) -> None:
    """With ``restartPolicy: Always`` an ended program runs again, its last log stays readable."""
    lab.create(pod("again", "linux-1", command=["hostname"]))
    lab.until_pod("again", lambda it: _restarts(it) >= 1)
    assert lab.core.read_namespaced_pod_log("again", "default", previous=True) == "again\n"


def test_a_readiness_probe_is_a_real_dial_from_the_node(lab: Lab) -> None:
    """A pod whose port is closed never becomes Ready; one whose port answers does."""
    probe = {"periodSeconds": 1, "failureThreshold": 1}
    lab.create(
        pod("closed", "win-1", args=["pause"], readinessProbe={**probe, "tcpSocket": {"port": 9}})
    )
    lab.run("open", "win-1", readinessProbe={**probe, "httpGet": {"path": "/", "port": 8080}})
    text = until(lambda: lab.warnings("closed").get("Unhealthy"))
    assert text.startswith("Readiness probe failed: dial tcp 10.244.3.")
    assert not lab.found("closed", lambda it: it.status.container_statuses[0].ready)


def test_a_failed_liveness_probe_restarts_the_container(lab: Lab) -> None:
    """An exec probe that fails ends the container; it is started again."""
    probe = {"periodSeconds": 1, "failureThreshold": 1, "exec": {"command": ["false"]}}
    lab.create(pod("sick", "linux-2", livenessProbe=probe))
    lab.until_pod("sick", lambda it: _restarts(it) >= 1)
    assert "Liveness probe failed" in lab.warnings("sick")["Unhealthy"]


def test_environment_comes_from_the_pods_fields(lab: Lab) -> None:
    """Downward API fields and references to earlier variables are filled in."""
    env = [
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "URL", "value": "http://$(IP):80/$$(IP)"},
    ]
    made = lab.run("fields", "linux-1", env=env)
    printed = lab.exec("fields", "env")[1].splitlines()
    assert f"URL=http://{made.status.pod_ip}:80/$(IP)" in printed
    assert "KUBERNETES_SERVICE_HOST=10.96.0.1" in printed


@pytest.mark.parametrize(
    ("policy", "more", "expected"),
    [
        ("ClusterFirst", {}, "10.96.0.10"),
        ("Default", {}, "198.51.100.10"),
        ("None", {"dnsConfig": {"nameservers": ["192.0.2.53"]}}, "192.0.2.53"),
    ],
)
def test_name_servers_follow_the_dns_policy(
    lab: Lab, policy: str, more: dict[str, Any], expected: str
) -> None:
    """Each policy gives its own name server."""
    name = f"dns-{policy.lower()}"
    lab.run(name, "linux-1", dnsPolicy=policy, **more)
    assert lab.exec(name, "/agnhost", "dns-server-list")[1].strip() == expected


def test_a_pod_with_a_hostname_and_subdomain_knows_its_full_name(lab: Lab) -> None:
    """The hosts file names the pod as the headless Service does."""
    lab.run("named", "linux-1", hostname="me", subdomain="group")
    hosts = lab.exec("named", "cat", "/etc/hosts")[1]
    assert ["me.group.default.svc.cluster.local", "me"] in [
        line.split()[1:] for line in hosts.splitlines()
    ]


def test_two_containers_share_one_address(lab: Lab) -> None:
    """Containers of a pod see the same network: one serves, the other queries over loopback."""
    body = pod("pair", "linux-1")
    body["spec"]["containers"].append({"name": "d", "image": AGNHOST, "args": ["pause"]})
    lab.create(body)
    lab.ready("pair")
    code, text = lab.exec("pair", "curl", "-s", "http://127.0.0.1:8080/hostname", container="d")
    assert (code, text) == (0, "pair")


def test_a_deleted_pod_is_gone_when_its_program_ends(lab: Lab) -> None:
    """SIGTERM ends the program; the address is free and the pod removed within its grace period."""
    lab.run("leaves", "linux-1", args=["pause"], terminationGracePeriodSeconds=15)
    lab.core.delete_namespaced_pod("leaves", "default")
    until(lambda: lab.is_gone("leaves"), seconds=10)


def test_a_program_that_ignores_sigterm_is_killed_after_its_grace(lab: Lab) -> None:
    """netexec sleeps on SIGTERM when told to; the grace period ends it."""
    lab.run("stubborn", "linux-1", args=["netexec", "--delay-shutdown=60"])
    lab.core.delete_namespaced_pod("stubborn", "default", grace_period_seconds=1)
    assert not lab.is_gone("stubborn")
    until(lambda: lab.is_gone("stubborn"), seconds=10)


def test_a_pod_for_another_os_is_rejected_by_the_node(lab: Lab) -> None:
    """A pod bound to a node whose OS is not ``spec.os.name`` fails with PodOSNotSupported."""
    body = pod("wrong-os", "linux-1", os={"name": "windows"}, nodeName="linux-1")
    lab.create(body)
    found = lab.until_pod("wrong-os", lambda it: it.status.phase == "Failed")
    assert found.status.reason == "PodOSNotSupported"


def test_a_pod_that_fits_nowhere_says_why(lab: Lab) -> None:
    """The scheduler's message stands in the condition and in a FailedScheduling event."""
    body = pod("nowhere", "no-such-node")
    body["spec"]["tolerations"] = []
    lab.create(body)
    found = lab.until_pod("nowhere", lambda it: it.status.conditions)
    assert found.status.conditions[0].reason == "Unschedulable"
    message = until(lambda: lab.warnings("nowhere").get("FailedScheduling"))
    assert message.startswith(
        "0/4 nodes are available: 2 node(s) didn't match Pod's node affinity/selector, "
        "2 node(s) had untolerated taint {os: windows}."
    )


def test_a_pending_pod_is_placed_when_its_node_gets_the_label(lab: Lab) -> None:
    """A change of labels makes the scheduler look again."""
    body = pod("patient", "linux-1", nodeSelector={"zone": "here"})
    body["spec"]["tolerations"] = EVERYTHING
    lab.create(body)
    lab.until_pod("patient", lambda it: it.status.conditions)
    lab.core.patch_node("linux-2", {"metadata": {"labels": {"zone": "here"}}})
    try:
        assert lab.ready("patient").spec.node_name == "linux-2"
    finally:
        lab.core.patch_node("linux-2", {"metadata": {"labels": {"zone": None}}})


def test_windows_pods_have_ping_unless_the_lab_is_told_otherwise(lab: Lab) -> None:
    """By default the image holds ping.exe."""
    lab.run("pings", "win-1")
    assert lab.exec("pings", "ping", "-n", "1", "127.0.0.1")[0] == 0


def test_exec_of_a_missing_program_names_it(lab: Lab) -> None:
    """The runtime's error reaches the client on the error channel."""
    lab.run("exec-missing", "linux-1")
    with lab.streaming() as core:
        opened = stream(
            core.connect_get_namespaced_pod_exec,
            "exec-missing",
            "default",
            command=["nosuch"],
            stdout=True,
            stderr=True,
            stdin=False,
            tty=False,
            _preload_content=False,
        )
        opened.run_forever(timeout=10)
        text = opened.read_channel(ERROR_CHANNEL)
        close(opened)
    assert 'exec: \\"nosuch\\": executable file not found in $PATH' in text


def test_kubelets_listen_on_every_node(lab: Lab) -> None:
    """Port 10250 answers TLS with /healthz, and plain HTTP in Go's words, from a pod."""
    lab.run("asks-kubelet", "linux-1")
    for node in ("172.30.0.11", "172.30.0.13"):
        plain = lab.exec("asks-kubelet", "curl", "-s", "-m", "5", f"http://{node}:10250/healthz")
        assert plain == (0, "Client sent an HTTP request to an HTTPS server.\n")
        secure = lab.exec("asks-kubelet", "curl", "-sk", "-m", "5", f"https://{node}:10250/healthz")
        assert secure == (0, "ok")


def test_the_api_answers_pods_at_its_service_address(lab: Lab) -> None:
    """The kubernetes Service leads to the API server, which wants a token there too."""
    lab.run("asks-api", "linux-1")
    code, text = lab.exec("asks-api", "curl", "-sk", "-m", "5", "https://10.96.0.1/version")
    assert code == 0
    assert json.loads(text)["gitVersion"] == "v1.24.17"


def _restarts(found: Any) -> int:
    return max((each.restart_count for each in found.status.container_statuses or ()), default=0)


def _ended(found: Any) -> Any:
    statuses = found.status.container_statuses or ()
    return statuses[0].state.terminated if statuses else None


@pytest.mark.parametrize(
    ("node", "context", "message"),
    [
        ("linux-1", {}, "container has runAsNonRoot and image will run as root"),
        ("linux-1", {"runAsUser": 0}, "container's runAsUser breaks non-root policy"),
        ("win-1", {}, "container's runAsUser (ContainerAdministrator) which will be regarded as root"),
        (
            "win-1",
            {"windowsOptions": {"runAsUserName": "containeradministrator"}},
            "will break non-root policy",
        ),
    ],
)  # fmt: skip
def test_run_as_non_root_refuses_the_administrator(
    lab: Lab, node: str, context: dict[str, Any], message: str
) -> None:
    """A container that would run as root, or as ContainerAdministrator, is not made."""
    name = f"root-{node}-{len(message)}"
    lab.create(pod(name, node, securityContext={"runAsNonRoot": True, **context}, args=["pause"]))
    found = lab.until_pod(name, lambda it: waiting(it) == "CreateContainerConfigError")
    assert message in found.status.container_statuses[0].state.waiting.message


def test_run_as_non_root_admits_other_users(lab: Lab) -> None:
    """A user that is not root, or not the administrator, runs."""
    windows = {"runAsNonRoot": True, "windowsOptions": {"runAsUserName": "ContainerUser"}}
    linux = {"runAsNonRoot": True, "runAsUser": 1000}
    assert lab.run("user-windows", "win-1", securityContext=windows, args=["pause"])
    assert lab.run("user-linux", "linux-1", securityContext=linux, args=["pause"])
