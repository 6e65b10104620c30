"""Where Pods may run: labels of nodes that documents name, and what keeps a Pod pending.

Each check creates a Pod for one node and removes it; it counts only if a plain Pod starts there.
"""

from nettests.model.expectation import Source
from nettests.model.words import OS, CheckClass, Question, TargetKind, VantageKind
from nettests.model.workload import APART, Workload
from nettests.plan import Matrix, Members, flow, pods

SELECTOR = Source(
    document="Kubernetes documentation, Assigning Pods to Nodes",
    section="nodeSelector",
    address="https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodeselector",
)
BUILDS = Source(
    document="Kubernetes documentation 1.18, Guide for scheduling Windows containers in Kubernetes",
    section="Ensuring OS-specific workloads land on the appropriate container host",
    address="https://github.com/kubernetes/website/blob/release-1.18/content/en/docs/setup/production-environment/windows/user-guide-windows-containers.md",
)
LABELS = Source(
    document="Kubernetes documentation, Well-Known Labels, Annotations and Taints",
    section="beta.kubernetes.io/os (deprecated)",
    address="https://kubernetes.io/docs/reference/labels-annotations-taints/",
)
WINDOWS = Source(
    document="Kubernetes documentation, Windows containers in Kubernetes",
    section="Compatibility and limitations",
    address="https://kubernetes.io/docs/concepts/windows/intro/",
)

AFFINITY = Source(
    document="Kubernetes documentation, Assigning Pods to Nodes",
    section="Inter-pod affinity and anti-affinity",
    address="https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#inter-pod-affinity-and-anti-affinity",
)

NOT_SELECTED = ("didn't match Pod's node affinity", "didn't match node selector")
"""The scheduler's words, of today and before Kubernetes 1.20."""
PAGES = "hugepages-2Mi"
HUGE = {PAGES: "2Mi", "memory": "32Mi", "cpu": "10m"}
"""Huge pages are requested beside memory or processor time alone."""

STEERED = (
    pods.starts(
        "windows-build",
        pods.pod(nodeSelector={pods.BUILD_LABEL: pods.BUILD}),
        os=OS.WINDOWS,
        reasons=NOT_SELECTED,
    ),
    *(
        pods.starts(
            "beta-os-label",
            pods.pod(nodeSelector={"beta.kubernetes.io/os": system.value}),
            os=system,
            reasons=NOT_SELECTED,
        )
        for system in (OS.LINUX, OS.WINDOWS)
    ),
    pods.fails(
        "no-such-label",
        pods.pod(nodeSelector={pods.annotation("no-such-label"): ""}),
        *NOT_SELECTED,
    ),
)
OF_HUGE_PAGES = (
    pods.fails(
        "requested",
        pods.pod(pods.container(resources={"requests": HUGE, "limits": HUGE})),
        f"Insufficient {PAGES}",
    ),
)


@flow(
    "pod-node-selector",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=STEERED,
    facts=("plat-label-windows-build", "plat-nodeselector-label"),
    sources=(SELECTOR, BUILDS, LABELS),
)
def test_pod_node_selector() -> None:
    """A Pod starts on a node that has the labels it selects, and stays pending where no node has them."""


@flow(
    "windows-huge-pages",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH_WINDOWS,
    members=Members.ONE,
    question=Question.START,
    cases=OF_HUGE_PAGES,
    facts=("plat-huge-pages",),
    sources=(WINDOWS,),
)
def test_windows_huge_pages() -> None:
    """A Pod that requests huge pages stays pending: no Windows node offers any."""


@flow(
    "pod-anti-affinity",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=(
        pods.worked("anti-affinity", Workload.DEPLOYMENT, pods.pod(), APART, says="anti-affinity"),
    ),
    check_class=CheckClass.COSTLY,
    facts=("plat-anti-affinity",),
    sources=(AFFINITY,),
)
def test_pod_anti_affinity() -> None:
    """A node takes one of two Pods with anti-affinity; the other stays pending where no other node may take it."""
