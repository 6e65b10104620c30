"""Rules about a kube-proxy that is not a Pod: those of ``kube_proxy``, read on its Windows node.

It is a Windows service or was started by a script, as on AKS, on EKS and by old scripts for
kubeadm. The documents demand the same of it; its settings are read on the node itself.
"""

from nettests.rules import kube_proxy, node
from nettests.rules.evidence import Evidence, Finding, UnreadableError, finding, rule
from nettests.rules.flannel import PROCESSES
from nettests.rules.kube_proxy_on_host import ON_HOST, PROCESS, VERSION
from nettests.rules.plugin import ANTREA_ALONE, antrea_release
from nettests.rules.pods import PODS
from nettests.rules.subjects import ANTREA, DSR, KERNELSPACE, KUBE_PROXY_ON_HOST, OVERLAY
from nettests.rules.windows_services import (
    ANY_KUBE_PROXY_SERVICES,
    SERVICE_NAMES,
    is_enabled,
    settings_of,
)


@rule(about=(KUBE_PROXY_ON_HOST,), reads=(*ON_HOST, VERSION))
def host_proxy_mode(evidence: Evidence) -> Finding:
    """The mode of kube-proxy on the host is kernelspace, explicitly or by default (since 1.26)."""
    return kube_proxy.proxy_mode.demand(evidence)


@rule(about=(KUBE_PROXY_ON_HOST,), reads=ON_HOST)
def host_proxy_name(evidence: Evidence) -> Finding:
    """kube-proxy on the host uses the node's name in the API server."""
    return kube_proxy.hostname_override.demand(evidence)


@rule(about=(KUBE_PROXY_ON_HOST, KERNELSPACE, OVERLAY), reads=ON_HOST)
def host_proxy_source_vip(evidence: Evidence) -> Finding:
    """On overlay, the source VIP of kube-proxy on the host is in the node's own Pod network."""
    return kube_proxy.source_vip.demand(evidence)


@rule(about=(KUBE_PROXY_ON_HOST, KERNELSPACE, DSR), reads=(*ON_HOST, VERSION))
def host_proxy_dsr_gate(evidence: Evidence) -> Finding:
    """kube-proxy on the host with --enable-dsr has the gate WinDSR (on by default since 1.33)."""
    return kube_proxy.dsr_gate.demand(evidence)


@rule(about=(KUBE_PROXY_ON_HOST, KERNELSPACE, OVERLAY), reads=(*ON_HOST, VERSION))
def host_proxy_overlay_gate(evidence: Evidence) -> Finding:
    """On overlay, kube-proxy on the host has the gate WinOverlay (on by default since 1.20)."""
    return kube_proxy.overlay_gate.demand(evidence)


@rule(about=(KUBE_PROXY_ON_HOST,), reads=(*ON_HOST, VERSION))
def host_proxy_skew(evidence: Evidence) -> Finding:
    """kube-proxy on the host follows the version-skew policy."""
    return node.kube_proxy_skew.demand(evidence)


@rule(about=(ANTREA,), reads=(PODS, PROCESSES, *ANY_KUBE_PROXY_SERVICES, SERVICE_NAMES))
def antrea_alone_on_host(evidence: Evidence) -> Finding:
    """No kube-proxy process runs on the host beside Antrea, and no service would start one."""
    processes = evidence.text(PROCESSES)
    if not processes.strip():
        raise UnreadableError("tasklist names no process")
    release = antrea_release(evidence.items(PODS))
    left = is_enabled(settings_of(evidence, ANY_KUBE_PROXY_SERVICES))
    leftovers = [
        *([f"the process {PROCESS}"] if f'"{PROCESS}"' in processes.lower() else []),
        *(["the service kube-proxy"] if left else []),
    ]
    return finding(
        not leftovers or release < ANTREA_ALONE,
        f"{' and '.join(leftovers) or 'no process and no service of kube-proxy'} beside Antrea {release}",
        f"no kube-proxy on a Windows node with Antrea {ANTREA_ALONE} or later",
        of=1,
    )
