"""Pulling images onto nodes: how long it takes, when it fails, and who may pull."""

import base64
import json
from collections.abc import Iterator

import pytest

from tests.lab.running import AGNHOST, Lab, until

PRIVATE = "private.lab.test/any/path/e2e-test-images/agnhost:2.63.0"
MIRRORED = "mirror.lab.test/e2e-test-images/agnhost:2.63.0"
WINDOWS = {"name": "windows"}


@pytest.fixture(autouse=True)
def mended(lab: Lab) -> Iterator[None]:
    """Clear all faults and remove all pods after each test."""
    yield
    assert lab.command("fault", "clear").returncode == 0
    lab.remove("pulling")


def made(lab: Lab, image: str, **spec: object) -> None:
    """Create a pod of an image on the first Windows node."""
    body = {
        "metadata": {"name": "pulling"},
        "spec": {
            "nodeName": "win-1",
            "os": WINDOWS,
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "c", "image": image}],
            **spec,
        },
    }
    lab.create(body)


def told(lab: Lab, reason: str) -> list[str]:
    """Messages of the pod's events of one reason."""
    pod = lab.core.read_namespaced_pod("pulling", "default")
    selector = f"involvedObject.uid={pod.metadata.uid}"
    events = lab.core.list_namespaced_event("default", field_selector=selector).items
    return [event.message for event in events if event.reason == reason]


def test_a_slow_pull_is_made_once(lab: Lab) -> None:
    """The first container of an image waits for its pull; the next one finds it there."""
    assert (
        lab.command("fault", "inject", "slow-pull", "--seconds=2", "--node=win-1").returncode == 0
    )
    made(lab, AGNHOST)
    until(lambda: told(lab, "Pulling"), what="the pull to begin")
    status = lab.core.read_namespaced_pod("pulling", "default").status
    assert status.container_statuses[0].state.waiting.reason == "ContainerCreating"
    lab.ready("pulling")
    (text,) = until(lambda: told(lab, "Pulled"), what="the pull to end")
    assert text.startswith(f'Successfully pulled image "{AGNHOST}" in 2s')
    lab.remove("pulling")
    made(lab, AGNHOST)
    lab.ready("pulling")
    (text,) = until(lambda: told(lab, "Pulled"), what="the image to be found")
    assert text.endswith("already present on machine")


def test_without_a_registry_nothing_new_is_pulled(lab: Lab) -> None:
    """``registry-down`` is ErrImagePull with the resolver's words; when it is mended the pod starts."""
    assert lab.command("fault", "inject", "registry-down").returncode == 0
    made(lab, MIRRORED)
    failed = until(lambda: told(lab, "Failed"), what="the pull to fail")
    assert any("lookup mirror.lab.test" in text and "no such host" in text for text in failed)
    assert lab.command("fault", "clear").returncode == 0
    lab.ready("pulling")


def test_a_mirror_has_what_it_is_a_mirror_of(lab: Lab) -> None:
    """An image under another registry's name runs like the original; what it lacks is not found."""
    made(lab, MIRRORED)
    lab.ready("pulling")
    lab.remove("pulling")
    made(lab, "mirror.lab.test/nothing:1")
    failed = until(lambda: told(lab, "Failed"), what="the pull to fail")
    assert any(text.endswith("not found") for text in failed)


@pytest.mark.parametrize(
    ("password", "words"),
    [(None, "no basic auth credentials"), ("wrong", "401 Unauthorized"), ("lab", "")],
)
def test_a_private_registry_wants_credentials(lab: Lab, password: str | None, words: str) -> None:
    """It serves whoever names the right pull Secret, and says what is missing or wrong."""
    config = {"auths": {"private.lab.test": {"username": "puller", "password": password}}}
    body = {
        "metadata": {"name": "registry"},
        "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": base64.b64encode(json.dumps(config).encode()).decode()},
    }
    assert lab.command("fault", "inject", "slow-pull", "--seconds=0.1").returncode == 0
    if password:
        lab.core.create_namespaced_secret("default", body)
    made(lab, PRIVATE, imagePullSecrets=[{"name": "registry"}])
    try:
        if not words:
            lab.ready("pulling")
            return
        failed = until(lambda: told(lab, "Failed"), what="the pull to fail")
        assert any(words in text for text in failed)
        assert bool(told(lab, "FailedToRetrieveImagePullSecret")) is (password is None)
    finally:
        if password:
            lab.core.delete_namespaced_secret("registry", "default")
