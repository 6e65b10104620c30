"""Starting Pods: whether they start on each node pool's nodes, with which network, and what prevents it.

Each check creates its own Pod and removes it. A failure counts only if its reason is about this Pod, and if a
plain Pod starts on the same node.
"""

from nettests.model.expectation import Source
from nettests.model.words import OS, CheckClass, Question, TargetKind, VantageKind
from nettests.plan import Matrix, Members, flow, pods

WINDOWS = Source(
    document="Kubernetes documentation, Windows containers in Kubernetes",
    section="Compatibility and limitations",
    address="https://kubernetes.io/docs/concepts/windows/intro/",
)
POD_OS = Source(document="KEP-2802, Identify Windows pods", section="Kubelet")
HOST_PROCESS = Source(
    document="Kubernetes documentation, Create a Windows HostProcess Pod",
    section="HostProcess Pod configuration requirements",
    address="https://kubernetes.io/docs/tasks/configure-pod-container/create-hostprocess-pod/",
)
NETWORKING = Source(
    document="Kubernetes documentation, Pods",
    section="Pod networking",
    address="https://kubernetes.io/docs/concepts/workloads/pods/#pod-networking",
)
HOST_NETWORK = Source(
    document="Kubernetes API reference, PodSpec",
    section="hostNetwork",
    address="https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/",
)
IMAGES = Source(
    document="Microsoft, Windows container version compatibility",
    section="Windows Server host OS compatibility",
    address="https://learn.microsoft.com/virtualization/windowscontainers/deploy-containers/version-compatibility",
)
USERS = Source(
    document="Kubernetes documentation, Configure RunAsUserName for Windows pods and containers",
    section="Set the Username for a Pod",
    address="https://kubernetes.io/docs/tasks/configure-pod-container/configure-runasusername/",
)
PROBES = Source(
    document="Kubernetes documentation, Liveness, Readiness, and Startup Probes",
    section="Types of probe",
    address="https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-probes",
)
HOOKS = Source(
    document="Kubernetes documentation, Container Lifecycle Hooks",
    section="Container hooks",
    address="https://kubernetes.io/docs/concepts/containers/container-lifecycle-hooks/",
)
VARIABLES_DOCUMENT = Source(
    document="Kubernetes documentation, Service",
    section="Environment variables",
    address="https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables",
)

PATIENT = {"periodSeconds": 1, "timeoutSeconds": 5}
"""A readiness probe that runs every second and gives an answer time: nothing here is about speed."""
LOCAL = f"127.0.0.1:{pods.HTTP}"
BASE = "mcr.microsoft.com/windows/nanoserver"
OTHER_BUILD = ("no match for platform in manifest", "does not match the host operating system")
USER = {"windowsOptions": {"runAsUserName": "ContainerUser"}}
NOBODY = {"windowsOptions": {"runAsUserName": "nettests-nobody"}}
"""An account that a host may have, and no image has."""
ADMINISTRATOR = {
    "runAsNonRoot": True,
    "windowsOptions": {"runAsUserName": "ContainerAdministrator"},
}
ON_HOST = {"windowsOptions": {"hostProcess": True, "runAsUserName": r"NT AUTHORITY\SYSTEM"}}
"""Such a container is given the command that starts the image's program on a host."""

COMPOSED = (
    pods.starts("one-container", pods.pod(pods.server())),
    pods.starts(
        "init-container",
        pods.pod(pods.server(), initContainers=[pods.container("before", "dns-suffix")]),
    ),
    pods.after(
        "two-containers",
        pods.pod(pods.container(), pods.server("second"), hostname="witness"),
        "exec",
        *("curl", "-sS", "-m", "5", f"http://{LOCAL}/hostname"),
        says="witness",
    ),
)
LINUX_FIELDS = (
    pods.starts(
        "pod",
        pods.pod(os=None, securityContext={"fsGroup": 1, "seLinuxOptions": {"level": "s0"}}),
        os=OS.WINDOWS,
    ),
    pods.starts(
        "container",
        pods.pod(
            pods.container(
                securityContext={
                    "capabilities": {"add": ["NET_ADMIN"]},
                    "readOnlyRootFilesystem": True,
                    "allowPrivilegeEscalation": False,
                }
            ),
            os=None,
        ),
        os=OS.WINDOWS,
    ),
    pods.starts("runAsUser", pods.pod(os=None, securityContext={"runAsUser": 1000}), os=OS.WINDOWS),
)
MISPLACED = tuple(
    pods.fails(f"{other}-pod", pods.pod(os={"name": other}), "PodOSNotSupported", os=system)
    for other, system in (("linux", OS.WINDOWS), ("windows", OS.LINUX))
)
HOST = (pods.after("address", pods.pod(hostNetwork=True), "address", says="node"),)
HOST_PROCESS_POD = (
    pods.after(
        "address",
        pods.pod(hostNetwork=True, securityContext=ON_HOST),
        "address",
        says="node",
        os=OS.WINDOWS,
    ),
)
BUILDS = tuple(
    pods.starts(
        label,
        pods.pod({"name": "base", "image": f"{BASE}:{tag}", "command": ["cmd", "/c", "ver"]}),
        os=OS.WINDOWS,
        reasons=OTHER_BUILD,
    )
    for label, tag in (("ltsc2019", "1809"), ("ltsc2022", "ltsc2022"), ("ltsc2025", "ltsc2025"))
)
NAMED = (
    pods.after(
        "pod",
        pods.pod(securityContext=USER),
        "exec",
        "whoami",
        says="containeruser",
        os=OS.WINDOWS,
    ),
    pods.after(
        "container",
        pods.pod(pods.container(securityContext=USER)),
        "exec",
        "whoami",
        says="containeruser",
        os=OS.WINDOWS,
    ),
)
UNKNOWN = (
    pods.fails(
        "no-such-account",
        pods.pod(pods.container(securityContext=NOBODY)),
        *("user name or password is incorrect", "No mapping between account names"),
    ),
)
NON_ROOT = (
    pods.fails(
        "administrator",
        pods.pod(securityContext=ADMINISTRATOR),
        "non-root",
        "runAsNonRoot",
        os=OS.WINDOWS,
    ),
    pods.starts("user", pods.pod(securityContext={"runAsNonRoot": True, **USER}), os=OS.WINDOWS),
)
PROBED = tuple(
    pods.starts(name, pods.pod(pods.server(readinessProbe={**handler, **PATIENT})))
    for name, handler in (
        ("http", {"httpGet": {"port": pods.HTTP, "path": "/hostname"}}),
        ("tcp", {"tcpSocket": {"port": pods.HTTP}}),
        ("exec", {"exec": {"command": ["/agnhost", "connect", "--timeout=3s", LOCAL]}}),
    )
)
VARIABLES = tuple(
    pods.after(
        "kubernetes",
        pods.pod(),
        "exec",
        *words,
        says="KUBERNETES_SERVICE_PORT=443",
        whole_line=True,
        os=system,
    )
    for system, words in ((OS.LINUX, ("env",)), (OS.WINDOWS, ("cmd", "/c", "set")))
)
WRITES = ["/agnhost", "mounttest", "--new_file_0644=/left/by-hook"]
HOOK = pods.after(
    "post-start-hook",
    pods.pod(
        pods.server(
            lifecycle={"postStart": {"exec": {"command": WRITES}}},
            volumeMounts=[{"name": "left", "mountPath": "/left"}],
        ),
        volumes=[{"name": "left", "emptyDir": {}}],
    ),
    *pods.reads("/left/by-hook"),
    says=pods.NEW_FILE,
)
MIXED = tuple(
    pods.fails(
        f"{other}-container",
        pods.pod(pods.container(), {"name": "other", "image": image}),
        "no match for platform in manifest",
        os=system,
    )
    for other, system, image in (
        ("linux", OS.WINDOWS, "registry.k8s.io/coredns/coredns:v1.11.1"),
        ("windows", OS.LINUX, f"{BASE}:ltsc2022"),
    )
)


@flow(
    "pod-starts",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    question=Question.START,
    cases=COMPOSED,
    facts=("plat-multi-container-pod", "plat-nodeselector-label", "plat-taint-convention"),
    sources=(NETWORKING,),
)
def test_pod_starts() -> None:
    """A Pod starts on the node that it selects and tolerates; its containers reach each other on localhost."""


@flow(
    "windows-pod-linux-fields",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=LINUX_FIELDS,
    facts=("podos-unset-fields-ignored",),
    sources=(WINDOWS,),
)
def test_windows_pod_linux_fields() -> None:
    """A Windows node ignores Linux-only fields of a Pod that names no operating system: it starts."""


@flow(
    "pod-of-other-os",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=MISPLACED,
    facts=("plat-pod-os-kubelet-reject",),
    sources=(POD_OS,),
)
def test_pod_of_other_os() -> None:
    """A Pod whose os.name is not its node's is rejected by the kubelet."""


@flow(
    "mixed-os-pod",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=MIXED,
    check_class=CheckClass.COSTLY,
    facts=("plat-mixed-os-pod",),
    sources=(WINDOWS,),
)
def test_mixed_os_pod() -> None:
    """A Pod with containers of both systems does not start: a node has no image for the other system."""


@flow(
    "pod-host-network",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    question=Question.START,
    cases=HOST,
    facts=("hostnet-non-hostprocess", "hostnet-api-osname"),
    sources=(HOST_NETWORK,),
)
def test_pod_host_network() -> None:
    """A Pod with hostNetwork has its node's address."""


@flow(
    "hostprocess-pod-network",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    question=Question.START,
    cases=HOST_PROCESS_POD,
    facts=("flow-hostprocess-pod-net",),
    sources=(HOST_PROCESS,),
)
def test_hostprocess_pod_network() -> None:
    """A HostProcess pod has its node's address."""


@flow(
    "windows-image-build",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=BUILDS,
    check_class=CheckClass.COSTLY,
    facts=("plat-kernel-image-match", "plat-image-portability"),
    sources=(IMAGES, WINDOWS),
)
def test_windows_image_build() -> None:
    """A container from a Windows base image starts on a Windows node."""


@flow(
    "windows-run-as-user-name",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=NAMED,
    facts=("sec-runasusername", "sec-podsecuritycontext-scope"),
    sources=(USERS,),
)
def test_windows_run_as_user_name() -> None:
    """A container runs as the user that runAsUserName names, on the pod or on the container."""


@flow(
    "windows-unknown-account",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH_WINDOWS,
    members=Members.ONE,
    question=Question.START,
    cases=UNKNOWN,
    check_class=CheckClass.COSTLY,
    facts=("sec-runasusername",),
    sources=(USERS,),
)
def test_windows_unknown_account() -> None:
    """No container starts as an account that its image lacks: accounts of the host do not exist in it."""


@flow(
    "windows-run-as-non-root",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=NON_ROOT,
    facts=("sec-runasnonroot",),
    sources=(WINDOWS,),
)
def test_windows_run_as_non_root() -> None:
    """With runAsNonRoot no container starts as ContainerAdministrator; containers of other users do."""


@flow(
    "pod-probes",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    question=Question.START,
    cases=(*PROBED, HOOK),
    facts=("flow-kubelet-probes",),
    sources=(PROBES, HOOKS),
)
def test_pod_probes() -> None:
    """A readiness probe by HTTP, TCP or exec passes once the container serves, and a postStart hook runs."""


@flow(
    "pod-service-variables",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=VARIABLES,
    facts=("svc-headless-env",),
    sources=(VARIABLES_DOCUMENT,),
)
def test_pod_service_variables() -> None:
    """A pod's environment has the addresses of Services that existed before it."""
