"""Named faults of kubelets and runtimes on Windows, and of what has Pods: volumes, probes, hooks, how containers end, where
Pods may stand, what they reach, who makes them. Values.

Most have a lab of their own: nothing switches these while a lab runs.
"""

from nettests.lab.selftest.declared import Checks, NamedFault, inject
from nettests.lab.selftest.places import BRIDGE

_COSTLY = ("costly",)
_OLD_LABEL = '{"metadata": {"labels": {"beta.kubernetes.io/os": null}}}'


def _switched(name: str, summary: str, switch: str, flow: str, words: str = "") -> NamedFault:
    """Return a fault made by a mechanism switch, which one costly flow has to show."""
    return NamedFault(
        name=name,
        summary=summary,
        profiles=(BRIDGE,),
        mechanisms=(switch,),
        enable=_COSTLY,
        must=(Checks(flow=flow),),
        names=(words or flow,),
    )


def _stopped(name: str, controller: str, objects: str, flow: str, words: str) -> NamedFault:
    """Return a fault of a stopped controller, which one costly flow has to show."""
    return NamedFault(
        name=name,
        summary=f"the controller of {objects} does nothing any more",
        profiles=(BRIDGE,),
        injections=inject("controller-stopped", controller=controller),
        enable=_COSTLY,
        must=(Checks(flow=flow),),
        names=(words,),
    )


POD_FAULTS = (
    NamedFault(
        name="metadata-answered",
        summary="nodes look like Google's, and their Windows Pods reach the metadata address, which documents deny",
        profiles=(BRIDGE,),
        mechanisms=("google-labels=on", "cloud-metadata=on"),
        enable=_COSTLY,
        must=(Checks(flow="pod-to-cloud-metadata"),),
        names=("flow-gce-metadata|pod-to-cloud-metadata",),
    ),
    _switched(
        "volumes-empty",
        "kubelets on Windows show each container empty folders in the place of its Pod's volumes",
        "volumes=off",
        "pod-volumes",
    ),
    _switched(
        "single-files-missing",
        "the runtime on Windows mounts no single files, so that no message reaches a Pod's status",
        "single-files=off",
        "pod-termination-message",
    ),
    _switched(
        "modes-heeded",
        "Windows heeds the modes of files, which its documents deny",
        "file-modes=on",
        "pod-file-modes",
        "limitation",
    ),
    _switched(
        "memory-on-disk",
        "kubelets on Linux put an emptyDir of medium Memory on a disk",
        "memory-volumes=off",
        "pod-memory-volume",
    ),
    _switched(
        "exit-codes-zero",
        "containers on Windows end with 0, whatever their program ended with",
        "exit-codes=off",
        "pod-exit-code",
    ),
    _switched(
        "no-restarting-probes",
        "kubelets on Windows run neither liveness nor startup probes",
        "liveness-probes=off",
        "pod-restarting-probes",
    ),
    _switched(
        "no-pre-stop-hooks",
        "kubelets on Windows end Pods without their preStop hooks",
        "pre-stop-hooks=off",
        "pod-pre-stop-hook",
    ),
    _switched(
        "any-account",
        "containers on Windows run as whatever account is named",
        "accounts=off",
        "windows-unknown-account",
    ),
    _switched(
        "policies-enforced",
        "an agent enforces NetworkPolicies, which Flannel's documents deny",
        "network-policies=on",
        "network-policy",
        "limitation",
    ),
    _stopped("daemon-sets-ignored", "daemonset", "DaemonSets", "daemon-set-pod", "case daemon-set"),
    _switched(
        "pods-replaced-at-once",
        "the Deployment controller takes away old Pods before new ones are Ready",
        "rolling-updates=off",
        "deployment-rollout",
        "case rolling-update",
    ),
    _switched(
        "finished-pods-uncounted",
        "the Job controller does not count Pods that have ended",
        "finished-pods=off",
        "job-completion",
        "case job",
    ),
    _stopped("cron-jobs-ignored", "cronjob", "CronJobs", "cron-job-schedule", "case cron-job"),
    _switched(
        "anti-affinity-ignored",
        "the scheduler puts Pods onto one node that keep away from each other",
        "anti-affinity=off",
        "pod-anti-affinity",
        "case anti-affinity",
    ),
    NamedFault(
        name="attach-silent",
        summary="who attaches to a container hears nothing of it",
        profiles=(BRIDGE,),
        injections=inject("attach-silent"),
        enable=_COSTLY,
        must=(Checks(flow="pod-attach"),),
        names=("case attach",),
    ),
    NamedFault(
        name="no-service-links",
        summary="kubelets on Windows name no Service of a Pod's namespace in its variables",
        profiles=(BRIDGE,),
        mechanisms=("service-links=off",),
        must=(Checks(flow="pod-service-links"),),
        names=("pod-service-links",),
    ),
    NamedFault(
        name="huge-pages-offered",
        summary="Windows nodes offer huge pages, which their documents deny",
        profiles=(BRIDGE,),
        mechanisms=("huge-pages=on",),
        must=(Checks(flow="windows-huge-pages"),),
        names=("windows-huge-pages",),
    ),
    NamedFault(
        name="old-label-gone",
        summary="somebody took the label beta.kubernetes.io/os from win-1",
        profiles=(BRIDGE,),
        injections=inject("object-edited", object="node/win-1", patch=_OLD_LABEL),
        must=(Checks(id="pod-node-selector/windows-1/beta-os-label"),),
        names=("pod-node-selector",),
    ),
)
