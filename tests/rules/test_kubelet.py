"""The rules about kubelet and runtime of a Windows node: DNS, resolver, pause image, proxies, flanneld's start."""

import json

import pytest

from nettests.rules import RULES, Evidence, NothingThereError, UnreadableError
from nettests.rules.kubelet import KUBELET, RESOLV_CONF_FILES, pause_image
from tests.rules.healthy import KUBELET as SETTINGS
from tests.rules.healthy import MACHINE
from tests.rules.made import FACTS, found, node

LINE = r"C:\k\kubelet.exe --config=C:\k\config.yaml"


def settings(*lines: str, line: str = LINE) -> dict[str, str]:
    """Return the reading of a kubelet with this configuration file."""
    return {KUBELET.name: "\r\n".join([line, *lines, ""]), RESOLV_CONF_FILES.name: "False\nFalse\n"}


@pytest.mark.parametrize(
    ("told", "conforms"),
    [
        (settings("clusterDNS: [10.96.0.10]"), True),
        (settings("clusterDNS:", "- 169.254.20.10", "- 10.96.0.10"), True),
        (settings("clusterDNS: [10.0.0.10]"), False),
        (settings("clusterDomain: cluster.local"), False),
        (settings("kind: KubeletConfiguration", "failSwapOn: false"), False),
        (settings('{"clusterDNS": ["10.96.0.10"]}'), True),
        (settings("clusterDNS: [10.0.0.10]", line=f"{LINE} --cluster-dns=10.96.0.10"), True),
        (settings("clusterDNS: [10.96.0.10]", line=f"{LINE} --cluster-dns 10.0.0.10"), False),
        (settings(line=r'"C:\Program Files\k\kubelet.exe" --cluster-dns=10.96.0.10'), True),
        (settings(line=r"C:\k\kubelet.exe --v=4"), False),
    ],
)
def test_the_kubelet_gives_pods_the_clusters_dns(told: dict[str, str], conforms: bool) -> None:
    """A flag counts before the file; the file is YAML or JSON."""
    assert found("kubelet-cluster-dns", told).conforms is conforms


@pytest.mark.parametrize(
    ("domain", "conforms"), [("cluster.local", True), ("cluster.local.", True), ("corp", False)]
)
def test_the_kubelet_gives_pods_the_clusters_domain(domain: str, conforms: bool) -> None:
    """Names of Services are looked for below it."""
    told = settings(f"clusterDomain: {domain}")
    assert found("kubelet-cluster-domain", told).conforms is conforms


@pytest.mark.parametrize(
    ("line", "conforms"),
    [
        ('resolvConf: ""', True),
        ("resolvConf: Host", True),
        ("clusterDomain: cluster.local", False),
        ("resolvConf:", False),
        ("resolvConf: /run/systemd/resolve/resolv.conf", False),
    ],
)
def test_no_resolv_conf_of_linux_is_given(line: str, conforms: bool) -> None:
    """kubeadm hands the file of the control plane to all nodes; what is not set is the default, a file of Linux too."""
    assert found("kubelet-resolv-conf", settings(line)).conforms is conforms


def test_a_resolv_conf_that_is_not_set_is_named_as_the_default() -> None:
    """Who reads that it deviates finds no such word in the configuration."""
    said = found("kubelet-resolv-conf", settings("clusterDomain: cluster.local")).detail
    assert "resolvConf not set, which is /etc/resolv.conf" in said


@pytest.mark.parametrize(
    ("line", "files", "conforms"),
    [
        ("clusterDomain: cluster.local", "True\nFalse\n", True),
        ("resolvConf: /etc/resolv.conf", "True\nFalse\n", True),
        (r"resolvConf: c:\etc\resolv.conf", "True\nFalse\n", True),
        (r"resolvConf: C:\etc\resolv.conf", "False\nFalse\n", False),
        ("resolvConf: /run/systemd/resolve/resolv.conf", "False\nTrue\n", True),
        ("resolvConf: /run/systemd/resolve/resolv.conf", "True\nFalse\n", False),
    ],
)
def test_a_file_that_somebody_has_put_there_is_one(line: str, files: str, conforms: bool) -> None:
    """Scripts that prepare nodes make one, because the kubelet looks for the path of Linux on its own drive."""
    told = found("kubelet-resolv-conf", settings(line) | {RESOLV_CONF_FILES.name: files})
    assert told.conforms is conforms
    assert ("a file of the node" in told.detail) is conforms


def test_files_that_were_not_read_are_no_finding() -> None:
    """Where the configuration alone tells, they are not needed."""
    lost = {RESOLV_CONF_FILES.name: ""}
    assert found("kubelet-resolv-conf", settings('resolvConf: ""') | lost).conforms
    with pytest.raises(UnreadableError, match=r"does not say whether /etc/resolv\.conf is a file"):
        found("kubelet-resolv-conf", settings("clusterDomain: cluster.local") | lost)


def test_files_beside_the_configuration_may_set_it() -> None:
    """A kubelet with --config-dir reads more than the file that is read here; what the file says may be overridden there."""
    line = rf"{LINE} --config-dir=C:\k\conf.d"
    with pytest.raises(NothingThereError, match=r"files in C:\\k\\conf\.d"):
        found("kubelet-resolv-conf", settings("clusterDomain: cluster.local", line=line))


def test_an_empty_flag_overrides_the_file() -> None:
    """As in the documents' samples: --resolv-conf=""."""
    told = settings("resolvConf: /etc/resolv.conf", line=f'{LINE} --resolv-conf="" --v=4')
    assert found("kubelet-resolv-conf", told).conforms


def test_a_file_of_windows_is_not_judged() -> None:
    """Whether it is there is not read."""
    with pytest.raises(NothingThereError, match="is a file of the node"):
        found("kubelet-resolv-conf", settings(r"resolvConf: C:\k\resolv.conf"))


def test_what_cannot_be_read_is_no_finding() -> None:
    """A configuration that is none, and a kubelet whose command line is not shown."""
    broken = Evidence(texts=settings("clusterDNS: [10.96.0.10"), facts=FACTS)
    with pytest.raises(UnreadableError, match="configuration cannot be read"):
        RULES["kubelet-cluster-dns"].demand(broken)
    with pytest.raises(UnreadableError, match="names could not be read"):
        found("kubelet-cluster-dns", settings(line=LINE))
    with pytest.raises(NothingThereError, match="runs on the node"):
        found("kubelet-cluster-dns", {KUBELET.name: "\r\n"})


@pytest.mark.parametrize(
    ("kernel", "image", "conforms"),
    [
        ("10.0.17763.1339", "registry.k8s.io/pause:3.3", False),
        ("10.0.17763.1339", "registry.k8s.io/pause:3.4", True),
        ("10.0.17763.1339", "registry.k8s.io/pause:3.10", True),
        ("10.0.20348.1", "registry.k8s.io/pause:3.5", False),
        ("10.0.20348.1", "k8s.gcr.io/pause:3.6", True),
        ("10.0.20348.1", "mcr.microsoft.com/oss/kubernetes/pause:3.6-hotfix.20220114", True),
        ("10.0.20348.1", "registry.k8s.io/pause:3.10.1", True),
        ("10.0.18363.1", "registry.k8s.io/pause:3.7", False),
        ("10.0.18363.1", "registry.k8s.io/pause:3.6", True),
        ("10.0.19042.1", "registry.k8s.io/pause:3.4", False),
    ],
)
def test_the_pause_image_has_a_manifest_for_the_build(
    kernel: str, image: str, conforms: bool
) -> None:
    """By the changelog of the image; 1903, 1909 and 2004 were taken out of it again."""
    texts = {
        "node": json.dumps(node(kernel)),
        "kubelet-settings": SETTINGS,
        "containerd-configuration": f"    sandbox_image = '{image}'\n",
    }
    assert found("pause-image", texts).conforms is conforms


@pytest.mark.parametrize(
    ("kernel", "line"),
    [
        ("10.0.20348.1", 'sandbox_image = "kubeletwin/pause"'),
        ("10.0.20348.1", 'sandbox_image = "mcr.microsoft.com/oss/kubernetes/pause:1.4.0"'),
        ("10.0.26100.1", 'sandbox = "registry.k8s.io/pause:3.10"'),
        ("10.0.20348.1", "version = 2"),
    ],
)
def test_images_and_builds_of_no_table_are_left_out(kernel: str, line: str) -> None:
    """Others make images too, and a runtime without the setting has its own default."""
    texts = {"node": json.dumps(node(kernel)), "containerd-configuration": line}
    with pytest.raises(NothingThereError):
        pause_image.demand(Evidence(texts=texts, facts=FACTS))


def test_docker_takes_the_kubelets_pause_image() -> None:
    """--pod-infra-container-image decides there alone."""
    flag = "--pod-infra-container-image=registry.k8s.io/pause:3.2"
    texts = {
        "node": json.dumps(node(runtime="docker://19.3.14")),
        "containerd-configuration": 'sandbox_image = "registry.k8s.io/pause:3.10"',
        **settings(line=rf"C:\k\kubelet.exe {flag}"),
    }
    assert "pause:3.2" in found("pause-image", texts).detail


@pytest.mark.parametrize(
    ("text", "conforms"),
    [(MACHINE, True), (MACHINE.replace("    HTTPS_PROXY", "    NO_PROXY"), False)],
)
def test_a_node_behind_a_proxy_has_both_variables(text: str, conforms: bool) -> None:
    """One alone leaves half of the registries out of reach."""
    assert found("proxy-variables", {"machine-variables": text}).conforms is conforms


def test_a_node_without_a_proxy_is_left_out() -> None:
    """Most have none."""
    with pytest.raises(NothingThereError, match="no HTTP proxy"):
        found("proxy-variables", {"machine-variables": MACHINE.replace("PROXY", "PATH")})


@pytest.mark.parametrize(
    ("lines", "conforms"),
    [
        (["Created HNSNetwork cbr0", "Wrote subnet file to /run/flannel/subnet.env"], True),
        (["Waiting to get ManagementIP from HNSNetwork cbr0", "Running backend."], True),
        (["Running backend.", "Waiting to get net interface for HNSNetwork cbr0 (1.2.3.4)"], False),
        (["Waiting for the Network to be created"] * 3, False),
    ],
)
def test_flanneld_does_not_wait_for_its_network(lines: list[str], conforms: bool) -> None:
    """The last of what its log says of it: it may have waited, and may wait again after a restart."""
    text = "".join(f"2026-11-20T10:00:00Z stderr F I1120 main.go:1] {line}\n" for line in lines)
    assert found("flannel-network-made", {"flannel-log": text}).conforms is conforms


@pytest.mark.parametrize(
    ("text", "conforms"),
    [
        ('{"ip4": {"ip": "10.244.3.2/24"}}', True),
        (
            '{"ip4":{"ip":"10.244.9.2/24"}}\n{"ipam":{"ranges":[[{"subnet":"10.244.3.0/24"}]]}}',
            False,
        ),
        ('{"ipam": {"ranges": [[{"subnet": "10.244.9.0/24"}]]}}', False),
        ('{"ips": [{"version": "4", "address": "10.244.3.2/24"}], "dns": {}}', True),
        ('\ufeff{"result": {"ips": [{"address": "10.244.9.2/24"}]}}', False),
    ],
)
def test_what_scripts_keep_of_the_source_vip_is_of_todays_subnet(text: str, conforms: bool) -> None:
    """A node that has rejoined got another one."""
    assert found("source-vip-files", {"source-vip-files": text}).conforms is conforms


@pytest.mark.parametrize("rule", ["source-vip-files", "flannel-network-made"])
def test_a_file_that_is_not_there_is_no_deviation(rule: str) -> None:
    """No script, or no Pod, has left it: nothing matched the pattern, and PowerShell printed nothing."""
    with pytest.raises(NothingThereError):
        found(rule, {one.name: "" for one in RULES[rule].reads})


@pytest.mark.parametrize("rule", ["source-vip-files", "flannel-network-made", "pause-image"])
def test_a_file_that_could_not_be_read_is_not_taken_for_none(rule: str) -> None:
    """PowerShell's words are translated: that it failed says nothing of what is there."""
    reads = {one.name for one in RULES[rule].reads} - {"node"}
    problems = dict.fromkeys(reads, "powershell.exe ended with 1: Zugriff verweigert")
    texts = {"node": json.dumps(node())} if rule == "pause-image" else {}
    with pytest.raises(UnreadableError, match="Zugriff verweigert") as raised:
        RULES[rule].demand(Evidence(texts=texts, problems=problems, facts=FACTS))
    assert not isinstance(raised.value, NothingThereError)


def test_a_kept_source_vip_without_an_address_is_not_taken_for_none() -> None:
    """host-local's complaint stands in the file where no address was left."""
    with pytest.raises(UnreadableError, match="name no address") as raised:
        found("source-vip-files", {"source-vip-files": '{"code": 11, "msg": "no addresses left"}'})
    assert not isinstance(raised.value, NothingThereError)
