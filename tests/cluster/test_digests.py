"""Digests of images as nodes report them: read, compared, and never invented."""

import pytest

from nettests.cluster.digests import digests_of
from nettests.model.versions import WindowsBuild
from nettests.model.words import OS
from nettests.plan.images import mirrored, why_not_served

NAME = "registry.k8s.io/e2e-test-images/agnhost"
TAGGED = f"{NAME}:2.63.0"
FIRST, SECOND = f"{NAME}@sha256:{'a' * 64}", f"{NAME}@sha256:{'b' * 64}"


def node(*names: str) -> dict[str, object]:
    """Return a node that has one image by these names."""
    return {"status": {"images": [{"names": list(names), "sizeBytes": 1}]}}


@pytest.mark.parametrize(
    ("nodes", "found"),
    [
        ([node(FIRST, TAGGED)], (FIRST,)),
        ([node(FIRST, TAGGED), node(FIRST, TAGGED)], (FIRST,)),
        ([node(FIRST, TAGGED), node(SECOND, TAGGED)], (FIRST, SECOND)),
        ([node(TAGGED)], ()),
        ([node(f"other.example/agnhost@sha256:{'c' * 64}", TAGGED)], ()),
        ([{"status": {}}, {}], ()),
        ([], ()),
    ],
)
def test_a_digest_is_what_nodes_know_the_image_by(
    nodes: list[dict[str, object]], found: tuple[str, ...]
) -> None:
    """One entry names both tag and digest of the same repository; what no node has stays unknown."""
    assert digests_of(nodes, [TAGGED]) == {TAGGED: found}


def test_a_reference_by_digest_is_its_own() -> None:
    """It is taken word for word, mirrored like any other, and no build is denied to it."""
    assert digests_of([], [FIRST]) == {FIRST: (FIRST,)}
    assert mirrored(FIRST, "mirror.example.com") == FIRST.replace(
        "registry.k8s.io", "mirror.example.com"
    )
    assert why_not_served(FIRST, OS.WINDOWS, WindowsBuild(26100, 1)) == ""
    tagged = f"{TAGGED}@sha256:{'a' * 64}"
    assert why_not_served(tagged, OS.WINDOWS, WindowsBuild(26100, 1)) == ""
