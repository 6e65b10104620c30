"""Image digests that nodes report, never from a registry. Pure.

A container runtime names an image by its tag and by the digest that the registry served: for a
manifest list the list's, the same on every platform. The kubelet reports at most fifty images.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from nettests.model.json_text import Object

# sample: registry.k8s.io/e2e-test-images/agnhost@sha256:99c6b4bb4a1e1df3f0b3752168c89358794d02258ebebc26bf21c29399011a85
_BY_DIGEST = re.compile(r"(?P<name>[^@\s]+)@(?P<digest>sha256:[0-9a-f]{64})")


def digests_of(nodes: Iterable[Object], images: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return, by image, its references by digest on the nodes: none, one, or several.

    An image that is named by digest is its own reference.
    """
    references = _references(nodes)
    return {
        image: (image,) if _BY_DIGEST.fullmatch(image) else tuple(sorted(references.get(image, ())))
        for image in images
    }


def _references(nodes: Iterable[Object]) -> Mapping[str, set[str]]:
    references: defaultdict[str, set[str]] = defaultdict(set)
    for node in nodes:
        for entry in node.get("status", {}).get("images") or ():
            names = [name for name in entry.get("names") or () if isinstance(name, str)]
            by_digest = [match for name in names if (match := _BY_DIGEST.fullmatch(name))]
            for name in names:
                repository = name.rpartition(":")[0]
                references[name] |= {
                    reference[0] for reference in by_digest if reference["name"] == repository
                }
    return references
