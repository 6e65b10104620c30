"""The images that nodes of the lab can pull, and the errors of pulling or starting others.

Pure. An image has an entrypoint, a default command, the operating systems and Windows builds of its
manifest list, and the kind of program that it runs. Sources: agnhost's tags per Windows build
(kubernetes/kubernetes test/images/agnhost, #132117, #136727), pause's CHANGELOG, Microsoft's version
compatibility page (build must match for process isolation; 25398 and 26100 also run 20348 images). Error texts
are containerd's.
"""

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import cattrs

from nettests.lab.data_files import read_yaml
from nettests.lab.topology import OS, PRODUCTS, NodeSpec

REGISTRY = "registry.k8s.io"
AGNHOST = f"{REGISTRY}/e2e-test-images/agnhost"
MIRROR, PRIVATE = "mirror.lab.test", "private.lab.test"
"""Registries with a copy of every image, below any path; the second requires credentials."""
PRIVATE_LOGIN = ("puller", "lab")
"""User name and password of the private registry's only user."""

Logins = Mapping[str, Collection[tuple[str, str]]]
"""User names and passwords by registry, as pull Secrets have them."""

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
    """The image exists, but its Windows build cannot run on this node; the text is HCS's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image on a node: the program and arguments that it runs by default."""

    reference: str
    kind: Kind
    entrypoint: tuple[str, ...]
    command: tuple[str, ...] = ()
    bare: bool = False
    """Whether this is a Windows base image, without the programs of agnhost's image."""

    @property
    def holds_agnhost(self) -> bool:
        """Whether the image has agnhost and its other programs."""
        return self.kind is Kind.AGNHOST and not self.bare

    @property
    def image_id(self) -> str:
        """The image's digest, derived from its name."""
        return "sha256:" + hashlib.sha256(self.reference.encode()).hexdigest()


_DATA = read_yaml(__package__, "images.yaml")
_RELEASES: Mapping[int, Mapping[str, list[Any]]] = _DATA["releases"]
_BASE_TAGS = {tag: build for build, row in _RELEASES.items() for tag in row["tags"]}
_BASES = ("mcr.microsoft.com/windows/nanoserver", "mcr.microsoft.com/windows/servercore")


@dataclass(frozen=True, slots=True)
class _Entry:
    """One repository of ``images.yaml``."""

    kind: Kind
    program: str = ""
    # v1.24.17, v1.24.17-flannel-hostprocess, v0.25.6
    tag: str = r"v\d+\.\d+\.\d+(-[a-z0-9-]+)?"
    command: tuple[str, ...] = ()
    linux: bool = True
    windows: str = ""

    def builds(self, tag: str) -> Collection[int]:
        """Return the builds of Windows for which an image of that tag exists."""
        if self.windows == "all":  # for HostProcess containers, whose base image has no build
            return PRODUCTS
        version = [int(part) for part in re.findall(r"\d+", tag)]
        return {b for b, row in _RELEASES.items() if self.windows and version >= row[self.windows]}


_CATALOGUE = {name: cattrs.structure(row, _Entry) for name, row in _DATA["repositories"].items()}


def find(
    reference: str,
    node: NodeSpec,
    *,
    host_process: bool = False,
    logins: Logins = MappingProxyType({}),
) -> Image:
    """Return the image as ``node`` would pull it with these ``logins``.

    Raises ``ImagePullError`` if no registry of the lab has it for this platform and user, and
    ``ImageBuildError`` for a Windows base image of another build (HostProcess containers need no match).
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
        raise unreachable(reference)
    if entry is None:
        raise _failed(reference, f'failed to resolve image: "{repository}:{tag}": not found')
    if not re.fullmatch(entry.tag, tag):
        raise _failed(reference, f"failed to resolve image: {reference}: not found")
    builds = {node.build, _PORTABLE.get(node.build or 0)}
    if not (entry.linux if node.os is OS.LINUX else builds & {*entry.builds(tag)}):
        raise _failed(reference, "no match for platform in manifest: not found")
    entrypoint = (entry.program,) if entry.program else ()
    return Image(reference=reference, kind=entry.kind, entrypoint=entrypoint, command=entry.command)


def split(reference: str) -> tuple[str, str]:
    """Split a reference into repository (with its registry) and tag, with Docker's defaults."""
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
    """Return the original of a mirror's repository, whose name may follow any path."""
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
    """Raise unless one of the logins is valid: containerd tries each."""
    if PRIVATE_LOGIN in logins:
        return
    if not logins:
        raise _failed(
            reference,
            "failed to resolve image: pull access denied, repository does not exist or may require "
            "authorization: authorization failed: no basic auth credentials",
        )
    path = split(reference)[0].partition("/")[2]
    url = f"https://{PRIVATE}/v2/{path}/manifests/{tag}"
    why = f"unexpected status from HEAD request to {url}: 401 Unauthorized"
    raise _failed(reference, f"failed to resolve image: {why}")


def _base(reference: str, tag: str, node: NodeSpec, *, host_process: bool) -> Image:
    build = _BASE_TAGS.get(tag)
    if build is None or node.os is not OS.WINDOWS:
        raise _failed(reference, "no match for platform in manifest: not found")
    matches = build == node.build or (build, node.build) in {(20348, 25398), (20348, 26100)}
    if not host_process and not matches:
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


def _failed(reference: str, why: str) -> ImagePullError:
    return ImagePullError(f'failed to pull and unpack image "{reference}": {why}')


def unreachable(reference: str) -> ImagePullError:
    """Return the error of a pull whose registry's name does not resolve."""
    repository, tag = split(reference)
    registry, _, path = repository.partition("/")
    host = "registry-1.docker.io" if registry == "docker.io" else registry
    why = f"dial tcp: lookup {registry} on 172.30.0.1:53: no such host"
    url = f"https://{host}/v2/{path}/manifests/{tag}"
    return _failed(reference, f'failed to resolve image: failed to do request: Head "{url}": {why}')
