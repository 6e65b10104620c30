"""Faults of names, nodes, Services and channels: what each breaks in a lab, and that clearing mends it."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.lab.faults.injecting import inject, request
from tests.lab.running import Lab, close, lab_command, pod, until

NAME = "http://aim.default.svc.cluster.local/hostname"
SHORT = "http://aim/hostname"
NOBODY = "http://nobody.default.svc.cluster.local/hostname"


@pytest.fixture(scope="module")
def broken(lab: Lab) -> Iterator[Lab]:
    """The lab with a server behind a Service, and a client on a Windows and on a Linux node."""
    lab.create(pod("aimed-at", "win-2", os={"name": "windows"}))
    lab.create(pod("asks-on-windows", "win-1", os={"name": "windows"}))
    lab.create(pod("asks-on-linux", "linux-2"))
    for name in ("aimed-at", "asks-on-windows", "asks-on-linux"):
        lab.ready(name)
    ports = [{"name": "web", "port": 80, "targetPort": 8080}]
    spec = {"selector": {"app": "aimed-at"}, "ports": ports}
    lab.core.create_namespaced_service("default", {"metadata": {"name": "aim"}, "spec": spec})
    for caller in ("asks-on-windows", "asks-on-linux"):
        until(lambda caller=caller: request(lab, caller, NAME) == 0, what=f"an answer to {caller}")  # type: ignore[misc]
    yield lab
    lab.core.delete_namespaced_service("aim", "default")
    for name in ("aimed-at", "asks-on-windows", "asks-on-linux"):
        lab.remove(name)


def by_address(lab: Lab) -> str:
    """The Service by address, so that DNS has no part."""
    return f"http://{lab.core.read_namespaced_service('aim', 'default').spec.cluster_ip}/hostname"


def again(lab: Lab, client: str, url: str) -> None:
    """Clear, and wait for an answer."""
    lab.command("fault", "clear")
    until(lambda: request(lab, client, url) == 0, what=f"{url} to answer {client}")


def test_a_slow_dns_is_too_late(broken: Lab) -> None:
    """Who waits three seconds for a name gets none that takes ten; addresses are as they were."""
    inject(broken, "dns-slow", "--seconds", "10")
    assert request(broken, "asks-on-linux", NAME) in {6, 28}
    assert request(broken, "asks-on-linux", by_address(broken)) == 0
    again(broken, "asks-on-linux", NAME)


def test_a_wildcard_answers_for_everybody(broken: Lab) -> None:
    """A name of nobody resolves, to somewhere else; before and after it does not."""
    assert request(broken, "asks-on-linux", NOBODY) == 6
    inject(broken, "dns-wildcard")
    assert request(broken, "asks-on-linux", NOBODY) != 6
    assert request(broken, "asks-on-linux", NAME) == 0
    broken.command("fault", "clear")
    assert request(broken, "asks-on-linux", NOBODY) == 6


def test_a_frozen_dns_knows_nothing_new(broken: Lab) -> None:
    """A Service that comes later has no name until news are taken again."""
    inject(broken, "dns-frozen")
    spec = {"selector": {"app": "aimed-at"}, "ports": [{"port": 80, "targetPort": 8080}]}
    body = {"metadata": {"name": "later"}, "spec": spec}
    later = "http://later.default.svc.cluster.local/hostname"
    made: Any = broken.core.create_namespaced_service("default", body)
    try:
        address = f"http://{made.spec.cluster_ip}/hostname"
        until(lambda: request(broken, "asks-on-linux", address) == 0, what="its address to answer")
        assert request(broken, "asks-on-linux", later) == 6
        assert request(broken, "asks-on-linux", NAME) == 0
        again(broken, "asks-on-linux", later)
    finally:
        broken.core.delete_namespaced_service("later", "default")


def test_one_of_two_dns_replicas_denies_names(broken: Lab) -> None:
    """Both stand behind the Service; queried themselves, one knows the name and the other denies it."""
    inject(broken, "dns-replica-wrong")
    pods: Any = broken.core.list_namespaced_pod("kube-system", label_selector="k8s-app=kube-dns")
    found = {one.status.pod_ip: answer_of(broken, one.status.pod_ip) for one in pods.items}
    assert sorted(found.values()) == ["denied", "known"]
    broken.command("fault", "clear")
    until(lambda: len(dns_pods(broken)) == 1, what="the second replica to go")
    (left,) = dns_pods(broken)
    assert found[left.status.pod_ip] == "known"
    assert answer_of(broken, left.status.pod_ip) == "known"


def dns_pods(lab: Lab) -> list[Any]:
    """The pods of the DNS."""
    found: Any = lab.core.list_namespaced_pod("kube-system", label_selector="k8s-app=kube-dns")
    return list(found.items)


def answer_of(lab: Lab, server: str) -> str:
    """What one server says of the Service's name."""
    name = "aim.default.svc.cluster.local."
    code, text = lab.exec("asks-on-linux", "nslookup", name, server)
    return "known" if code == 0 and "NXDOMAIN" not in text else "denied"


@pytest.mark.parametrize(("node", "system"), [("win-1", "windows"), ("linux-2", "linux")])
def test_a_wrong_domain_takes_short_names_from_new_pods(
    broken: Lab, node: str, system: str
) -> None:
    """A new pod of the node finds the Service by its whole name alone; others by both."""
    inject(broken, "wrong-cluster-domain", "--node", node)
    broken.run("misled", node, os={"name": system})
    try:
        assert request(broken, "misled", SHORT) == 6
        assert request(broken, "misled", f"{NAME.replace('.local/', '.local./')}") == 0
        assert request(broken, "asks-on-linux", SHORT) == 0
    finally:
        broken.remove("misled")


def test_a_silent_pod_is_silent_when_it_comes(broken: Lab) -> None:
    """A pod that is made after the fault is Ready and answers nobody, until it is mended."""
    inject(broken, "pod-silent", "--pod", "to-be-*", "--protocol", "tcp", "--port", "8080")
    silent = broken.run("to-be-silent", "linux-2")
    try:
        url = f"http://{silent.status.pod_ip}:8080/hostname"
        until(lambda: request(broken, "asks-on-linux", url) == 28, what="silence")
        assert request(broken, "asks-on-linux", NAME) == 0
        again(broken, "asks-on-linux", url)
    finally:
        broken.remove("to-be-silent")


def test_a_network_that_comes_late_is_there_once_the_fault_is_cleared(broken: Lab) -> None:
    """A new pod is Ready and answers nobody, while pods that are there do; clearing gives it its network."""
    inject(broken, "late-pod-network", "--node", "linux-2", "--seconds", "600")
    late = broken.run("comes-late", "linux-2")
    try:
        url = f"http://{late.status.pod_ip}:8080/hostname"
        assert request(broken, "asks-on-linux", url) == 28
        assert request(broken, "asks-on-linux", NAME) == 0
        again(broken, "asks-on-linux", url)
    finally:
        broken.remove("comes-late")


def test_a_late_network_comes_by_itself(broken: Lab) -> None:
    """After its seconds the pod answers, with the fault still in force."""
    inject(broken, "late-pod-network", "--node", "linux-2", "--seconds", "1")
    late = broken.run("comes-soon", "linux-2")
    try:
        url = f"http://{late.status.pod_ip}:8080/hostname"
        until(lambda: request(broken, "asks-on-linux", url) == 0, what="the network")
        listed = broken.command("fault", "list").stdout
        assert listed.split()[0] == "late-pod-network"
    finally:
        broken.remove("comes-soon")


def test_a_late_network_of_many_pods_is_one_of_those_that_come_after_others(broken: Lab) -> None:
    """The first pod answers at once; the next one, which comes soon after it, does not."""
    inject(broken, "late-pod-network", "--node", "linux-2", "--seconds", "600", "--beyond", "1")
    first, second = (broken.run(name, "linux-2") for name in ("comes-first", "comes-next"))
    try:
        url = "http://{}:8080/hostname"
        assert request(broken, "asks-on-linux", url.format(first.status.pod_ip)) == 0
        assert request(broken, "asks-on-linux", url.format(second.status.pod_ip)) == 28
    finally:
        for name in ("comes-first", "comes-next"):
            broken.remove(name)


def test_a_process_is_killed_once_and_is_recreated(broken: Lab) -> None:
    """The container ends with 137 and is started again; it stays then."""
    inject(broken, "container-killed", "--pod", "to-be-killed", "--seconds", "0.2")
    broken.run("to-be-killed", "linux-2")
    try:
        restarted = broken.until_pod(
            "to-be-killed",
            lambda it: (
                it.status.container_statuses[0].restart_count == 1
                and it.status.container_statuses[0].ready
            ),
        )
        assert restarted.status.container_statuses[0].last_state.terminated.exit_code == 137
    finally:
        broken.remove("to-be-killed")


@pytest.mark.parametrize("system", ["windows", "linux"])
def test_an_exit_code_is_lost(broken: Lab, system: str) -> None:
    """The output comes and the stream ends, without a status."""
    inject(broken, "exit-code-lost")
    assert ended(broken, f"asks-on-{system}") == (True, "")
    broken.command("fault", "clear")
    told, status = ended(broken, f"asks-on-{system}")
    assert told
    assert json.loads(status)["status"] == "Success"


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (("wrong-exit-codes", "--code", "3"), "command terminated with exit code 3"),
        (("program-missing", "--program", "hostname"), "The system cannot find the file specified"),
        (("exec-refused",), "Access is denied."),
        (("output-lost",), "Success"),
    ],
)
def test_a_fault_of_programs_is_that_of_its_node(
    broken: Lab, fault: Sequence[str], status: str
) -> None:
    """A command on one node ends as the fault has it, those on others as they should, and all once it is cleared."""
    inject(broken, *fault, "--node", "win-1")
    prints = fault[0] == "wrong-exit-codes"
    assert status in ended(broken, "asks-on-windows", prints=prints)[1]
    assert broken.exec("aimed-at", "hostname.exe") == (0, "aimed-at\r\n")
    if status == "Success":
        assert broken.exec("asks-on-windows", "hostname.exe") == (0, "")
    broken.command("fault", "clear")
    assert broken.exec("asks-on-windows", "hostname.exe") == (0, "asks-on-windows\r\n")


def test_a_server_that_dies_leaves_a_ready_pod(broken: Lab) -> None:
    """Nothing listens any more, and nothing but a request tells."""
    inject(broken, "server-dead", "--pod", "aimed-at", "--seconds", "0")
    until(lambda: request(broken, "asks-on-linux", NAME) == 7, what="a refusal")
    assert broken.ready("aimed-at").status.container_statuses[0].restart_count == 0
    broken.remove("aimed-at")
    broken.command("fault", "clear")
    broken.run("aimed-at", "win-2", os={"name": "windows"})
    until(lambda: request(broken, "asks-on-linux", NAME) == 0, what="the next Pod's answer")


def test_an_exec_hangs(broken: Lab) -> None:
    """The output comes and the stream stays open, on that node alone."""
    inject(broken, "exec-hangs", "--node", "win-1")
    assert ended(broken, "asks-on-windows") == (False, "")
    assert ended(broken, "asks-on-linux")[0]


def ended(lab: Lab, name: str, *, prints: bool = True) -> tuple[bool, str]:
    """Run ``hostname``; whether its stream ended within two seconds, and the status that it brought."""
    from kubernetes.stream import stream

    with lab.streaming() as core:
        opened = stream(
            core.connect_get_namespaced_pod_exec,
            name,
            "default",
            command=["hostname"],
            stdout=True,
            stderr=False,
            stdin=False,
            tty=False,
            _preload_content=False,
        )
        opened.run_forever(timeout=2)
        over = not opened.is_open()
        status = opened.read_channel(3) if over else ""
        printed = bool(opened.read_stdout())
        close(opened)
        assert printed is prints
        return over, status


def test_faults_of_services_reach_rules_of_that_node(broken: Lab) -> None:
    """A wrong target port is refused from one node alone; a stopped proxy keeps what it had."""
    inject(broken, "wrong-target-port", "--service", "aim", "--node", "linux-2")
    assert request(broken, "asks-on-linux", by_address(broken)) == 7
    assert request(broken, "asks-on-windows", by_address(broken)) == 0
    again(broken, "asks-on-linux", by_address(broken))
    inject(broken, "proxy-stopped", "--node", "linux-2")
    assert request(broken, "asks-on-linux", by_address(broken)) == 0


def test_an_object_is_edited_and_edited_back(broken: Lab) -> None:
    """A label and a field of the status are other ones for a while; what was not there goes again."""

    def shown() -> tuple[Any, ...]:
        node: Any = broken.core.read_node("win-2")
        labels = node.metadata.labels
        return labels.get("zone"), labels["kubernetes.io/os"], node.status.node_info.kernel_version

    before = shown()
    labels = '{"metadata": {"labels": {"zone": "a", "kubernetes.io/os": "plan9"}}}'
    kernel = '{"status": {"nodeInfo": {"kernelVersion": "10.0.1.1"}}}'
    inject(broken, "object-edited", "--object=node/win-2", f"--patch={labels}")
    inject(broken, "object-edited", "--object=node-status/win-2", f"--patch={kernel}")
    assert shown() == ("a", "plan9", "10.0.1.1")
    broken.command("fault", "clear")
    assert shown() == before
    assert before[0] is None


def proxies(lab: Lab) -> dict[str, Any]:
    """Return kube-proxy's Pods of Windows nodes by node."""
    found = lab.core.list_namespaced_pod("kube-system", label_selector="k8s-app=kube-proxy-windows")
    return {one.spec.node_name: one for one in found.items}


def proxy_of(**container: Any) -> str:
    """Return a patch of kube-proxy's container."""
    containers = [{"name": "kube-proxy", **container}]
    return json.dumps({"spec": {"template": {"spec": {"containers": containers}}}})


PROXIES = "--object=daemonset/kube-system/kube-proxy-windows"


def test_an_edited_daemon_set_has_new_pods_and_the_old_ones_again(broken: Lab) -> None:
    """All of them run when the fault is in force, and go on with what is not edited."""
    before = {name: one.spec.containers[0] for name, one in proxies(broken).items()}
    image = "docker.io/sigwindowstools/kube-proxy:v1.28.0-flannel-hostprocess"
    inject(broken, "object-edited", PROXIES, f"--patch={proxy_of(image=image)}")
    now = proxies(broken)
    assert {one.spec.containers[0].image for one in now.values()} == {image}
    assert {name: one.spec.containers[0].args for name, one in now.items()} == {
        name: one.args for name, one in before.items()
    }
    broken.command("fault", "clear")
    assert {n: one.spec.containers[0].image for n, one in proxies(broken).items()} == {
        name: one.image for name, one in before.items()
    }


def test_kube_proxy_ends_with_a_mode_that_windows_does_not_have(broken: Lab) -> None:
    """It says why; the rollout stops there, and the other node keeps the kube-proxy that it has."""
    inject(broken, "object-edited", PROXIES, f"--patch={proxy_of(args=['--proxy-mode=iptables'])}")
    now = proxies(broken)
    assert [one.spec.containers[0].args for one in now.values()].count(
        ["--proxy-mode=iptables"]
    ) == 1
    failed = next(one for one in now.values() if len(one.spec.containers[0].args) == 1)
    said: list[str] = []

    def ended() -> bool:
        said.append(broken.core.read_namespaced_pod_log(failed.metadata.name, "kube-system"))
        return "Invalid value" in said[-1]  # a restarted container begins with an empty log

    until(ended)
    assert 'FLAG: --proxy-mode="iptables"' in said[-1]
    assert 'ProxyMode: Invalid value: "iptables": must be kernelspace' in said[-1]
    broken.command("fault", "clear")
    assert all(len(one.spec.containers[0].args) > 1 for one in proxies(broken).values())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pods-refused", "--match", "[]"], "--match is not a JSON object"),
        (["packet-loss"], "Between whom?"),
        (["packet-loss", "--node", "win-1", "--to", "win-2"], "Either --node, or --from and --to"),
        (["packet-loss", "--node", "win-1", "--protocol", "sctp"], 'no protocol "sctp"'),
        (["route-missing", "--node", "win-1", "--peer", "win-1"], "no route to its own pods"),
        (["other-vni", "--node", "win-1"], "No packets are encapsulated"),
        (["slow-rules", "--rate", "0.5"], "slow-rules takes no --rate"),
        (["dsr-off", "--node", "linux-1"], "DSR is of Windows nodes alone"),
        (["object-edited", "--object", "pod/x", "--patch", "{}"], "no object that can be edited"),
        (["object-edited", "--object", "node/win-1", "--patch", "{"], "--patch is not JSON"),
        (["object-edited", "--object", "node/win-9", "--patch", "{}"], "was not edited"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    lab: Lab, arguments: list[str], message: str
) -> None:
    """The error says why; nothing is put in force."""
    done = lab.command("fault", "inject", *arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert lab.command("fault", "list").stdout == ""


def test_kinds_are_listed_although_only_another_lab_runs(lab: Lab) -> None:
    """Who asks what there is gets it, with the names of the labs that run."""
    done = lab_command("fault", "list", "--name", "another", runtime=lab.runtime)
    assert done.returncode == 0, done.stderr
    running = done.stdout.partition("No lab 'another' is running (--name: ")[2].partition(")")[0]
    assert lab.name in running.split(", "), done.stdout
    assert "packet-loss" in done.stdout
