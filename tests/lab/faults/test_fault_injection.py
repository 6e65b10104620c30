"""Faults by name: what they break, what they leave alone, and that clearing mends it."""

from collections.abc import Iterator

import pytest
import urllib3
from kubernetes import client
from kubernetes.client import ApiException
from kubernetes.config import load_kube_config

from tests.lab.faults.injecting import inject, request
from tests.lab.running import Lab, pod, until


@pytest.fixture(scope="module")
def broken(lab: Lab) -> Iterator[Lab]:
    """The lab with a server behind a Service and a client on each of two nodes."""
    lab.create(pod("backend", "win-2", os={"name": "windows"}))
    lab.create(pod("client-1", "win-1", os={"name": "windows"}))
    lab.create(pod("client-2", "linux-2"))
    for name in ("backend", "client-1", "client-2"):
        lab.ready(name)
    ports = [{"name": "web", "port": 80, "targetPort": 8080}]
    spec = {"selector": {"app": "backend"}, "ports": ports}
    lab.core.create_namespaced_service("default", {"metadata": {"name": "target"}, "spec": spec})
    for caller in ("client-1", "client-2"):
        answered(lab, caller)
    yield lab
    lab.core.delete_namespaced_service("target", "default")
    for name in ("backend", "client-1", "client-2"):
        lab.remove(name)


def service(lab: Lab) -> str:
    """The Service by address, so that DNS has no part."""
    found = lab.core.read_namespaced_service("target", "default")
    return f"http://{found.spec.cluster_ip}/hostname"


def answered(lab: Lab, client: str) -> None:
    """Wait until the Service answers the client by address: its node then has the rules.

    A Service is refused or lost on a node until that node's kube-proxy has seen it; what the
    tests below break must have worked before.
    """
    until(lambda: request(lab, client, service(lab)) == 0, what=f"the Service to answer {client}")


def test_without_dns_names_fail_and_addresses_work(broken: Lab) -> None:
    """``dns-down`` loses packets to the DNS pod; clearing brings names back."""
    name = "http://target.default.svc.cluster.local/hostname"
    assert request(broken, "client-2", name) == 0
    inject(broken, "dns-down")
    assert request(broken, "client-2", name) in {6, 28}
    assert request(broken, "client-2", service(broken)) == 0
    assert broken.command("fault", "clear", "dns-down").stdout == "1 fault(s) cleared.\n"
    assert request(broken, "client-2", name) == 0


def test_missing_rules_break_one_service_on_one_node(broken: Lab) -> None:
    """The node without rules loses the Service; the other node, DNS and pod addresses do not."""
    url = service(broken)
    inject(broken, "service-rules-missing", "--service", "default/target", "--node", "win-1")
    assert request(broken, "client-1", url) == 28
    assert request(broken, "client-2", url) == 0
    backend = broken.core.read_namespaced_pod("backend", "default").status.pod_ip
    assert request(broken, "client-1", f"http://{backend}:8080/hostname") == 0
    assert request(broken, "client-1", "http://server.outside.test/hostname") == 0
    broken.command("fault", "clear")
    answered(broken, "client-1")


def test_missing_rules_may_be_those_of_one_port(broken: Lab) -> None:
    """Only the port of that name is lost; a name that no port has takes nothing away."""
    missing = ("service-rules-missing", "--service", "target", "--node", "win-1", "--port")
    inject(broken, *missing, "no-such-port")
    answered(broken, "client-1")
    inject(broken, *missing, "web")
    assert request(broken, "client-1", service(broken)) == 28
    assert request(broken, "client-2", service(broken)) == 0
    broken.command("fault", "clear")
    answered(broken, "client-1")


def test_a_channel_that_is_down_breaks_querying_not_the_network(broken: Lab) -> None:
    """exec and pod proxy to that node fail; other nodes' pods can still be queried, about it too."""
    inject(broken, "channel-down", "--node", "win-1")
    assert broken.refused_exec("client-1") == 500
    with pytest.raises(ApiException) as refused:
        broken.core.connect_get_namespaced_pod_proxy_with_path("client-1:8080", "default", "x")
    assert refused.value.status == 503
    address = broken.core.read_namespaced_pod("client-1", "default").status.pod_ip
    assert request(broken, "client-2", f"http://{address}:8080/hostname") == 0


def test_api_errors_hit_users_only(broken: Lab) -> None:
    """With every request failing, users get 500 while the lab's own components go on."""
    inject(broken, "api-errors", "--rate", "1")
    with pytest.raises(ApiException) as failed:
        broken.core.list_node()
    assert failed.value.status == 500
    broken.command("fault", "clear")
    broken.run("after-errors", "linux-1", args=["pause"])
    broken.remove("after-errors")


def test_throttled_requests_are_told_when_to_are_recreated(broken: Lab) -> None:
    """429 in plain text with Retry-After, as priority and fairness answers."""
    inject(broken, "api-throttling", "--rate", "1")
    with pytest.raises(ApiException) as throttled:
        broken.core.list_node()
    assert throttled.value.status == 429
    assert throttled.value.headers["Retry-After"] == "1"


def test_a_share_of_connections_is_reset_and_the_others_are_not(broken: Lab) -> None:
    """A client that does not repeat itself loses some requests, and the same ones with the same seed."""
    config = client.Configuration.get_default_copy()
    load_kube_config(str(broken.kubeconfig), client_configuration=config)
    config.retries = False

    def lost() -> list[bool]:
        inject(broken, "api-resets", "--rate", "0.3", "--seed", "7")
        with client.ApiClient(config) as plain:
            told = [_lost(client.CoreV1Api(plain)) for _ in range(30)]
        broken.command("fault", "clear")
        return told

    first = lost()
    assert 2 < sum(first) < 20
    assert lost() == first


def _lost(core: client.CoreV1Api) -> bool:
    try:
        core.list_node()
    except (urllib3.exceptions.HTTPError, OSError):
        return True
    return False


def test_a_token_that_expired_is_refused_until_another_is_fetched(broken: Lab) -> None:
    """The plugin's kubeconfig gives a new token to whoever loads it; the expired one stays refused."""
    file = broken.command("kubeconfig", "--short-lived").stdout.strip()

    def with_token() -> client.Configuration:
        config = client.Configuration.get_default_copy()
        load_kube_config(file, client_configuration=config)
        config.refresh_api_key_hook = None  # this client keeps the token that it got
        return config

    with client.ApiClient(with_token()) as held:
        core = client.CoreV1Api(held)
        core.list_node()
        inject(broken, "expired-tokens", "--rate", "1")
        assert _refusal(core) == 401
        broken.command("fault", "clear")
        assert _refusal(core) == 401
    with client.ApiClient(with_token()) as again:
        client.CoreV1Api(again).list_node()
    broken.core.list_node()


def _refusal(core: client.CoreV1Api) -> int:
    with pytest.raises(ApiException) as refused:
        core.list_node()
    return int(refused.value.status)


def _condition_of(lab: Lab, node: str) -> tuple[str, str]:
    conditions = lab.core.read_node(node).status.conditions
    (ready,) = [one for one in conditions if one.type == "Ready"]
    return ready.status, ready.reason


def test_a_silent_kubelet_leaves_its_node_not_ready(broken: Lab) -> None:
    """Nobody hears of its Pods, Services leave them out, packets go on; cleared, all is reported again."""
    inject(broken, "kubelet-silent", "--node", "win-2", "--seconds", "0")
    until(lambda: _condition_of(broken, "win-2") == ("Unknown", "NodeStatusUnknown"))
    broken.until_pod("backend", lambda it: not _is_ready(it))
    until(lambda: request(broken, "client-2", service(broken)) != 0)
    address = broken.core.read_namespaced_pod("backend", "default").status.pod_ip
    assert request(broken, "client-2", f"http://{address}:8080/hostname") == 0
    with pytest.raises(ApiException):
        broken.core.read_namespaced_pod_log("backend", "default")
    taints = {taint.key for taint in broken.core.read_node("win-2").spec.taints}
    assert "node.kubernetes.io/unreachable" in taints

    broken.command("fault", "clear")
    until(lambda: _condition_of(broken, "win-2") == ("True", "KubeletReady"))
    broken.ready("backend")
    answered(broken, "client-2")
    kept = {taint.key for taint in broken.core.read_node("win-2").spec.taints}
    assert kept == taints - {"node.kubernetes.io/unreachable"}


def _is_ready(found: object) -> bool:
    conditions = found.status.conditions  # type: ignore[attr-defined]  # the client's model
    return any(one.type == "Ready" and one.status == "True" for one in conditions)


def test_what_is_privileged_is_refused_until_that_is_cleared(broken: Lab) -> None:
    """As by an API server without ``--allow-privileged``; other Pods are taken."""
    inject(broken, "privileged-refused")
    container = {"name": "c", "image": "i", "securityContext": {"privileged": True}}
    with pytest.raises(ApiException, match="disallowed by cluster policy"):
        broken.create(pod("strong", "linux-2", containers=[container]))
    broken.create(pod("weak", "linux-2"))
    broken.remove("weak")
    broken.command("fault", "clear")
    broken.create(pod("strong", "linux-2", containers=[container]))
    broken.remove("strong")


def test_webhooks_change_and_refuse_pods_until_that_is_cleared(broken: Lab) -> None:
    """Those that match, and only as long as the fault is in force."""
    match = '{"spec": {"os": {"name": "windows"}, "hostPID": null}}'
    inject(broken, "pods-changed", f"--match={match}", '--patch={"spec": {"hostname": "other"}}')
    inject(broken, "pods-refused", '--match={"spec": {"hostIPC": true}}')
    broken.create(pod("changed", "win-2", os={"name": "windows"}))
    assert _hostname(broken, "changed") == "other"
    with pytest.raises(ApiException, match="denied the request"):
        broken.create(pod("refused", "linux-2", hostIPC=True))
    done = broken.command("fault", "inject", "pods-refused", "--match={}")
    assert "is in force already" in done.stderr
    broken.remove("changed")
    broken.command("fault", "clear")
    broken.create(pod("refused", "linux-2", hostIPC=True))
    assert _hostname(broken, "refused") is None
    broken.remove("refused")


def _hostname(lab: Lab, name: str) -> object:
    found = lab.core.read_namespaced_pod(name, "default")
    return found.spec.hostname


def test_faults_in_force_are_listed(broken: Lab) -> None:
    """Name and options of each."""
    inject(broken, "slow-api", "--seconds", "0.1")
    inject(broken, "channel-down")
    listed = broken.command("fault", "list").stdout
    assert listed == "slow-api seconds=0.1\nchannel-down\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dns-dwn"], 'There is no fault "dns-dwn".'),
        (["service-rules-missing", "--service", "x"], "needs --node"),
        (["service-rules-missing", "--node", "win-1"], "needs --service"),
        (["channel-down", "--node", "win-9"], 'There is no node "win-9".'),
        (["kubelet-silent"], "needs --node"),
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(
    lab: Lab, arguments: list[str], message: str
) -> None:
    """The error says what is wrong; nothing is put in force."""
    done = lab.command("fault", "inject", *arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert lab.command("fault", "list").stdout == ""
