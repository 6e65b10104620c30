"""Whether a Windows node can run HostProcess containers, by the versions of its kubelet and its runtime. Pure."""

import re

from nettests.model.facts import Fact, known, unknown
from nettests.model.versions import KubernetesVersion

HOST_PROCESS_KUBERNETES = KubernetesVersion(1, 23)
"""HostProcess containers are on by default since beta (KEP-1981)."""
HOST_PROCESS_CONTAINERD = (1, 6)
"""Kubernetes documentation, create-hostprocess-pod: containerd 1.6 or later."""


def host_process(kubelet: KubernetesVersion | None, runtime: str) -> Fact[bool]:
    """Return whether HostProcess containers can run: kubelet 1.23 and containerd 1.6, or later."""
    # sample: "containerd://1.7.20", "containerd://2.1.9+unknown"
    match = re.match(r"containerd://(\d+)\.(\d+)", runtime)
    if kubelet is None:
        return unknown("the kubelet's version is unknown")
    if match is None:
        if runtime.startswith("docker"):
            return known(value=False, origin=f"runtime {runtime}: Docker never had them")
        return unknown(f"the runtime is {runtime!r}")
    enough = kubelet >= HOST_PROCESS_KUBERNETES and (
        (int(match[1]), int(match[2])) >= HOST_PROCESS_CONTAINERD
    )
    return known(value=enough, origin=f"kubelet {kubelet}, {runtime}")
