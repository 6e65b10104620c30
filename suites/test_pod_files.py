"""Files in Pods: volumes that containers mount, share and cannot write, single files, and file modes.

Costly: each check creates its own Pod and removes it; it counts only if a plain Pod starts on the same node. The
probe image itself writes and reads the files, so no shell is needed.
"""

from nettests.model.expectation import Source
from nettests.model.words import OS, CheckClass, Question, TargetKind, VantageKind
from nettests.plan import Matrix, Members, flow, pods

VOLUMES = Source(
    document="Kubernetes documentation, Volumes",
    section="configMap; downwardAPI; emptyDir; Read-only mounts",
    address="https://kubernetes.io/docs/concepts/storage/volumes/",
)
STORAGE = Source(
    document="Kubernetes documentation, Windows Storage",
    section="Persistent storage and volumes",
    address="https://kubernetes.io/docs/concepts/storage/windows-storage/",
)
SUB_PATH = Source(
    document="Kubernetes documentation, Volumes",
    section="Using subPath",
    address="https://kubernetes.io/docs/concepts/storage/volumes/#using-subpath",
)
MEMORY = Source(
    document="Kubernetes documentation, Volumes",
    section="emptyDir",
    address="https://kubernetes.io/docs/concepts/storage/volumes/#emptydir",
)
MODES = Source(
    document="Kubernetes documentation, Secrets",
    section="POSIX permissions",
    address="https://kubernetes.io/docs/concepts/configuration/secret/#secret-files-permissions",
)

PUBLISHED = {"name": "published", "configMap": {"name": "kube-root-ca.crt"}}
"""A ConfigMap that each namespace has since Kubernetes 1.20."""
SHARED = {"name": "shared", "emptyDir": {}}
USERS = (
    (OS.LINUX, {"runAsUser": 65532}, "permission denied"),
    (OS.WINDOWS, {"windowsOptions": {"runAsUserName": "ContainerUser"}}, "Access is denied"),
)
"""On each system a user who is no administrator, and how it denies a file to such a user."""
READ_ONLY = ((OS.LINUX, "read-only file system"), (OS.WINDOWS, "Access is denied"))
"""How each system denies that a read-only mount is written (kubernetes/kubernetes, ``test/e2e/windows/volumes.go``): a
folder that is not there is another error."""

FOLDERS = (
    pods.after(
        "config-map",
        pods.pod(
            pods.container(volumeMounts=[{"name": "published", "mountPath": "/published"}]),
            volumes=[PUBLISHED],
        ),
        *pods.reads("/published/ca.crt"),
        says='content of file "/published/ca.crt"',
        when=("root-ca",),
    ),
    pods.after("downward-api", pods.noting("/noted"), *pods.reads("/noted/note"), says=pods.NOTE),
    pods.after(
        "shared",
        pods.pod(
            pods.container(volumeMounts=[{"name": "shared", "mountPath": "/shared"}]),
            initContainers=[
                pods.container(
                    "before",
                    *("mounttest", "--new_file_0644=/elsewhere/new"),
                    volumeMounts=[{"name": "shared", "mountPath": "/elsewhere"}],
                )
            ],
            volumes=[SHARED],
        ),
        *pods.reads("/shared/new"),
        says=pods.NEW_FILE,
    ),
    *(
        pods.after(
            "read-only",
            pods.pod(
                pods.container(
                    volumeMounts=[{"name": "shared", "mountPath": "/shared", "readOnly": True}]
                ),
                volumes=[SHARED],
            ),
            *("exec", "/agnhost", "mounttest", "--new_file_0644=/shared/new"),
            says=denial,
            os=system,
        )
        for system, denial in READ_ONLY
    ),
    *(
        pods.after(label, pods.noting(place), *pods.reads(path), says=pods.NOTE, os=OS.WINDOWS)
        for label, place, path in (
            ("backslashes", "C:\\noted", "C:\\noted\\note"),
            ("slashes", "C:/noted", "C:/noted/note"),
            ("without-drive", "/noted", "\\noted\\note"),
        )
    ),
)
SINGLE = (
    pods.after(
        "sub-path",
        pods.noting("C:/single/renamed", sub_path="note"),
        *pods.reads("C:/single/renamed"),
        says=pods.NOTE,
    ),
)
DENIED = tuple(
    pods.after(
        "owner-alone",
        pods.noting("/noted", mode=0o400, user=user),
        *pods.reads("/noted/note"),
        says=denial,
        os=system,
    )
    for system, user, denial in USERS
)
IN_MEMORY = (
    pods.after(
        "empty-dir",
        pods.pod(
            pods.container(volumeMounts=[{"name": "memory", "mountPath": "/memory"}]),
            volumes=[{"name": "memory", "emptyDir": {"medium": "Memory"}}],
        ),
        # The type is told on Linux alone; the written file shows that the program ran and its output arrived.
        *("exec", "/agnhost", "mounttest", "--fs_type=/memory", "--new_file_0644=/memory/written"),
        says="tmpfs",
    ),
)


@flow(
    "pod-volumes",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=FOLDERS,
    check_class=CheckClass.COSTLY,
    facts=("plat-secrets-configmaps",),
    sources=(VOLUMES, STORAGE),
)
def test_pod_volumes() -> None:
    """Containers read what volumes hold, share what one of them writes, and cannot write what is mounted read-only."""


@flow(
    "pod-single-file",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH_WINDOWS,
    members=Members.ONE,
    question=Question.START,
    cases=SINGLE,
    check_class=CheckClass.COSTLY,
    facts=("vol-single-files",),
    sources=(SUB_PATH, STORAGE),
)
def test_pod_single_file() -> None:
    """A container mounts one file of a volume under another name."""


@flow(
    "pod-file-modes",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=DENIED,
    check_class=CheckClass.COSTLY,
    facts=("plat-secret-cleartext",),
    sources=(MODES, STORAGE),
)
def test_pod_file_modes() -> None:
    """Another user cannot read a file that its volume's defaultMode reserves for its owner."""


@flow(
    "pod-memory-volume",
    source=VantageKind.API,
    target=TargetKind.POD,
    matrix=Matrix.EACH,
    members=Members.ONE,
    question=Question.START,
    cases=IN_MEMORY,
    check_class=CheckClass.COSTLY,
    facts=("vol-linux-only-features",),
    sources=(MEMORY, STORAGE),
)
def test_pod_memory_volume() -> None:
    """An emptyDir whose medium is Memory is a file system in memory."""
