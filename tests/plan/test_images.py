"""Which image stands for which node: the most particular name, the mirror, and what no image serves."""

import pytest

from nettests.model.cluster_profile import AGNHOST, Images
from nettests.model.facts import known
from nettests.model.versions import WindowsBuild
from nettests.model.words import OS, CheckClass, Question
from nettests.plan import build, load
from nettests.plan.images import mirrored, needed_images, probe_image, started, why_not_served
from nettests.resources import suites_path
from tests.facts import with_windows
from tests.plan.clusters import mixed

WS2022 = WindowsBuild(20348, 1)
NAMED = {"windows-20348": "build", "windows": "system"}


@pytest.mark.parametrize(
    ("images", "os", "build", "image"),
    [
        (Images(), OS.LINUX, None, AGNHOST),
        (Images(registry="mirror/k8s"), OS.LINUX, None, AGNHOST.replace("registry.k8s.io", "mirror/k8s")),
        (Images(probe="own:1", registry="mirror"), OS.WINDOWS, WS2022, "own:1"),
        (Images(probe="own:1", by_system=NAMED), OS.WINDOWS, WS2022, "build"),
        (Images(probe="own:1", by_system=NAMED), OS.WINDOWS, WindowsBuild(17763, 1), "system"),
        (Images(probe="own:1", by_system=NAMED), OS.WINDOWS, None, "system"),
        (Images(probe="own:1", by_system=NAMED), OS.LINUX, None, "own:1"),
    ],
)  # fmt: skip
def test_the_most_particular_image_counts(
    images: Images, os: OS, build: WindowsBuild | None, image: str
) -> None:
    """A build before its system before the image of all; what is named is not mirrored."""
    assert probe_image(images, os, build) == image


@pytest.mark.parametrize(
    ("reference", "copy"),
    [
        ("registry.k8s.io/pause:3.10", "mirror.test/k8s/pause:3.10"),
        ("localhost/a:1", "mirror.test/k8s/a:1"),
        ("host:5000/a/b:1", "mirror.test/k8s/a/b:1"),
        ("library/busybox:1", "mirror.test/k8s/library/busybox:1"),
        ("busybox:1", "mirror.test/k8s/busybox:1"),
    ],
)
def test_a_mirror_takes_the_place_of_the_registry(reference: str, copy: str) -> None:
    """Only a first part that is a host is replaced; without a mirror nothing is."""
    assert mirrored(reference, "mirror.test/k8s/") == copy
    assert mirrored(reference, None) == reference


@pytest.mark.parametrize(
    ("tag", "build", "said"),
    [
        ("2.63.0", 26100, ""),
        ("2.62", 26100, ""),
        ("2.61.1", 26100, "agnhost has one since 2.62"),
        ("2.33", 20348, ""),
        ("2.32", 20348, "agnhost has one since 2.33"),
        ("2.63.0", 19042, "agnhost has 17763, 20348, 26100"),
    ],
)
def test_a_build_without_an_image(tag: str, build: int, said: str) -> None:
    """The first agnhost of a build serves it, the one before does not, and the reason names both."""
    why = why_not_served(f"mirror:5000/agnhost:{tag}", OS.WINDOWS, WindowsBuild(build, 1))
    assert why.endswith(said)
    assert bool(why) is bool(said)


def test_nothing_is_known_of_other_images_and_systems() -> None:
    """An image of another name, Linux, and an unknown build are not refused."""
    assert why_not_served("own:1", OS.WINDOWS, WindowsBuild(26100, 1)) == ""
    assert why_not_served("agnhost:2.1", OS.LINUX, None) == ""
    assert why_not_served("agnhost:2.1", OS.WINDOWS, None) == ""


FLOWS = load([suites_path()]).flows


def test_every_image_of_a_run_is_listed_with_its_nodes() -> None:
    """Probes first, then what Pods of single checks run; each with the platforms that it has to have."""
    facts = mixed()
    plan = build(facts, FLOWS, frozenset(CheckClass))
    probes, *others = needed_images(plan, facts, Images())
    assert (probes.image, probes.origin) == (AGNHOST, AGNHOST)
    assert probes.purpose.startswith("probes")
    assert probes.platforms == ("linux/amd64", "windows/amd64 10.0.17763")
    assert probes.nodes == tuple(sorted(node.name for node in facts.nodes))
    own = {
        check.flow
        for check in plan.checks
        if check.action.question in {Question.START, Question.WITNESS}
    }
    assert others
    for one in others:
        assert set(one.purpose.split(", ")) <= own, one
        assert one.image == one.origin


def test_copies_at_a_mirror_name_what_they_are_copies_of() -> None:
    """Whoever fills the mirror needs both; an image of one's own is a copy of nothing."""
    facts = mixed()
    plan = build(facts, FLOWS, frozenset(CheckClass))
    listed = needed_images(plan, facts, Images(registry="mirror.test"))
    assert all(one.image == mirrored(one.origin, "mirror.test") for one in listed)
    assert AGNHOST in {one.origin for one in listed}
    own = needed_images(plan, facts, Images(by_system={"windows": "own:1"}))
    windows = next(one for one in own if one.image == "own:1")
    assert windows.origin == "own:1"
    assert windows.platforms == ("windows/amd64 10.0.17763",)


def test_a_part_of_a_run_pulls_what_its_checks_need() -> None:
    """Flows whose Pods start are named only where they are run."""
    facts = mixed()
    flows = [flow for flow in FLOWS if flow.name == "pod-to-pod-ip"]
    (only,) = needed_images(build(facts, flows), facts, Images())
    assert only.purpose == "probes"


def test_only_pods_of_single_checks_are_started() -> None:
    """What probes require of each other starts nothing."""
    plan = build(mixed(), FLOWS, frozenset(CheckClass))
    found = list(started(*(check.action for check in plan.checks)))
    assert found
    assert {action.question for action in found} == {Question.START}
    assert all(action.case for action in found)


def test_the_annual_channel_is_served_by_the_image_of_windows_server_2022() -> None:
    """23H2 has no images of its own (Microsoft, Portability for containers), so a mirror holds those of 20348."""
    annual = WindowsBuild(25398, 1486)
    assert why_not_served(AGNHOST, OS.WINDOWS, annual) == ""
    old = AGNHOST.rpartition(":")[0] + ":2.32"
    assert "agnhost has one since 2.33" in why_not_served(old, OS.WINDOWS, annual)
    facts = with_windows(mixed(), build=known(annual, "test"))
    needed = needed_images(build(facts, load([suites_path()]).flows), facts, Images())
    assert {one for image in needed for one in image.platforms} >= {"windows/amd64 10.0.20348"}
    assert not [one for image in needed for one in image.platforms if "25398" in one]
