"""The type of HNS network (driver) that a network plugin creates on Windows. Pure.

Used by discovery on API objects, and by ``forecast`` on what a user states.
"""

from nettests.model.facts import Fact, known, unknown

PLUGIN_DRIVERS = {"antrea": "transparent", "aws-vpc-cni": "l2bridge", "sdnbridge": "l2bridge"}
"""Plugins that create only one type of HNS network (Antrea's Windows design, EKS' user guide,
microsoft/windows-container-networking plugins/sdnbridge)."""
PLATFORM_DRIVERS = {("aks", "azure-cni"): "l2bridge", ("aks", "cilium"): "l2bridge"}
"""Azure CNI on AKS: every configuration written to Windows nodes has azure-vnet's mode ``bridge``
(Azure/AgentBaker, staging/cse/windows/azurecnifunc.ps1)."""
FLANNEL_DRIVERS = {"host-gw": "l2bridge", "vxlan": "overlay"}
"""Flannel's backends on Windows and the HNS network that they create (flannel, pkg/backend)."""
CALICO_DRIVERS = {"vxlan": "overlay", "windows-bgp": "l2bridge"}
"""Calico's own networks on Windows; as a policy engine only, it has none."""
AZURE_DRIVERS = {"overlay": "l2bridge"}
"""Azure CNI overlay routes in the fabric: azure-vnet's mode is ``bridge``
(Azure/azure-container-networking, azure-windows-swift-overlay-consolidated.conflist). For its other
forms, no object shows the driver."""
HYBRID = "hybrid-overlay"
OVN_DRIVERS = {HYBRID: "overlay"}
"""OVN-Kubernetes reaches Windows nodes only by hybrid overlay (go-controller/hybrid-overlay)."""
TUNNELS = frozenset({"vxlan", "geneve", HYBRID})
"""Backends that encapsulate packets to other nodes; Azure CNI's ``overlay`` does not. A hybrid
overlay uses VXLAN to and from Windows nodes, and GENEVE between the others."""
BACKEND_DRIVERS = {
    "flannel": FLANNEL_DRIVERS,
    "calico": CALICO_DRIVERS,
    "azure-cni": AZURE_DRIVERS,
    "ovn-kubernetes": OVN_DRIVERS,
}


def by_backend(plugin: Fact[str], backend: Fact[str]) -> Fact[str] | None:
    """Return the driver of a backend; ``None`` if the backend does not determine it."""
    drivers = BACKEND_DRIVERS.get(plugin.value or "flannel", {})
    if backend.value not in drivers:
        return None
    return known(drivers[backend.value], f"{backend.origin}: {backend.value}")


def by_plugin(plugin: Fact[str], platform: Fact[str]) -> Fact[str]:
    """Return the driver of a plugin that creates only one type of network, everywhere or on a managed service."""
    if plugin.value in PLUGIN_DRIVERS:
        return known(PLUGIN_DRIVERS[plugin.value], f"{plugin.origin}: {plugin.value}")
    here = PLATFORM_DRIVERS.get((platform.value or "", plugin.value or ""))
    if here:
        return known(here, f"{platform.origin}: {plugin.value} of {platform.value}")
    return unknown(
        f"the HNS network type of {plugin.value or 'an unknown plugin'} cannot be read "
        "from the API; state facts.cni.driver in the cluster profile"
    )
