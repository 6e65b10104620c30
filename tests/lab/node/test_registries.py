"""Which registries have an image, whom they let pull, and how one node pulls."""

import asyncio

import pytest

from nettests.lab.interfaces import Disk
from nettests.lab.node.context import Puller
from nettests.lab.node.images import (
    AGNHOST,
    PRIVATE,
    PRIVATE_LOGIN,
    ImagePullError,
    Kind,
    find,
)
from tests.lab.node.nowhere import PROFILE
from tests.lab.node.virtual_time import now, run

LINUX, WINDOWS = PROFILE.node("linux-1"), PROFILE.node("win-1")
KNOWN = f"{AGNHOST}:2.63.0"


@pytest.mark.parametrize(
    ("reference", "kind"),
    [
        ("mirror.lab.test/e2e-test-images/agnhost:2.63.0", Kind.AGNHOST),
        ("mirror.lab.test/any/path/e2e-test-images/agnhost:2.63.0", Kind.AGNHOST),
        ("mirror.lab.test/deep/pause:3.9", Kind.PAUSE),
        ("mirror.lab.test/coredns/coredns:v1.11.1", Kind.COREDNS),
    ],
)
def test_a_mirror_has_a_copy_below_any_path(reference: str, kind: Kind) -> None:
    """The end of the path says of what; the image keeps the name that it was pulled by."""
    found = find(reference, LINUX)
    assert (found.reference, found.kind) == (reference, kind)


@pytest.mark.parametrize(
    "reference", ["mirror.lab.test/agnhost:2.63.0", "mirror.lab.test/my-pause:3.9"]
)
def test_a_mirror_lacks_what_it_is_no_copy_of(reference: str) -> None:
    """Another path, or another name that only ends alike: not found, by a registry that answers."""
    with pytest.raises(ImagePullError, match=r"failed to resolve image.*: not found"):
        find(reference, LINUX)


def test_a_mirror_s_windows_image_has_the_builds_of_the_original() -> None:
    """A copy is a copy."""
    with pytest.raises(ImagePullError, match="no match for platform in manifest"):
        find("mirror.lab.test/coredns/coredns:v1.11.1", WINDOWS)


@pytest.mark.parametrize(
    ("logins", "words"),
    [
        ((), "no basic auth credentials"),
        ((("puller", "wrong"),), "401 Unauthorized"),
        ((("other", "lab"),), "401 Unauthorized"),
    ],
)
def test_the_private_registry_refuses_strangers(
    logins: tuple[tuple[str, str], ...], words: str
) -> None:
    """Without credentials, or with wrong ones, in containerd's words."""
    with pytest.raises(ImagePullError, match=words):
        find(f"{PRIVATE}/pause:3.9", LINUX, logins={PRIVATE: logins} if logins else {})


def test_one_right_login_among_several_is_enough() -> None:
    """containerd tries each; those of other registries do not count."""
    logins = {PRIVATE: (("puller", "wrong"), PRIVATE_LOGIN)}
    assert find(f"{PRIVATE}/pause:3.9", LINUX, logins=logins).kind is Kind.PAUSE
    with pytest.raises(ImagePullError, match="no basic auth"):
        find(f"{PRIVATE}/pause:3.9", LINUX, logins={"mirror.lab.test": (PRIVATE_LOGIN,)})


def test_one_image_is_pulled_at_a_time_on_a_node() -> None:
    """``serializeImagePulls``: the second waits for the first, and takes its own time then."""
    disk = Disk(pull_seconds=4)
    puller = Puller(LINUX, disk)
    ended: list[tuple[str, float]] = []

    async def pull(reference: str) -> None:
        _, seconds = await puller.pull(reference, {}, asyncio.sleep, host_process=False)
        assert seconds == 4
        ended.append((reference, now()))

    async def work() -> None:
        await asyncio.gather(pull(KNOWN), pull("registry.k8s.io/pause:3.9"))

    run(work())
    assert ended == [(KNOWN, 4), ("registry.k8s.io/pause:3.9", 8)]


def test_who_waits_for_the_same_pull_finds_it_done() -> None:
    """Two containers of one image: one pull."""
    puller = Puller(LINUX, Disk(pull_seconds=4))

    async def work() -> tuple[list[float | None], float]:
        pulls = (puller.pull(KNOWN, {}, asyncio.sleep, host_process=False) for _ in range(2))
        return [seconds for _, seconds in await asyncio.gather(*pulls)], now()

    assert run(work()) == ([4, 0], 4)


def test_a_pull_that_is_given_up_leaves_nothing_behind() -> None:
    """The pod went meanwhile: the image is not on the node, and the next pull may begin."""

    class GoneError(Exception):
        """The pod is to stop."""

    async def leave(_seconds: float) -> None:
        raise GoneError

    disk = Disk(pull_seconds=4)
    puller = Puller(LINUX, disk)

    async def work() -> None:
        with pytest.raises(GoneError):
            await puller.pull(KNOWN, {}, leave, host_process=False)
        assert disk.images == set()
        await puller.pull(KNOWN, {}, asyncio.sleep, host_process=False)
        assert disk.images == {KNOWN}

    run(work())


def test_what_is_on_the_node_needs_no_registry_and_no_login() -> None:
    """A pulled image is there for every pod (KEP-2535 is not emulated), registry or not."""
    private = f"{PRIVATE}/pause:3.9"
    disk = Disk(images={KNOWN, private}, registry_down=True)
    puller = Puller(LINUX, disk)

    async def pull(reference: str) -> float | None:
        _, seconds = await puller.pull(reference, {}, asyncio.sleep, host_process=False)
        return seconds

    assert run(pull(KNOWN)) is None
    assert run(pull(private)) is None
    with pytest.raises(ImagePullError, match="no such host"):
        run(pull("registry.k8s.io/pause:3.9"))
