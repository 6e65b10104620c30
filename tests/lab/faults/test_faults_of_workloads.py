"""Faults of what has Pods, and of who listens to them: a controller that does nothing, an attach that stays silent."""

from collections.abc import Iterator

import pytest
from kubernetes.client import BatchV1Api
from kubernetes.stream import stream

from tests.lab.running import AGNHOST, EVERYTHING, Lab, close, until

TALKS = ["mounttest", "--file_content_in_loop=/nothing", "--retry_time=60"]


@pytest.fixture(autouse=True)
def mended(lab: Lab) -> Iterator[None]:
    """Clear all faults after each test."""
    yield
    assert lab.command("fault", "clear").returncode == 0


def test_a_controller_that_is_stopped_makes_nothing_until_it_goes_on(lab: Lab) -> None:
    """A Job has no Pod as long as it is; other controllers, and names that are none, are told apart."""
    refused = lab.command("fault", "inject", "controller-stopped", "--controller=jobs")
    assert 'no controller "jobs"' in refused.stderr
    assert lab.command("fault", "inject", "controller-stopped", "--controller=job").returncode == 0
    batch = BatchV1Api(lab.core.api_client)
    container = {"name": "c", "image": AGNHOST, "args": ["help"]}
    spec = {"restartPolicy": "Never", "tolerations": EVERYTHING, "containers": [container]}
    batch.create_namespaced_job(
        "default", {"metadata": {"name": "waits"}, "spec": {"template": {"spec": spec}}}
    )

    def done() -> bool:
        return bool(batch.read_namespaced_job("waits", "default").status.succeeded)

    try:
        with pytest.raises(AssertionError, match=r"waited 1\.5 s"):
            until(done, seconds=1.5)
        assert lab.command("fault", "clear").returncode == 0
        until(done, what="the Job to be complete")
    finally:
        batch.delete_namespaced_job("waits", "default", propagation_policy="Background")


def test_who_attaches_hears_nothing_while_it_is_silenced(lab: Lab) -> None:
    """On that node alone; the container goes on talking."""
    lab.run("talks", "win-1", os={"name": "windows"}, args=TALKS)
    try:
        assert lab.command("fault", "inject", "attach-silent", "--node=win-1").returncode == 0
        assert heard(lab, "talks") == ""
        assert lab.command("fault", "clear").returncode == 0
        assert "reading file /nothing" in heard(lab, "talks")
    finally:
        lab.remove("talks")


def heard(lab: Lab, name: str) -> str:
    """Attach to a Pod, and return what comes within five seconds."""
    with lab.streaming() as core:
        opened = stream(
            core.connect_get_namespaced_pod_attach,
            name,
            "default",
            stdout=True,
            stderr=False,
            stdin=False,
            tty=False,
            _preload_content=False,
        )
        said: str = opened.readline_stdout(timeout=5) or ""
        close(opened)
        return said
