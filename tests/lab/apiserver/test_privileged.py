"""An API server without ``--allow-privileged``: which Pods it refuses, and in which words."""

from typing import Any

import pytest

from nettests.lab.client import ApiError
from tests.lab.apiserver.conftest import Running
from tests.lab.apiserver.objects import DEPLOYMENTS, PODS, deployment, pod

Json = dict[str, Any]
PRIVILEGED = "securityContext.privileged: Forbidden: disallowed by cluster policy"
HOST = {"windowsOptions": {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\SYSTEM"}}


def privileged(kind: str = "containers") -> Json:
    """Return a Pod with one privileged container of a kind."""
    made: Json = pod("p")
    own = made["spec"]["containers"][0]
    other = {**own, "name": "other", "securityContext": {"privileged": True}}
    made["spec"][kind] = [other]
    return made


def host_process() -> Json:
    """Return a HostProcess Pod."""
    made: Json = pod("p")
    made["spec"] |= {"hostNetwork": True, "os": {"name": "windows"}, "securityContext": HOST}
    return made


async def refused(running: Running, path: str, item: Json) -> str:
    """Return why an object is refused, or nothing."""
    async with running.client() as client:
        try:
            await client.create(path, item)
        except ApiError as error:
            return (
                error.message.partition(" is invalid: ")[2] if error.status == 422 else str(error)
            )
        return ""


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (privileged(), f"spec.containers[0].{PRIVILEGED}"),
        (privileged("initContainers"), f"spec.initContainers[0].{PRIVILEGED}"),
        (
            host_process(),
            "spec: Forbidden: hostProcess containers are disallowed by cluster policy",
        ),
        (pod("p"), ""),
    ],
)
async def test_what_is_privileged_is_refused(running: Running, item: Json, why: str) -> None:
    """As ``ValidateSecurityContext`` and ``validateWindowsHostProcessPod`` do, and nothing else is."""
    running.settings.faults.allow_privileged = False
    assert await refused(running, PODS, item) == why


async def test_with_the_flag_they_are_taken(running: Running) -> None:
    """What a lab is unless a fault says otherwise."""
    assert await refused(running, PODS, privileged()) == ""


async def test_templates_are_refused_too(running: Running) -> None:
    """A Deployment's template is validated as a Pod is, at its own path."""
    running.settings.faults.allow_privileged = False
    item = deployment("d")
    item["spec"]["template"]["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    why = await refused(running, DEPLOYMENTS, item)
    assert why == f"spec.template.spec.containers[0].{PRIVILEGED}"
