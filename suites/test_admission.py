"""Admission of Windows pods: the API server rejects fields that an OS rules out, and accepts the others.

Tested by dry run: nothing is stored. A rejection counts only if it names the field, and if a pod without the
field is accepted.
"""

from nettests.model.expectation import Source
from nettests.model.words import Outcome, Question, TargetKind, VantageKind
from nettests.plan import Matrix, cases, flow

PODS = Source(
    document="Kubernetes documentation, Windows containers in Kubernetes",
    section="Field compatibility for pod specifications",
    address="https://kubernetes.io/docs/concepts/windows/intro/",
)
POD_OS = Source(document="KEP-2802, Identify Windows pods", section="Design Details")
CODE = Source(
    document="kubernetes/kubernetes, pkg/apis/core/validation/validation.go at release-1.36",
    section="validateWindows, validateLinux, validateWindowsHostProcessPod",
    address="https://github.com/kubernetes/kubernetes/blob/release-1.36/pkg/apis/core/validation/validation.go",
)
HOST_PROCESS = Source(
    document="Kubernetes documentation, Create a Windows HostProcess Pod",
    section="HostProcess Pod configuration requirements",
    address="https://kubernetes.io/docs/tasks/configure-pod-container/create-hostprocess-pod/",
)

LEVELS = Source(
    document="Kubernetes documentation, Pod Security Standards",
    section="Restricted; Restricted Pod Security Standard changes",
    address="https://kubernetes.io/docs/concepts/security/pod-security-standards/",
)
CLASSES = Source(
    document="Kubernetes documentation, Runtime Class",
    section="Scheduling",
    address="https://kubernetes.io/docs/concepts/containers/runtime-class/#scheduling",
)
SYSTEM = r"NT AUTHORITY\SYSTEM"
HOST = {"windowsOptions": {"hostProcess": True, "runAsUserName": SYSTEM}}
ORDINARY = {"windowsOptions": {"hostProcess": False}}
USER = {"windowsOptions": {"runAsUserName": "ContainerUser"}}

OF_PODS = (
    ("hostPID", True),
    ("hostIPC", True),
    ("hostUsers", False),
    ("shareProcessNamespace", True),
    ("resources", {"limits": {"memory": "64Mi"}}),
)
OF_POD_CONTEXTS = (
    ("seLinuxOptions", {"level": "s0"}),
    ("seLinuxChangePolicy", "Recursive"),
    ("seccompProfile", {"type": "RuntimeDefault"}),
    ("appArmorProfile", {"type": "RuntimeDefault"}),
    ("fsGroup", 1),
    ("fsGroupChangePolicy", "Always"),
    ("sysctls", [{"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}]),
    ("runAsUser", 1),
    ("runAsGroup", 1),
    ("supplementalGroups", [1]),
    ("supplementalGroupsPolicy", "Merge"),
)
ALWAYS_OF_CONTAINERS = (
    ("seLinuxOptions", {"level": "s0"}),
    ("seccompProfile", {"type": "RuntimeDefault"}),
    ("capabilities", {"add": ["NET_ADMIN"]}),
    ("readOnlyRootFilesystem", True),
    ("privileged", True),
    ("allowPrivilegeEscalation", False),
    ("runAsUser", 1),
    ("runAsGroup", 1),
)
OF_CONTAINERS = (
    *ALWAYS_OF_CONTAINERS,
    ("procMount", "Default"),
    ("appArmorProfile", {"type": "RuntimeDefault"}),
)
# A pod with ephemeral containers cannot be created: rejected it is in any case, so that only what every
# version knows can be told from the rest by the field that the rejection names.
CONTAINERS = (
    ("containers", OF_CONTAINERS),
    ("initContainers", OF_CONTAINERS),
    ("ephemeralContainers", ALWAYS_OF_CONTAINERS),
)

POD_FIELDS = (
    *(
        cases.rejected(name, cases.pod(**{name: value}), field=f"spec.{name}")
        for name, value in OF_PODS
    ),
    *(
        cases.rejected(
            f"securityContext.{name}",
            cases.pod(securityContext={name: value}),
            field=f"spec.securityContext.{name}",
        )
        for name, value in OF_POD_CONTEXTS
    ),
)
CONTAINER_FIELDS = tuple(
    cases.rejected(
        f"{kind}.{name}",
        cases.with_container(kind, securityContext={name: value}),
        field=f"spec.{kind}[0].securityContext.{name}",
    )
    for kind, fields in CONTAINERS
    for name, value in fields
)
WINDOWS_OPTIONS = (
    cases.rejected(
        "securityContext",
        cases.pod("linux", securityContext=USER),
        field="spec.securityContext.windowsOptions",
        counter=cases.pod("linux"),
    ),
    *(
        cases.rejected(
            kind,
            cases.with_container(kind, "linux", securityContext=USER),
            field=f"spec.{kind}[0].securityContext.windowsOptions",
            counter=cases.pod("linux"),
        )
        for kind in ("containers", "initContainers")
    ),
)
HOST_PROCESS_POD = cases.pod(hostNetwork=True, securityContext=HOST)
HOST_PROCESS_RULES = (
    cases.rejected(
        "without-host-network",
        cases.pod(securityContext=HOST),
        field="spec.hostNetwork",
        counter=HOST_PROCESS_POD,
    ),
    cases.rejected(
        "one-container-of-two",
        cases.pod(
            hostNetwork=True,
            containers=[cases.container(securityContext=HOST), cases.container("other")],
        ),
        field="spec",
        counter=HOST_PROCESS_POD,
    ),
    cases.rejected(
        "container-against-pod",
        cases.pod(
            hostNetwork=True,
            securityContext=HOST,
            containers=[cases.container(), cases.container("other", securityContext=ORDINARY)],
        ),
        field="spec.containers[1].securityContext.windowsOptions.hostProcess",
        counter=HOST_PROCESS_POD,
    ),
)
ADMITTED = (
    cases.accepted("hostNetwork", cases.pod(hostNetwork=True)),
    cases.accepted("hostProcess-with-hostNetwork", HOST_PROCESS_POD),
    cases.accepted(
        "securityContext.runAsNonRoot", cases.pod(securityContext={"runAsNonRoot": True})
    ),
    cases.accepted("securityContext.windowsOptions", cases.pod(securityContext=USER)),
    cases.accepted(
        "containers.runAsNonRoot",
        cases.with_container("containers", securityContext={"runAsNonRoot": True}),
    ),
    cases.accepted(
        "containers.windowsOptions", cases.with_container("containers", securityContext=USER)
    ),
    cases.accepted(
        "dnsPolicy.ClusterFirstWithHostNet", cases.pod(dnsPolicy="ClusterFirstWithHostNet")
    ),
)
WITHOUT_OS = (
    *(cases.accepted(name, cases.pod(None, **{name: True})) for name in ("hostPID", "hostIPC")),
    *(
        cases.accepted(f"securityContext.{name}", cases.pod(None, securityContext={name: value}))
        for name, value in OF_POD_CONTEXTS
        if name in {"seLinuxOptions", "seccompProfile", "fsGroup", "runAsUser", "runAsGroup"}
    ),
    *(
        cases.accepted(
            f"containers.{name}",
            cases.with_container("containers", None, securityContext={name: value}),
        )
        for name, value in ALWAYS_OF_CONTAINERS
    ),
)

FITTING = cases.pod(securityContext={"runAsNonRoot": True})
FITTING_ON_LINUX = cases.pod(
    "linux",
    securityContext={"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    containers=[
        cases.container(
            securityContext={"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
        )
    ],
)
RESTRICTED = (
    cases.in_level(
        "without-linux-fields",
        FITTING,
        Outcome.ACCEPTED,
        level="restricted",
        counter=FITTING_ON_LINUX,
    ),
    cases.in_level(
        "without-run-as-non-root",
        cases.pod(),
        Outcome.REJECTED,
        level="restricted",
        counter=FITTING_ON_LINUX,
    ),
)


@flow(
    "windows-pod-fields",
    source=VantageKind.API,
    target=TargetKind.API_SERVER,
    matrix=Matrix.CLUSTER,
    question=Question.ADMIT,
    cases=POD_FIELDS,
    facts=(
        "podos-forbidden-pod",
        "podos-podlevelresources",
        "plat-pod-os-field-api",
        "userns-hostusers",
    ),
    sources=(PODS, POD_OS, CODE),
)
def test_windows_pod_fields() -> None:
    """A pod for Windows that sets a Linux-only field is rejected, and the rejection names the field."""


@flow(
    "windows-container-fields",
    source=VantageKind.API,
    target=TargetKind.API_SERVER,
    matrix=Matrix.CLUSTER,
    question=Question.ADMIT,
    cases=CONTAINER_FIELDS,
    facts=("podos-forbidden-container", "sec-privileged"),
    sources=(PODS, POD_OS, CODE),
)
def test_windows_container_fields() -> None:
    """A pod for Windows whose container, of any kind, sets a Linux-only field is rejected."""


@flow(
    "windows-pod-admitted",
    source=VantageKind.API,
    target=TargetKind.API_SERVER,
    matrix=Matrix.CLUSTER,
    question=Question.ADMIT,
    cases=ADMITTED,
    facts=("hostnet-api-osname", "sec-runasnonroot", "sec-runasusername", "hostprocess-rules"),
    sources=(PODS, CODE),
)
def test_windows_pod_admitted() -> None:
    """A pod for Windows may set fields that Windows supports, and hostNetwork, which is then ignored."""


@flow(
    "pod-fields-without-os",
    source=VantageKind.API,
    target=TargetKind.API_SERVER,
    matrix=Matrix.CLUSTER,
    question=Question.ADMIT,
    cases=WITHOUT_OS,
    facts=("podos-unset-fields-ignored", "sec-privileged"),
    sources=(PODS, POD_OS),
)
def test_pod_fields_without_os() -> None:
    """A pod that names no operating system may set Linux-only fields, even if it selects Windows nodes."""


@flow(
    "linux-pod-windows-options",
    source=VantageKind.API,
    target=TargetKind.API_SERVER,
    matrix=Matrix.CLUSTER,
    question=Question.ADMIT,
    cases=WINDOWS_OPTIONS,
    facts=("podos-linux-windowsoptions",),
    sources=(POD_OS, CODE),
)
def test_linux_pod_windows_options() -> None:
    """A pod for Linux that sets windowsOptions is rejected."""


@flow(
    "hostprocess-pod-rules",
    source=VantageKind.API,
    target=TargetKind.API_SERVER,
    matrix=Matrix.CLUSTER,
    question=Question.ADMIT,
    cases=HOST_PROCESS_RULES,
    facts=("hostprocess-rules",),
    sources=(HOST_PROCESS, CODE),
)
def test_hostprocess_pod_rules() -> None:
    """A HostProcess pod uses its node's network, and all of its containers are HostProcess containers."""


@flow(
    "windows-pod-restricted",
    source=VantageKind.API,
    target=TargetKind.API_SERVER,
    matrix=Matrix.CLUSTER,
    question=Question.ADMIT,
    cases=RESTRICTED,
    facts=("sec-psa-restricted",),
    sources=(LEVELS,),
)
def test_windows_pod_restricted() -> None:
    """A restricted namespace requires runAsNonRoot of a pod for Windows, but no Linux-only field."""


@flow(
    "runtime-class-steering",
    source=VantageKind.API,
    target=TargetKind.API_SERVER,
    matrix=Matrix.CLUSTER,
    question=Question.ADMIT,
    cases=(cases.steered("scheduling", cases.unplaced()),),
    facts=("plat-runtimeclass-steering",),
    sources=(CLASSES,),
)
def test_runtime_class_steering() -> None:
    """A Pod that names a RuntimeClass gets the node selector and the tolerations of that class."""
