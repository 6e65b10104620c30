"""Facts stated in a cluster profile → changes of facts, for ``--to-profile``. Pure; ``cluster`` reads the file."""

from collections.abc import Iterator
from typing import Any

from nettests.forecast.keys import KEYS, Change
from nettests.model.cluster_profile import StatedFacts, StatedKubeProxy
from nettests.model.words import OS

ORIGIN = "--to-profile"


def stated_changes(facts: StatedFacts) -> tuple[Change, ...]:
    """Return a change for each fact that the profile states and that has a key."""
    return tuple(
        Change(key=KEYS[name], text=_text(value), value=value, last=value, origin=ORIGIN)
        for name, value in _stated(facts)
        if value is not None
    )


def left_alone(facts: StatedFacts) -> tuple[str, ...]:
    """Return the keys of what the profile states and no expectation depends on."""
    proxies = (facts.kube_proxy_windows, facts.kube_proxy_linux)
    stated = {
        "podCIDRs": facts.pod_cidrs,
        "serviceCIDRs": facts.service_cidrs,
        "clusterDomain": facts.cluster_domain,
        "dnsAddress": facts.dns_address,
        "kubeProxy.windows.sourceVIP": any(proxy.source_vip for proxy in proxies),
    }
    return tuple(name for name, value in stated.items() if value)


def _stated(facts: StatedFacts) -> Iterator[tuple[str, Any]]:
    yield "platform", facts.platform
    yield "cni.plugin", facts.cni_plugin
    yield "cni.backend", facts.cni_backend
    yield "cni.driver", facts.cni_driver
    yield "cni.mtu", facts.cni_mtu
    yield "cni.natExceptions", facts.cni_nat_exceptions
    yield "cni.loopbackDSR", facts.cni_loopback_dsr
    yield "windowsFirewall", facts.windows_firewall
    yield from _proxy(OS.WINDOWS, facts.kube_proxy_windows)
    yield from _proxy(OS.LINUX, facts.kube_proxy_linux)


def _proxy(os: OS, proxy: StatedKubeProxy) -> Iterator[tuple[str, Any]]:
    named = f"kubeProxy.{os.value}"
    yield f"{named}.version", proxy.version
    yield f"{named}.mode", proxy.mode
    if os is OS.WINDOWS:
        yield f"{named}.dsr", proxy.dsr
    else:
        yield f"{named}.localhostNodePorts", proxy.localhost_node_ports


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
