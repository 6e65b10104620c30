"""What a user says of a cluster: options go before the cluster profile, and some of both exclude each other."""

from contextlib import closing
from pathlib import Path

import pytest

from nettests.cluster import connect
from nettests.errors import ClusterError, ManifestError
from nettests.model.cluster_profile import ClusterProfile, Images
from nettests.model.permission import PULL_SECRET
from nettests.probes.objects import Blank, pull_secret
from nettests.redaction import without_held
from nettests.session.prepare import copied_secret, profile_of
from nettests.session.run_options import RunOptions
from tests.cluster.api import Reply, serving, write_kubeconfig

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


@pytest.mark.parametrize(
    ("named", "namespace", "images"),
    [
        ("regcred", None, Images(pull_secret="default/regcred")),
        ("ci/regcred", None, Images(pull_secret="ci/regcred")),
        ("regcred", "theirs", Images(pull_secrets=("regcred",))),
        ("theirs/regcred", "theirs", Images(pull_secrets=("regcred",))),
    ],
)
def test_a_pull_secret_is_copied_or_named(
    named: str, namespace: str | None, images: Images
) -> None:
    """A run copies it into its own namespace; in one of others Pods name the one that is there."""
    assert profile_of(RunOptions(pull_secret=named, namespace=namespace)).images == images


def test_no_secret_is_copied_into_a_namespace_of_others() -> None:
    """The message says how to name one there."""
    with pytest.raises(ManifestError, match="ci/regcred is not in the namespace theirs") as caught:
        profile_of(RunOptions(pull_secret="ci/regcred", namespace="theirs"))
    assert "--pull-secret regcred" in caught.value.hint


def copied(folder: Path, secret: str, data: dict[str, str]) -> ClusterProfile:
    """Read a Secret with this content from an API server that has no other."""
    path = "/api/v1/namespaces/{}/secrets/{}".format(*secret.split("/"))
    bodies = {path: {"data": data}, "/version": {"gitVersion": "v1.33.5"}}
    asked = profile_of(RunOptions(pull_secret=secret))
    with serving(lambda request: Reply(body=bodies[request.path])) as api:
        kubeconfig = write_kubeconfig(folder / "kubeconfig", api.url)
        with closing(connect(kubeconfig, None, asked.timing)) as connection:
            return copied_secret(connection, asked)


@pytest.mark.parametrize("key", [".dockerconfigjson", ".dockercfg"])
def test_a_copied_secret_holds_the_keys_of_pull_secrets_alone(tmp_path: Path, key: str) -> None:
    """Its content is a secret that no output shows, and its copy has the type of its key."""
    profile = copied(tmp_path, "ci/regcred", {key: "aHVudGVyMg==", "note": "bm90ZQ=="})
    assert "aHVudGVyMg==" not in repr(profile)
    assert without_held("over aHVudGVyMg==") == "over [redacted]"
    blank = Blank(namespace="nettests-r", labels={"a": "b"}, images=profile.images)
    copy = pull_secret(blank)
    assert copy["type"] == f"kubernetes.io/{key.removeprefix('.')}"
    assert copy["data"] == {key: "aHVudGVyMg=="}
    assert copy["metadata"] == {
        "name": PULL_SECRET,
        "namespace": "nettests-r",
        "labels": {"a": "b"},
    }


def test_a_secret_of_another_kind_is_not_copied(tmp_path: Path) -> None:
    """The error names it and the keys that it lacks, before anything is created."""
    with pytest.raises(ClusterError, match="default/opaque is no pull Secret"):
        copied(tmp_path, "default/opaque", {"password": "eA=="})


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
