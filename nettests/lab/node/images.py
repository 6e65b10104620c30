"""The images that nodes of the lab can pull, and how a pull or start fails for others.

Pure. An image has an entrypoint, a default command, the operating systems and Windows builds that its
manifest list holds, and the kind of program it runs. Sources: agnhost's tags per Windows build
(kubernetes/kubernetes test/images/agnhost, #132117, #136727), pause's CHANGELOG, Microsoft's version
compatibility page (build must match for process isolation; 25398 and 26100 also run 20348 images). Error texts
are containerd's.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from nettests.lab.topology import OS, PRODUCTS, NodeSpec

REGISTRY = "registry.k8s.io"
AGNHOST = f"{REGISTRY}/e2e-test-images/agnhost"
MIRROR, PRIVATE = "mirror.lab.test", "private.lab.test"
"""Registries that hold a copy of every image, below any path; the second one wants credentials."""
PRIVATE_LOGIN = ("puller", "lab")
"""The one user of the private registry, and the password."""

Logins = Mapping[str, Collection[tuple[str, str]]]
"""User names and passwords by registry, as pull Secrets have them."""

_ALL_BUILDS = frozenset(PRODUCTS)
"""For HostProcess containers, whose base image has no Windows build."""
_PORTABLE = {25398: 20348}
"""The annual channel runs the images of Windows Server 2022 and has none of its own (Microsoft, Portability for containers)."""


class Kind(StrEnum):
    """What a container of the image runs."""

    AGNHOST = "agnhost"
    PAUSE = "pause"
    KUBE_PROXY = "kube-proxy"
    FLANNEL = "flannel"
    OVN_KUBERNETES = "ovn-kubernetes"
    AWS_NODE = "aws-node"
    AZURE_CNS = "azure-cns"
    ANTREA = "antrea"
    CALICO = "calico"
    COREDNS = "coredns"


class ImagePullError(Exception):
    """The image cannot be pulled; the text is the runtime's."""


class ImageBuildError(Exception):
    """The image is there, but its Windows build cannot run on this node; the text is HCS's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image on a node: what it runs when the container says nothing else."""

    reference: str
    kind: Kind
    entrypoint: tuple[str, ...]
    command: tuple[str, ...] = ()
    bare: bool = False
    """Whether it is a base image of Windows, without the programs of agnhost's image."""

    @property
    def holds_agnhost(self) -> bool:
        """Whether it has agnhost, and the programs beside it."""
        return self.kind is Kind.AGNHOST and not self.bare

    @property
    def image_id(self) -> str:
        """The image's digest; made of its name, so that it is stable."""
        return "sha256:" + hashlib.sha256(self.reference.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One repository: which tags exist and which Windows builds each has."""

    kind: Kind
    entrypoint: tuple[str, ...]
    tag: re.Pattern[str]
    command: tuple[str, ...] = ()
    linux: bool = True
    builds: Callable[[tuple[int, ...]], frozenset[int]] = lambda _: frozenset()


def _agnhost_builds(version: tuple[int, ...]) -> frozenset[int]:
    builds = {17763}
    if version >= (2, 33):
        builds.add(20348)
    if version >= (2, 62):
        builds.add(26100)
    return frozenset(builds)


def _pause_builds(version: tuple[int, ...]) -> frozenset[int]:
    builds = {17763}
    if version >= (3, 6):
        builds.add(20348)
    if version >= (3, 10, 2):
        builds.add(26100)
    return frozenset(builds)


# 2.63.0
_AGNHOST_TAG = re.compile(r"2\.\d+(\.\d+)?")
# 3.10.1
_PAUSE_TAG = re.compile(r"3\.\d+(\.\d+)?")
# v1.24.17, v1.24.17-flannel-hostprocess, v0.25.6
_RELEASE_TAG = re.compile(r"v\d+\.\d+\.\d+(-[a-z0-9-]+)?")


def _for_windows(kind: Kind, program: str) -> _Entry:
    """Return a repository whose images exist for all builds of Windows, and not for Linux."""
    return _Entry(
        kind=kind,
        entrypoint=(program,),
        tag=_RELEASE_TAG,
        linux=False,
        builds=lambda _: _ALL_BUILDS,
    )


_CATALOGUE: dict[str, _Entry] = {
    AGNHOST: _Entry(
        kind=Kind.AGNHOST,
        entrypoint=("/agnhost",),
        command=("pause",),
        tag=_AGNHOST_TAG,
        builds=_agnhost_builds,
    ),
    "docker.io/nicolaka/netshoot": _Entry(
        kind=Kind.AGNHOST, entrypoint=(), tag=re.compile(r"v0\.\d+")
    ),
    f"{REGISTRY}/pause": _Entry(
        kind=Kind.PAUSE, entrypoint=("/pause",), tag=_PAUSE_TAG, builds=_pause_builds
    ),
    f"{REGISTRY}/kube-proxy": _Entry(
        kind=Kind.KUBE_PROXY, entrypoint=("/usr/local/bin/kube-proxy",), tag=_RELEASE_TAG
    ),
    f"{REGISTRY}/coredns/coredns": _Entry(
        kind=Kind.COREDNS, entrypoint=("/coredns",), tag=_RELEASE_TAG
    ),
    "ghcr.io/flannel-io/flannel": _Entry(
        kind=Kind.FLANNEL, entrypoint=("/opt/bin/flanneld",), tag=_RELEASE_TAG
    ),
    "docker.io/sigwindowstools/kube-proxy": _for_windows(Kind.KUBE_PROXY, "kube-proxy.exe"),
    "mcr.microsoft.com/containernetworking/azure-cns": _Entry(
        kind=Kind.AZURE_CNS,
        entrypoint=("azure-cns",),
        tag=_RELEASE_TAG,
        builds=lambda _: _ALL_BUILDS,
    ),
    "ghcr.io/ovn-kubernetes/ovn-kubernetes/ovn-kube-fedora": _Entry(
        kind=Kind.OVN_KUBERNETES, entrypoint=("ovnkube.sh",), tag=_RELEASE_TAG
    ),
    "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni": _Entry(
        kind=Kind.AWS_NODE, entrypoint=("/app/aws-vpc-cni",), tag=_RELEASE_TAG
    ),
    "docker.io/antrea/antrea-agent-ubuntu": _Entry(
        kind=Kind.ANTREA, entrypoint=("antrea-agent",), tag=_RELEASE_TAG
    ),
    "docker.io/antrea/antrea-windows": _for_windows(Kind.ANTREA, "antrea-agent.exe"),
    "quay.io/calico/node": _Entry(kind=Kind.CALICO, entrypoint=("start_runit",), tag=_RELEASE_TAG),
    "quay.io/calico/node-windows": _for_windows(Kind.CALICO, "calico-node.exe"),
    "docker.io/sigwindowstools/flannel": _for_windows(Kind.FLANNEL, "flanneld.exe"),
}

# Microsoft's base images exist once per build; the tag names it.
_BASE_TAGS = {"1809": 17763, "ltsc2019": 17763, "ltsc2022": 20348, "ltsc2025": 26100}
_BASES = ("mcr.microsoft.com/windows/nanoserver", "mcr.microsoft.com/windows/servercore")


def find(
    reference: str,
    node: NodeSpec,
    *,
    host_process: bool = False,
    logins: Logins = MappingProxyType({}),
) -> Image:
    """Return the image as ``node`` would pull it with these ``logins``.

    Raises ``ImagePullError`` for what no registry in reach has, or has not for this platform or this user,
    and ``ImageBuildError`` for a Windows base image of another build (HostProcess containers need no match).
    """
    repository, tag = split(reference)
    registry = repository.partition("/")[0]
    if registry == PRIVATE:
        _log_in(reference, tag, logins.get(PRIVATE, ()))
    original = _original(repository)
    if original in _BASES:
        return _base(reference, tag, node, host_process=host_process)
    entry = _CATALOGUE.get(original)
    if entry is None and registry not in {MIRROR, PRIVATE}:
        raise ImagePullError(unreachable(reference))
    if entry is None:
        raise ImagePullError(
            f'{_failed(reference)}: failed to resolve image: "{repository}:{tag}": not found'
        )
    if not entry.tag.fullmatch(tag):
        raise ImagePullError(
            f"{_failed(reference)}: failed to resolve image: {reference}: not found"
        )
    if not _offers(entry, _numbers(tag), node):
        raise ImagePullError(f"{_failed(reference)}: no match for platform in manifest: not found")
    return Image(
        reference=reference, kind=entry.kind, entrypoint=entry.entrypoint, command=entry.command
    )


def split(reference: str) -> tuple[str, str]:
    """Split a reference into repository (with its registry) and tag, as Docker's defaults say."""
    name, _, digest = reference.partition("@")
    head, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    repository = f"{head}{slash}{last}"
    first = repository.split("/", 1)[0]
    if "/" not in repository:
        repository = f"docker.io/library/{repository}"
    elif not ("." in first or ":" in first or first == "localhost"):
        repository = f"docker.io/{repository}"
    return repository, tag or digest or "latest"


def _original(repository: str) -> str:
    """Return the repository that a mirror's repository copies; users choose the path before its name."""
    registry, _, path = repository.partition("/")
    if registry not in {MIRROR, PRIVATE}:
        return repository
    copied = [
        candidate
        for candidate in (*_CATALOGUE, *_BASES)
        if f"/{path}".endswith(f"/{candidate.partition('/')[2]}")
    ]
    return max(copied, key=len, default=repository)


def _log_in(reference: str, tag: str, logins: Collection[tuple[str, str]]) -> None:
    """Raise unless one of the logins is the right one: containerd tries each."""
    if PRIVATE_LOGIN in logins:
        return
    if not logins:
        raise ImagePullError(
            f"{_failed(reference)}: failed to resolve image: pull access denied, repository does not "
            "exist or may require authorization: authorization failed: no basic auth credentials"
        )
    path = split(reference)[0].partition("/")[2]
    raise ImagePullError(
        f"{_failed(reference)}: failed to resolve image: unexpected status from HEAD request to "
        f"https://{PRIVATE}/v2/{path}/manifests/{tag}: 401 Unauthorized"
    )


def _offers(entry: _Entry, version: tuple[int, ...], node: NodeSpec) -> bool:
    if node.os is OS.LINUX:
        return entry.linux
    builds = entry.builds(version)
    return node.build in builds or _PORTABLE.get(node.build or 0) in builds


def _base(reference: str, tag: str, node: NodeSpec, *, host_process: bool) -> Image:
    build = _BASE_TAGS.get(tag)
    if build is None or node.os is not OS.WINDOWS:
        raise ImagePullError(f"{_failed(reference)}: no match for platform in manifest: not found")
    if not host_process and not _runs(build, node):
        raise ImageBuildError(
            "failed to create containerd task: failed to create shim task: hcs::CreateComputeSystem: "
            "The container operating system does not match the host operating system.: unknown"
        )
    return Image(
        reference=reference,
        kind=Kind.AGNHOST,
        entrypoint=(),
        command=("c:\\windows\\system32\\cmd.exe",),
        bare=True,
    )


def _runs(build: int, node: NodeSpec) -> bool:
    return build == node.build or (build, node.build) in {(20348, 25398), (20348, 26100)}


def _failed(reference: str) -> str:
    return f'failed to pull and unpack image "{reference}"'


def unreachable(reference: str) -> str:
    """Return what a pull says where no registry can be reached: its name does not resolve."""
    repository, tag = split(reference)
    registry, _, path = repository.partition("/")
    host = "registry-1.docker.io" if registry == "docker.io" else registry
    return (
        f"{_failed(reference)}: failed to resolve image: failed to do request: Head "
        f'"https://{host}/v2/{path}/manifests/{tag}": dial tcp: lookup {registry} on 172.30.0.1:53: '
        "no such host"
    )


def _numbers(tag: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", tag))
