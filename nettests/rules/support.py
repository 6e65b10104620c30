"""Rules about what documents support: Windows builds by Kubernetes release, container runtimes, network plugins.

Sources: the tables of "Windows containers in Kubernetes" and of its predecessors, the plugins' own projects. A build
that no table names is not judged: Windows Server 2025 and the annual channel are run by vendors and by upstream's tests.
"""

from nettests.model.versions import KubernetesVersion, WindowsBuild
from nettests.rules.evidence import (
    Evidence,
    Finding,
    NothingThereError,
    UnreadableError,
    finding,
)
from nettests.rules.node import NODE
from nettests.rules.rule import rule

SUPPORTED = {
    14393: (5, 13),
    16299: (8, 13),
    17134: (9, 13),
    17763: (14, None),
    18362: (17, 18),
    18363: (18, 20),
    19041: (19, 22),
    19042: (21, None),
    20348: (23, None),
}
"""The first and last minor release of Kubernetes 1 whose documents name a build; no last one if current documents do."""
RUNTIMES = {"containerd": KubernetesVersion(1, 4), "docker": KubernetesVersion(19, 3)}
"""The first release that the documents take for Windows nodes: they demand that of containerd, and recommend Docker's."""
WITHOUT_AGENT = {
    "cilium": "cilium/cilium issues 31873 and 34929; Microsoft, Azure CNI powered by Cilium, Limitations",
    "weave": "weaveworks/weave issues 976 and 3194",
    "kube-router": "cloudnativelabs/kube-router issue 231",
    "kubenet": "Microsoft, Networking concepts for applications in AKS, Compare network models",
}
"""Plugins that do not exist for Windows, each with the documents that say so. Only a profile can name kubenet."""


@rule(
    "build-supported",
    about=(),
    reads=(NODE,),
    remedy="give the node a Windows that its Kubernetes release supports: Windows Server 2022 from 1.23 on, 2019 from "
    "1.14 on",
)
def build_supported(evidence: Evidence) -> Finding:
    """The documents of the kubelet's release name the node's Windows."""
    info = evidence.object(NODE)["status"]["nodeInfo"]
    build = WindowsBuild.parse(str(info.get("kernelVersion", ""))).build
    kubelet = KubernetesVersion.parse(str(info.get("kubeletVersion", "")))
    if build not in SUPPORTED:
        raise NothingThereError(f"no table of Kubernetes' documents names build {build}")
    first, last = SUPPORTED[build]
    span = f"1.{first} or later" if last is None else f"1.{first} to 1.{last}"
    return finding(
        kubelet.minor >= first and (last is None or kubelet.minor <= last),
        f"build {build} with kubelet {kubelet}",
        f"Kubernetes {span} on build {build}",
        of=1,
    )


@rule(
    "runtime-version",
    about=(),
    reads=(NODE,),
    remedy="install containerd 1.4.0 or later, which Kubernetes from 1.24 on needs in any case, or Docker 19.03 or "
    "later before that",
)
def runtime_version(evidence: Evidence) -> Finding:
    """The container runtime is a release that runs Windows Pods."""
    info = evidence.object(NODE)["status"]["nodeInfo"]
    # samples: containerd://1.7.20, docker://19.3.14
    name, _, text = str(info.get("containerRuntimeVersion", "")).partition("://")
    if not name:
        raise UnreadableError("nodeInfo.containerRuntimeVersion is empty")
    if name not in RUNTIMES:
        raise NothingThereError(f"no document names a release of {name} for Windows")
    release, needed = KubernetesVersion.parse(text), RUNTIMES[name]
    return finding(
        release >= needed, f"{name} {release}", f"{needed} or later on Windows nodes", of=1
    )


@rule(
    "plugin-for-windows",
    about=(),
    reads=(NODE,),
    remedy="give Windows nodes a plugin that runs there (Flannel, Calico, Antrea, Azure CNI, OVN-Kubernetes …), or take "
    "them out of the cluster",
)
def plugin_for_windows(evidence: Evidence) -> Finding:
    """The network plugin is made for Windows: without an agent of it no Pod of the node has a network."""
    plugin = evidence.facts.get("plugin")
    if plugin is None:
        raise NothingThereError("the network plugin is not known")
    if evidence.object(NODE)["status"]["nodeInfo"].get("operatingSystem") != "windows":
        raise NothingThereError("the node does not say that it runs Windows")
    return finding(
        plugin not in WITHOUT_AGENT,
        f"the plugin {plugin}",
        f"one that has an agent for Windows, which {', '.join(WITHOUT_AGENT)} have not",
        of=1,
    )
