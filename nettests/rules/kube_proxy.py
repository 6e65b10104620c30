"""Rules about kube-proxy on a Windows node: mode, node name, network, source VIP, feature gates.

Read from the node's Pods and the flags at the start of kube-proxy's log, which are those in effect.
If kube-proxy has a configuration file, flags do not show its settings. A kube-proxy that is not a
Pod is read on its host, by rules that read there (``kube_proxy_on_host``). Sources: kube-proxy
``pkg/proxy/winkernel``, KEP-5100, "Windows debugging tips".
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass

from nettests.model.flags import flags_in_arguments, flags_in_log
from nettests.model.json_text import Object
from nettests.model.permission import SYSTEM_LOGS
from nettests.model.versions import KubernetesVersion
from nettests.rules import reduction
from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    UnreadableError,
    finding,
    rule,
)
from nettests.rules.kube_proxy_on_host import (
    COMMAND_LINE,
    CONFIGURATION,
    PROCESS,
    VERSION,
    flags_of,
    served_settings,
    version_of,
)
from nettests.rules.pods import FLAG, NETWORK_VARIABLE, PODS
from nettests.rules.readings import PodLog
from nettests.rules.subjects import DSR, KERNELSPACE, KUBE_PROXY_POD, OVERLAY
from nettests.rules.windows_services import KUBE_PROXY_SERVICES, SERVICE_NAMES_BESIDE, settings_of

NETWORK_GIVEN = (COMMAND_LINE, CONFIGURATION, *KUBE_PROXY_SERVICES, SERVICE_NAMES_BESIDE)
"""Readings besides Pods and log that may name its network, if it is not a Pod."""
KERNELSPACE_DEFAULT = KubernetesVersion(1, 26)
DSR_DEFAULT = KubernetesVersion(1, 33)
OVERLAY_DEFAULT = KubernetesVersion(1, 20)
_EVERY_ADDRESS = frozenset({"", "[]"})
"""What kube-proxy logs if NodePorts are not restricted."""
CALICO_IMAGE, CALICO_NETWORK = "-calico-hostprocess", "Calico"
"""The start script in sig-windows-tools' Calico image sets KUBE_NETWORK itself, to this name."""
PROXY_LOG = PodLog(
    name="kube-proxy-log",
    pods=PODS,
    component="kube-proxy",
    permission=SYSTEM_LOGS,
    # sample: I1121 01:22:03.787132       1 flags.go:64] FLAG: --enable-dsr="false"
    keep=reduction.lines(rf'FLAG: --(?:{FLAG})="[^"\n]*"'),
)


@dataclass(frozen=True, slots=True)
class Proxy:
    """A node's kube-proxy: its container, its flags, and where they were read."""

    container: Object
    flags: Mapping[str, str]
    origin: str
    release: str = ""
    """The version from its metrics, if it has no image."""

    def flag(self, name: str) -> str:
        """Return a flag, empty if not given; unreadable if a file or script may set it."""
        if self.flags.get("config"):
            raise UnreadableError(f"kube-proxy reads {self.flags['config']}, which is on the node")
        if not self.flags:
            raise UnreadableError("neither log nor arguments of kube-proxy name one of its flags")
        return self.flags.get(name, "")

    def gate(self, name: str) -> bool | None:
        """Return a feature gate, ``None`` if it is not set."""
        # sample: FLAG: --feature-gates="WinDSR=true,WinOverlay=false"
        match = re.search(rf"\b{name}=(true|false)\b", self.flag("feature-gates"), re.IGNORECASE)
        return match[1].lower() == "true" if match else None

    @property
    def version(self) -> KubernetesVersion:
        """The version from the image's tag, or from metrics."""
        if self.release:
            return KubernetesVersion.parse(self.release)
        if "image" not in self.container:
            raise NothingThereError(f"kube-proxy tells no version at {VERSION.words[-1]}")
        image = str(self.container.get("image", ""))
        # sample: docker.io/sigwindowstools/kube-proxy:v1.29.4-flannel-hostprocess
        match = re.search(r"kube-proxy[^:/@]*:(v?\d[^@]*)", image)
        if match is None:
            raise UnreadableError(f"kube-proxy's image {image} names no version")
        return KubernetesVersion.parse(match[1])


def proxy_of(evidence: Evidence) -> Proxy:
    """Return the node's kube-proxy: a host process if that was read, else its Pod."""
    on_host = proxy_on_host(evidence)
    if on_host is not None:
        return on_host
    for pod in evidence.items(PODS):
        name = pod["metadata"]["name"]
        if not name.startswith("kube-proxy"):
            continue
        container = pod["spec"]["containers"][0]
        logged = flags_in_log(evidence.texts.get(PROXY_LOG.name, ""))
        if logged:
            return Proxy(container, logged, f"log of Pod {name}")
        words = [*(container.get("command") or []), *(container.get("args") or [])]
        expanded = [_expanded(word, container, evidence.fact("node")) for word in words]
        return Proxy(container, flags_in_arguments(expanded), f"arguments of Pod {name}")
    raise UnreadableError(f"no kube-proxy Pod runs on {evidence.fact('node')}")


def proxy_on_host(evidence: Evidence) -> Proxy | None:
    """Return a kube-proxy that is a host process; ``None`` if that was not read.

    ``NothingThereError`` if none runs. Its ``/configz`` takes precedence over its command line.
    """
    if COMMAND_LINE.name not in {*evidence.texts, *evidence.problems}:
        return None
    line, configuration = (
        evidence.texts.get(COMMAND_LINE.name, ""),
        evidence.texts.get(CONFIGURATION.name),
    )
    served = served_settings(configuration) if configuration else None
    if served is None and COMMAND_LINE.name in evidence.problems:
        raise UnreadableError(evidence.problems[COMMAND_LINE.name])
    if served is None and not line.strip():
        raise NothingThereError("kube-proxy is neither a Pod nor a process of its host")
    container: Object = {}
    # rules that need no network do not read the service
    if any(map(evidence.was_taken, KUBE_PROXY_SERVICES)):
        network = _variable_of_service(evidence)
        container = {"env": [{"name": NETWORK_VARIABLE, "value": network}]} if network else {}
    release = version_of(evidence.texts.get(VERSION.name, ""))
    if served is None:
        return Proxy(container, flags_of(line), f"command line of {PROCESS}", release)
    return Proxy(container, served, CONFIGURATION.words[-1], release)


def _variable_of_service(evidence: Evidence) -> str:
    """Return the network in kube-proxy's Windows service; empty if it could not be read."""
    try:
        return str(settings_of(evidence, KUBE_PROXY_SERVICES).get(NETWORK_VARIABLE, ""))
    except UnreadableError:
        return ""  # its configuration may name it; ``network_of`` raises if nothing does


def network_of(evidence: Evidence) -> str:
    """Return the name of kube-proxy's HNS network; empty if it has none.

    Unreadable if nothing names one and the flags are unknown.
    """
    proxy = proxy_of(evidence)
    given = proxy.flags.get("network-name", "")
    if given and not proxy.flags.get("config"):
        return given
    for entry in proxy.container.get("env") or []:
        if entry.get("name") == NETWORK_VARIABLE and entry.get("value"):
            return str(entry["value"])
    words = " ".join(
        [*(proxy.container.get("command") or []), *(proxy.container.get("args") or [])]
    )
    # sample of a start script: $env:KUBE_NETWORK="cbr0"; kube-proxy.exe …
    match = re.search(rf"{NETWORK_VARIABLE}\s*=\s*['\"]?([\w.-]+)", words)
    if match is None and CALICO_IMAGE in str(proxy.container.get("image", "")):
        return CALICO_NETWORK
    if match is None and "image" not in proxy.container:
        settings_of(
            evidence, KUBE_PROXY_SERVICES
        )  # raises if the service, which may name the network, could not be read
        raise NothingThereError(
            f"neither kube-proxy's configuration nor its service names a network: the script that starts it may set "
            f"{NETWORK_VARIABLE}"
        )
    return match[1] if match else proxy.flag("network-name")


@rule(about=(KUBE_PROXY_POD,), reads=(PODS, PROXY_LOG))
def proxy_mode(evidence: Evidence) -> Finding:
    """The mode is kernelspace, explicitly or by default (since 1.26)."""
    proxy = proxy_of(evidence)
    mode = proxy.flag("proxy-mode")
    demand = "--proxy-mode=kernelspace, which no kube-proxy before 1.26 takes by itself"
    if mode:
        return finding(mode == "kernelspace", f"--proxy-mode={mode} ({proxy.origin})", demand, of=1)
    version = proxy.version
    return finding(
        version >= KERNELSPACE_DEFAULT, f"no mode, and kube-proxy {version}", demand, of=1
    )


@rule(about=(KUBE_PROXY_POD,), reads=(PODS, PROXY_LOG))
def hostname_override(evidence: Evidence) -> Finding:
    """kube-proxy uses the node's name in the API server."""
    proxy, node = proxy_of(evidence), evidence.fact("node")
    # The only flag that also works with a configuration file (``processHostnameOverrideFlag``).
    given = proxy.flags.get("hostname-override", "") or proxy.flag("hostname-override")
    observed = (
        f"--hostname-override={given} ({proxy.origin})" if given else "no --hostname-override"
    )
    return finding(
        given.strip().lower() == node.lower(), observed, f"the node's name, {node}", of=1
    )


@rule(about=(KUBE_PROXY_POD, KERNELSPACE), reads=(PODS, PROXY_LOG))
def network_name(evidence: Evidence) -> Finding:
    """kube-proxy has an HNS network configured."""
    name = network_of(evidence)
    return finding(
        bool(name), name or "neither", "an HNS network in KUBE_NETWORK or --network-name", of=1
    )


@rule(about=(KUBE_PROXY_POD, KERNELSPACE, OVERLAY), reads=(PODS, PROXY_LOG))
def source_vip(evidence: Evidence) -> Finding:
    """On overlay, the source VIP, which only the flag sets, is in the node's own Pod network."""
    given = proxy_of(evidence).flag("source-vip")
    if evidence.fact("driver") != "overlay":
        raise UnreadableError("the flag says nothing on other networks than overlay; HNS shows it")
    calico = evidence.facts.get("plugin") == "calico"  # Calico's nodes have blocks of its own pools
    pod_cidrs = evidence.networks("pod-cidrs" if calico else "node-pod-cidrs")
    demand = f"an address of the node's own pod network, {', '.join(map(str, pod_cidrs))}"
    try:
        inside = any(ipaddress.ip_address(given) in network for network in pod_cidrs)
    except ValueError:
        inside = False
    return finding(inside, f"--source-vip={given}" if given else "no --source-vip", demand, of=1)


@rule(about=(KUBE_PROXY_POD, KERNELSPACE, DSR), reads=(PODS, PROXY_LOG))
def dsr_gate(evidence: Evidence) -> Finding:
    """--enable-dsr needs the gate WinDSR, which is on by default since 1.33."""
    return _gate(evidence, "WinDSR", DSR_DEFAULT, "--enable-dsr")


@rule(about=(KUBE_PROXY_POD, KERNELSPACE, OVERLAY), reads=(PODS, PROXY_LOG))
def overlay_gate(evidence: Evidence) -> Finding:
    """An overlay network needs the gate WinOverlay, which is on by default since 1.20."""
    return _gate(evidence, "WinOverlay", OVERLAY_DEFAULT, "an overlay network")


@rule(about=(KERNELSPACE, KUBE_PROXY_POD), reads=(PODS, PROXY_LOG))
def nodeport_addresses(evidence: Evidence) -> Finding:
    """kube-proxy on Windows does not restrict NodePorts: it ignores the setting with a warning."""
    proxy = proxy_of(evidence)
    given = proxy.flag("nodeport-addresses")
    shown = f"--nodeport-addresses={given or '[]'} ({proxy.origin})"
    return finding(given in _EVERY_ADDRESS, shown, "no such setting, which Windows ignores", of=1)


def _gate(evidence: Evidence, name: str, default_on: KubernetesVersion, what: str) -> Finding:
    proxy = proxy_of(evidence)
    given = proxy.gate(name)
    demand = f"{name} on for {what}: given before {default_on}, never off"
    if given is not None:
        return finding(given, f"{name}={str(given).lower()} ({proxy.origin})", demand, of=1)
    version = proxy.version
    return finding(
        version >= default_on, f"{name} not given, and kube-proxy {version}", demand, of=1
    )


def _expanded(word: str, container: Object, node: str) -> str:
    """Expand ``$(NAME)`` like the kubelet, for variables with a value in the Pod."""
    for entry in container.get("env") or []:
        path = ((entry.get("valueFrom") or {}).get("fieldRef") or {}).get("fieldPath")
        value = node if path == "spec.nodeName" else entry.get("value")
        if value:
            word = word.replace(f"$({entry['name']})", str(value))
    return word
