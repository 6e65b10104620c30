"""Named faults of kubelets, containers, and of the channels to their probes. Values."""

from nettests.lab.selftest.declared import Checks, NamedFault, inject
from nettests.lab.selftest.places import BRIDGE, OVERLAY, UNPROVEN, answering, crossing

NODE_FAULTS = (
    NamedFault(
        name="kubelet-silent",
        summary="win-2's kubelet says and hears nothing: no new Pod starts there",
        profiles=(BRIDGE,),
        injections=inject("kubelet-silent", node="win-2"),
        must=(Checks(flow="pod-to-pod-ip", target="win-2"),),
        may=(*crossing("win-2"), Checks(node="win-2")),
        names=("win-2|server-windows-1-2",),
    ),
    NamedFault(
        name="late-pod-network",
        summary="new Pods on win-1 have no network for their first 6 s",
        profiles=(BRIDGE, OVERLAY),
        injections=inject("late-pod-network", node="win-1", seconds=6),
        must=(Checks(flow="new-pod-first-packets", source="win-1"),),
        may=(
            *(Checks(flow=flow, node="win-1") for flow in ("kubectl-to-pod", "pod-*")),
            Checks(flow="new-pod-first-packets", source="win-1"),
            # Probes and servers are new Pods as well: what is sent while they are is sent again.
            Checks(node="win-1", verdict="flaky"),
            Checks(service="*-windows-1-1", verdict="flaky"),
        ),
        names=("New Pods on win-1", "nothing", "first 6 s|first 7 s|first 8 s"),
    ),
    NamedFault(
        name="registry-down",
        summary="win-1 has lost its images, and no registry answers it",
        profiles=(BRIDGE,),
        injections=inject("registry-down", node="win-1"),
        must=(
            Checks(flow="pod-to-pod-ip", source="win-1"),
            Checks(flow="pod-starts", target="win-1"),
            Checks(flow="pod-probes", target="win-1"),
        ),
        # A distribution is proven by Pods of another system too.
        may=(
            *crossing("win-1"),
            Checks(node="win-1"),
            Checks(flow="service-distribution", verdict="unknown"),
        ),
        names=("win-1|windows",),
    ),
    NamedFault(
        name="probe-killed",
        summary="the process of the source Pod from win-1 is killed in the middle",
        profiles=(BRIDGE,),
        injections=inject("container-killed", pod="probe-windows-1-1", seconds=30),
        may=(Checks(source="win-1"), *UNPROVEN),
        blind="its Pod is started again at once; what was sent meanwhile is retried",
    ),
    NamedFault(
        name="backend-killed",
        summary="the process of the Pod server-windows-1-2 is killed in the middle",
        profiles=(OVERLAY,),
        injections=inject("container-killed", pod="server-windows-1-2", seconds=30),
        may=answering("win-2"),
        blind="its Pod is started again within a second, which two attempts of a check may miss",
    ),
    NamedFault(
        name="exec-hangs",
        summary="one exec of three never ends for its client",
        profiles=(BRIDGE,),
        injections=inject("exec-hangs", rate=0.33),
        recovered="no end after",
    ),
    NamedFault(
        name="exit-code-lost",
        summary="one exec of three ends without an exit code",
        profiles=(BRIDGE,),
        injections=inject("exit-code-lost", rate=0.33),
        may=(Checks(),),
        blind="an exec whose stream ends without a word is run again",
    ),
    NamedFault(
        name="exit-codes-lost",
        summary="no exec on win-1 ends with an exit code",
        profiles=(BRIDGE,),
        injections=inject("exit-code-lost", node="win-1"),
        must=(Checks(node="win-1"),),
        may=(Checks(node="win-1"), *UNPROVEN),
        names=("win-1|windows",),
    ),
    NamedFault(
        name="channel-down",
        summary="exec, port-forward and proxying to Pods of win-1 fail",
        profiles=(BRIDGE,),
        injections=inject("channel-down", node="win-1"),
        must=(Checks(source="win-1"), Checks(flow="kubectl-to-pod", node="win-1")),
        may=(Checks(node="win-1"), *UNPROVEN),
        names=("win-1",),
    ),
    NamedFault(
        name="kubelet-too-old",
        summary="win-1's kubelet says that it is of Kubernetes 1.28",
        profiles=(BRIDGE,),
        injections=inject(
            "object-edited",
            object="node-status/win-1",
            patch='{"status": {"nodeInfo": {"kubeletVersion": "v1.28.2"}}}',
        ),
        must=(
            Checks(id="windows-node-configuration/*/kubelet-skew"),
            Checks(id="kube-proxy-configuration/*/kube-proxy-skew"),
        ),
        names=("kubelet",),
    ),
    NamedFault(
        name="build-misstated",
        summary="win-1's node object names an older update than the one that runs",
        profiles=(BRIDGE,),
        injections=inject(
            "object-edited",
            object="node-status/win-1",
            patch='{"status": {"nodeInfo": {"kernelVersion": "10.0.20348.3091"}}}',
        ),
        must=(Checks(id="windows-host-configuration/*/running-build"),),
        names=("build",),
    ),
    NamedFault(
        name="control-plane-on-windows",
        summary="win-2 is labelled as a node of the control plane",
        profiles=(BRIDGE,),
        injections=inject(
            "object-edited",
            object="node/win-2",
            patch='{"metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}}}',
        ),
        must=(Checks(flow="control-plane-system"),),
        names=("control-plane|control plane",),
    ),
)
