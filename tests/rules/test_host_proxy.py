"""The rules about a kube-proxy that is no Pod: what it serves, its command line, and the service that starts it."""

import json

import pytest

from nettests.rules import RULES, Evidence, NothingThereError, UnreadableError, reduced
from nettests.rules.kube_proxy import network_of, proxy_of
from tests.rules.healthy import BY_NSSM, HEALTHY, NAMES, RESTART, SERVICE, taken
from tests.rules.made import FACTS, READINGS, found, pods

SERVICES = "\r\nHKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\{}\r\n"


def line(*flags: str) -> str:
    """Return what PowerShell prints of a process with these flags."""
    return json.dumps({"CommandLine": " ".join([r'"C:\k\kube-proxy.exe"', *flags])})


def readings(**texts: str) -> dict[str, str]:
    """Return the readings of a host on which kube-proxy serves nothing, by the names that Python allows."""
    return {
        "kube-proxy-configz": "",
        "kube-proxy-version": HEALTHY["kube-proxy-version"],
        "kube-proxy-command-line": line("--v=4"),
        **{name.replace("_", "-"): text for name, text in texts.items()},
    }


@pytest.mark.parametrize(
    ("flags", "conforms"),
    [
        (["--hostname-override=win-1"], True),
        (["--hostname-override", "win-1"], True),
        (['--hostname-override="win-1"'], True),
        (["--hostname-override=somebody"], False),
        (["--v=4", "--proxy-mode=kernelspace"], False),
    ],
)
def test_its_command_line_names_its_node(flags: list[str], conforms: bool) -> None:
    """In the forms in which people write flags."""
    told = readings(kube_proxy_command_line=line(*flags))
    finding = found("host-proxy-name", told)
    assert finding.conforms is conforms
    assert "command line of kube-proxy.exe" in finding.detail or not conforms


def test_what_it_serves_is_in_effect() -> None:
    """Its command line says otherwise, and a configuration file may have decided."""
    told = readings(
        kube_proxy_configz=HEALTHY["kube-proxy-configz"],
        kube_proxy_command_line=line("--config=C:/k/c.yaml", "--hostname-override=somebody"),
    )
    assert found("host-proxy-source-vip", told).conforms
    assert "10249/configz" in found("host-proxy-overlay-gate", told).detail


def test_a_configuration_file_that_nothing_shows_is_not_guessed() -> None:
    """Flags say nothing beside it, and /configz did not answer."""
    told = readings(kube_proxy_command_line=line("--config=C:/k/c.yaml", "--source-vip=10.244.3.2"))
    with pytest.raises(UnreadableError, match=r"reads C:/k/c\.yaml, which is on the node"):
        found("host-proxy-source-vip", told)


@pytest.mark.parametrize("process", ["", "\r\n"])
def test_where_none_runs_there_is_nothing_to_hold_against_the_documents(process: str) -> None:
    """A node whose Services something else serves is none with a wrong kube-proxy."""
    with pytest.raises(NothingThereError, match="neither a Pod nor a process"):
        found("host-proxy-mode", readings(kube_proxy_command_line=process))


def test_its_version_is_the_one_that_its_metrics_name() -> None:
    """The skew policy is about it as about a Pod's; without metrics nothing is claimed."""
    assert found("host-proxy-skew", readings()).conforms
    old = 'kubernetes_build_info{git_version="v1.20.4"} 1'
    assert not found("host-proxy-skew", readings(kube_proxy_version=old)).conforms
    with pytest.raises(NothingThereError, match="tells no version at http://127"):
        found("host-proxy-skew", readings(kube_proxy_version=""))


@pytest.mark.parametrize(
    ("mode", "version", "conforms"),
    [("kernelspace", "v1.20.4", True), ("userspace", "v1.25.4", False), ("", "v1.25.4", False)],
)
def test_its_mode_is_kernelspace(mode: str, version: str, conforms: bool) -> None:
    """Stated, or the only one of its version."""
    told = readings(
        kube_proxy_command_line=line(f"--proxy-mode={mode}", "--v=4", "--enable-dsr=false"),
        kube_proxy_version=f'kubernetes_build_info{{git_version="{version}"}} 1',
    )
    assert found("host-proxy-mode", told).conforms is conforms


def test_dsr_without_its_gate_deviates() -> None:
    """Before 1.33 it has to be given."""
    told = readings(
        kube_proxy_command_line=line("--enable-dsr=true", "--feature-gates=WinOverlay=true")
    )
    assert not found("host-proxy-dsr-gate", told).conforms


def evidence(**texts: str) -> Evidence:
    return Evidence(texts=readings(**texts), facts=FACTS)


def test_its_network_is_the_one_that_nssm_gives_it() -> None:
    """AppEnvironmentExtra holds KUBE_NETWORK; what its configuration names comes first."""
    given = {"kube_proxy_service": BY_NSSM, "service_names": NAMES}
    assert network_of(evidence(**given)) == "flannel.4096"
    named = HEALTHY["kube-proxy-configz"].replace('"NetworkName": ""', '"NetworkName": "cbr0"')
    told = evidence(**given, kube_proxy_configz=named)
    assert network_of(told) == "cbr0"


def test_a_network_that_a_script_sets_is_left_out() -> None:
    """kube-proxy does not start without one, so that none that is found is no deviation."""
    with pytest.raises(NothingThereError, match="script that starts it may set KUBE_NETWORK"):
        network_of(evidence(service_names=NAMES))


DENIED = "reg.exe ended with 1: FEHLER: Zugriff verweigert"


def test_a_service_that_could_not_be_read_may_name_the_network() -> None:
    """It is among the node's services, and reg.exe printed nothing of it."""
    texts = readings(service_names=NAMES + SERVICES.format("kube-proxy"))
    denied = Evidence(texts=texts, problems={"kube-proxy-service": DENIED}, facts=FACTS)
    with pytest.raises(UnreadableError, match="Zugriff verweigert"):
        network_of(denied)
    assert proxy_of(denied).origin.startswith(
        "command line"
    )  # what needs no network is read all the same


def test_processes_that_could_not_be_listed_are_not_taken_for_none() -> None:
    """Whether kube-proxy runs is not known then."""
    texts = {"node-pods": pods()}
    problems = {"kube-proxy-command-line": "powershell.exe ended with 1: Invalid class"}
    with pytest.raises(UnreadableError, match="Invalid class") as raised:
        proxy_of(Evidence(texts=texts, problems=problems, facts=FACTS))
    assert not isinstance(raised.value, NothingThereError)


def test_a_pod_is_read_where_the_host_was_not() -> None:
    """Those readings are taken only where kube-proxy is known to be no Pod."""
    told = Evidence(texts={"node-pods": pods(args=["--v=4"])}, facts=FACTS)
    assert proxy_of(told).origin.startswith("arguments of Pod")


@pytest.mark.parametrize(
    ("text", "conforms"),
    [
        (SERVICE.format(name="kubelet", program=r"C:\k\kubelet.exe", actions=RESTART), True),
        (SERVICE.format(name="kubelet", program=r'"C:\a b\kubelet.exe" --x', actions=""), False),
        (
            SERVICE.format(
                name="kubelet",
                program=r"C:\k\kubelet.exe",
                # the second of two actions restarts; the first runs a command
                actions="8051010000000000000000000200000014000000030000000000000001000000E8030000",
            ),
            True,
        ),
        (
            SERVICE.format(
                name="kubelet",
                program=r"C:\k\kubelet.exe",
                actions="80510100000000000000000001000000140000000000000001000000",
            ),
            False,
        ),
        (BY_NSSM.replace("kube-proxy", "kubelet"), True),
        (BY_NSSM.replace("kube-proxy", "kubelet").replace("    Restart", "    Exit"), False),
        (SERVICE.format(name="kubelet", program=r"C:\k\nssm.exe", actions=""), True),
    ],
)
def test_a_service_is_started_again_when_it_fails(text: str, conforms: bool) -> None:
    """By an action of the service control manager, or by nssm unless it is told otherwise."""
    assert found("kubelet-restarts", {"kubelet-service": text}).conforms is conforms


def test_a_component_that_is_no_service_is_left_out() -> None:
    """Others start it: a Pod, a script, another distribution's own service."""
    for name in ("kubelet", "kube-proxy"):
        with pytest.raises(NothingThereError, match=f"services is called {name}"):
            found(f"{name}-restarts", {"service-names": SERVICES.format("hns")})


def test_kube_proxy_s_service_is_known_by_the_name_that_aks_gives_it() -> None:
    """AgentBaker and microsoft/SDN call it Kubeproxy; one that is listed and was not read is not taken for none."""
    listed = reduced(READINGS["service-names"], SERVICES.format("Kubeproxy"))
    settings = BY_NSSM.replace(r"\kube-proxy", r"\Kubeproxy")
    texts = {"service-names": listed, "kubeproxy-service": settings}
    assert found("kube-proxy-restarts", texts).detail.startswith("found nssm")
    with pytest.raises(UnreadableError) as raised:
        found("kube-proxy-restarts", {"service-names": listed})
    assert not isinstance(raised.value, NothingThereError)


@pytest.mark.parametrize("names", [SERVICES.format("kubelet"), ""])
@pytest.mark.parametrize("text", [None, ""])
def test_a_service_that_could_not_be_read_is_not_taken_for_none(
    names: str, text: str | None
) -> None:
    """reg.exe ends with 1 where a key is not there and where it may not be read, in words of the system's language."""
    texts = {"service-names": names, **({} if text is None else {"kubelet-service": text})}
    problems = {"kubelet-service": DENIED} if text is None else {}
    with pytest.raises(UnreadableError) as raised:
        RULES["kubelet-restarts"].demand(Evidence(texts=texts, problems=problems, facts=FACTS))
    assert not isinstance(raised.value, NothingThereError)


def test_without_the_list_of_services_none_is_taken_for_absent() -> None:
    """Both failed, as where reg.exe itself cannot run."""
    problems = dict.fromkeys(("kubelet-service", "service-names"), DENIED)
    with pytest.raises(UnreadableError, match="Zugriff verweigert"):
        RULES["kubelet-restarts"].demand(Evidence(texts={}, problems=problems, facts=FACTS))


def test_beside_antrea_what_could_not_be_read_is_no_absence() -> None:
    """A service of kube-proxy that is listed and not read, and a tasklist that names nothing."""
    healthy = taken("antrea-alone-on-host")
    assert found("antrea-alone-on-host", healthy).conforms
    listed = {**healthy, "service-names": SERVICES.format("kube-proxy")}
    for texts in (listed, {**healthy, "processes": ""}, {**healthy, "service-names": ""}):
        with pytest.raises(UnreadableError) as raised:
            found("antrea-alone-on-host", texts)
        assert not isinstance(raised.value, NothingThereError)


@pytest.mark.parametrize(
    ("process", "service", "conforms"),
    [
        ("kubelet.exe", "", True),
        ("kube-proxy.exe", "", False),
        ("kubelet.exe", BY_NSSM, False),
        ("kubelet.exe", BY_NSSM.replace("0x2", "0x4"), True),
    ],
)
def test_antrea_is_alone_on_the_host_too(process: str, service: str, conforms: bool) -> None:
    """No process, and no service that would start one; a disabled one starts nothing."""
    image = "docker.io/antrea/antrea-windows:v2.4.1"
    texts = {
        "node-pods": json.dumps(
            {
                "items": [
                    {
                        "metadata": {"name": "antrea-agent-windows-x", "namespace": "kube-system"},
                        "spec": {"containers": [{"image": image}]},
                    }
                ]
            }
        ),
        "processes": f'"{process}","1","Services","0","4 K"\n',
        "kube-proxy-service-left": service,
        "service-names": NAMES + (SERVICES.format("kube-proxy") if service else ""),
    }
    assert found("antrea-alone-on-host", texts).conforms is conforms


@pytest.mark.parametrize(("usual", "conforms"), [("Restart", True), ("Exit", False)])
def test_what_nssm_does_at_one_exit_code_says_nothing_of_the_others(
    usual: str, *, conforms: bool
) -> None:
    """``nssm set kube-proxy AppExit 0 Exit`` is another value of the same key, after the one for all others."""
    one = "Exit" if conforms else "Restart"
    told = BY_NSSM.replace("REG_SZ    Restart", f"REG_SZ    {usual}\n    0    REG_SZ    {one}")
    texts = {"kubelet-service": told.replace("kube-proxy", "kubelet")}
    assert found("kubelet-restarts", texts).conforms is conforms
