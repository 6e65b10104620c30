"""What a user says of a cluster: options go before the cluster profile, and some of both exclude each other."""

from pathlib import Path

import pytest

from nettests.errors import ManifestError
from nettests.model.cluster_profile import ClusterProfile, Images
from nettests.redaction import without_held
from nettests.session.prepare import profile_of
from nettests.session.run_options import RunOptions

HEAD = "apiVersion: nettests.dev/v1alpha1\nkind: ClusterProfile\n"
IMAGES = "images:\n  bySystem: {windows: own:2}\n  registry: mirror.test\n"


def written(folder: Path, text: str) -> Path:
    """Write a cluster profile."""
    file = folder / "profile.yaml"
    file.write_text(HEAD + text)
    return file


def test_without_options_the_profile_is_what_is_written(tmp_path: Path) -> None:
    """Nothing is added to it; without a file nothing is stated."""
    profile = profile_of(RunOptions(cluster_profile=written(tmp_path, IMAGES)))
    assert profile.images == Images(by_system={"windows": "own:2"}, registry="mirror.test")
    assert profile_of(RunOptions()) == ClusterProfile()


def test_an_image_of_the_command_line_is_that_of_every_node(tmp_path: Path) -> None:
    """Also where the profile names one for Windows alone; the mirror stays."""
    options = RunOptions(cluster_profile=written(tmp_path, IMAGES), image="other:3")
    assert profile_of(options).images == Images(probe="other:3", registry="mirror.test")


def test_a_mirror_and_pulling_of_the_command_line_go_first(tmp_path: Path) -> None:
    """Each replaces what the profile says of it, and nothing else."""
    file = written(tmp_path, IMAGES)
    profile = profile_of(RunOptions(cluster_profile=file, registry="near.test", pre_pull=True))
    assert profile.images == Images(
        by_system={"windows": "own:2"}, registry="near.test", pre_pull=True
    )


@pytest.mark.parametrize(
    ("images", "namespace", "said"),
    [
        ("pullSecretFile: secret.json", "theirs", "images.pullSecretFile cannot be used with --namespace theirs"),
        ("pullSecrets: [theirs]", None, "Secrets of a namespace that does not exist yet"),
    ],
)  # fmt: skip
def test_a_secret_is_in_the_namespace_that_pulls(
    tmp_path: Path, images: str, namespace: str | None, said: str
) -> None:
    """A run makes one in its own namespace only, and names one only in a namespace of others."""
    file = written(tmp_path, f"images: {{{images}}}\n")
    with pytest.raises(ManifestError, match=said) as caught:
        profile_of(RunOptions(cluster_profile=file, namespace=namespace))
    assert caught.value.hint
    other = None if namespace else "theirs"
    assert profile_of(RunOptions(cluster_profile=file, namespace=other)).images != Images()


DIGEST = f"x@sha256:{'0' * 64}"


@pytest.mark.parametrize(
    ("named", "tagged"),
    [
        ("", r"named by tag: registry.k8s.io/e2e-test-images/agnhost:[\d.]+, docker.io/nicolaka/netshoot"),
        (f", capture: '{DIGEST}'", "named by tag: registry.k8s.io/e2e-test-images/agnhost:[0-9.]+\n"),
        (f", capture: '{DIGEST}', bySystem: {{linux: '{DIGEST}'}}", "agnhost"),
        (f", capture: '{DIGEST}', bySystem: {{linux: '{DIGEST}', windows: 'x:2'}}", "named by tag: x:2\n"),
        (f", capture: '{DIGEST}', bySystem: {{linux: '{DIGEST}', windows: '{DIGEST}'}}", None),
    ],
)  # fmt: skip
def test_images_can_be_required_by_digest(tmp_path: Path, named: str, tagged: str | None) -> None:
    """A run with an image by tag does not start, and names it; the command line's image counts too."""
    file = written(tmp_path, f"images: {{requireDigest: true{named}}}\n")
    if tagged is None:
        assert profile_of(RunOptions(cluster_profile=file)).images.require_digest
        with pytest.raises(ManifestError, match="named by tag: mine:1"):
            profile_of(RunOptions(cluster_profile=file, image="mine:1"))
        return
    with pytest.raises(ManifestError, match=tagged):
        profile_of(RunOptions(cluster_profile=file))


def test_the_password_of_a_proxy_is_a_secret(tmp_path: Path) -> None:
    """It is registered when the cluster profile is read."""
    proxy = "externalVantage: proxy\nexternalProxy: http://user:hunter2@proxy.test:3128\n"
    profile_of(RunOptions(cluster_profile=written(tmp_path, proxy)))
    assert without_held("over hunter2") == "over [redacted]"
