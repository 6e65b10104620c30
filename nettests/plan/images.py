"""The image that each node needs, its registry, and the Windows builds in its manifest list. Pure.

Used by discovery (a node without a usable image is left out), ``probes`` and ``nettests images``
(what to mirror). No registry is contacted: the content of agnhost tags is documented.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from nettests.model.check import Action, Check, Plan
from nettests.model.cluster_profile import AGNHOST, CAPTURE, Images
from nettests.model.facts import ClusterFacts, NodeFacts
from nettests.model.versions import WindowsBuild
from nettests.model.words import OS, Question

SINCE = {17763: (2, 0), 20348: (2, 33), 26100: (2, 62)}
"""The first agnhost release per Windows build (kubernetes/k8s.io #2642, kubernetes/kubernetes
#136727, kubernetes/k8s.io #9057); Semi-Annual Channel builds were removed (#112924)."""
RUNS_IMAGES_OF = {25398: 20348}
"""Builds that run another build's images (Microsoft, Portability for containers)."""

# registry.k8s.io/e2e-test-images/agnhost:2.63.0, mirror:5000/agnhost:2.52
_AGNHOST = re.compile(r"(?:.*/)?agnhost:(\d+)\.(\d+)(?:\.\d+)?(?:@.*)?")


def probe_image(images: Images, os: OS, build: WindowsBuild | None) -> str:
    """Return the probe image for a node: the most specific configured one, else the default."""
    keys = [f"{os.value}-{build.build}"] if build else []
    named = next(
        (images.by_system[key] for key in (*keys, os.value) if key in images.by_system), ""
    )
    return named or images.probe or mirrored(AGNHOST, images.registry)


def mirrored(reference: str, registry: str | None) -> str:
    """Return the image's name with ``registry`` as its registry."""
    if not registry:
        return reference
    first, slash, rest = reference.partition("/")
    hosted = slash and ("." in first or ":" in first or first == "localhost")
    return f"{registry.rstrip('/')}/{rest if hosted else reference}"


def capture_image(images: Images) -> str:
    """Return the image that captures packets on Linux nodes."""
    return images.capture or mirrored(CAPTURE, images.registry)


def tagged_images(images: Images) -> tuple[str, ...]:
    """Return the images of probes and captures that are named by tag, not by digest."""
    by_default = set(OS) - images.by_system.keys()
    probe = images.probe or mirrored(AGNHOST, images.registry)
    used = (*((probe,) if by_default else ()), *images.by_system.values(), capture_image(images))
    return tuple(dict.fromkeys(image for image in used if "@sha256:" not in image))


def why_not_served(image: str, os: OS, build: WindowsBuild | None) -> str:
    """Return why ``image`` cannot run on a node, or nothing; only agnhost images are checked."""
    match = _AGNHOST.fullmatch(image)
    if os is not OS.WINDOWS or build is None or match is None:
        return ""
    since = SINCE.get(RUNS_IMAGES_OF.get(build.build, build.build))
    if since is None:
        served = ", ".join(map(str, SINCE))
        return f"{image} has no build for Windows {build.build}; agnhost has {served}"
    if (int(match[1]), int(match[2])) < since:
        first = ".".join(map(str, since))
        return f"{image} has no build for Windows {build.build}; agnhost has one since {first}"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededImage:
    """An image that a run pulls, its upstream image, and the nodes that pull it."""

    image: str
    origin: str
    platforms: tuple[str, ...]
    nodes: tuple[str, ...]
    purpose: str
    """``probes``, or the names of the flows whose Pods run it."""


def needed_images(plan: Plan, facts: ClusterFacts, images: Images) -> tuple[NeededImage, ...]:
    """Return every image that a run of ``plan`` pulls, probes first."""
    users: dict[tuple[str, str], dict[str, None]] = {}
    nodes: dict[tuple[str, str], set[str]] = {}
    for use in _uses(plan, facts, images):
        users.setdefault((use.image, use.origin), {})[use.purpose] = None
        nodes.setdefault((use.image, use.origin), set()).add(use.node.name)
    return tuple(
        NeededImage(
            image=image,
            origin=origin,
            platforms=tuple(sorted({_platform(facts.node(name)) for name in nodes[image, origin]})),
            nodes=tuple(sorted(nodes[image, origin])),
            purpose=", ".join(purposes),
        )
        for (image, origin), purposes in users.items()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Use:
    image: str
    origin: str
    node: NodeFacts
    purpose: str


def _uses(plan: Plan, facts: ClusterFacts, images: Images) -> Iterator[_Use]:
    """Yield which nodes pull which image: for probes, captures, and Pods of cases."""
    for node in (facts.node(pod.node) for pod in plan.pods):
        yield _probe_use(images, node, "probes")
    for check in plan.each:
        yield from _capturing(check, facts, images)
        for action in started(*check.actions):
            node = facts.node(action.source.node or "")
            spec = json.loads(action.case.object)["spec"] if action.case else {}
            containers = (*spec.get("initContainers", ()), *spec.get("containers", ()))
            for image in dict.fromkeys(container.get("image") for container in containers):
                if image is None:
                    yield _probe_use(images, node, check.flow)
                else:
                    copy = mirrored(image, images.registry)
                    yield _Use(image=copy, origin=image, node=node, purpose=check.flow)


def _capturing(check: Check, facts: ClusterFacts, images: Images) -> Iterator[_Use]:
    """Yield the nodes that capture for a check; Windows nodes use the probes' image."""
    for node in map(facts.node, check.action.captured_on):
        if node.os is OS.WINDOWS:
            yield _probe_use(images, node, check.flow)
            continue
        image = capture_image(images)
        origin = image if images.capture else CAPTURE
        yield _Use(image=image, origin=origin, node=node, purpose=check.flow)


def started(*actions: Action) -> Iterator[Action]:
    """Yield the actions that create their own Pod."""
    return (
        action
        for action in actions
        if action.question is Question.START and action.case is not None
    )


def _probe_use(images: Images, node: NodeFacts, purpose: str) -> _Use:
    image = probe_image(images, node.os, node.build.value)
    copied = image == mirrored(AGNHOST, images.registry)
    return _Use(image=image, origin=AGNHOST if copied else image, node=node, purpose=purpose)


def _platform(node: NodeFacts) -> str:
    """Return a platform as a manifest list names it: ``linux/amd64``, ``windows/amd64 10.0.20348``."""
    build = node.build.value
    image_build = RUNS_IMAGES_OF.get(build.build, build.build) if build else None
    release = f" 10.0.{image_build}" if node.os is OS.WINDOWS and image_build else ""
    return f"{node.os.value}/{node.architecture or 'amd64'}{release}"
