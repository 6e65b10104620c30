"""Pod Security admission: what a namespace's label refuses, in which words, and what it lets pass."""

from typing import Any

import pytest

from nettests.lab.apiserver.pod_admission import pod_security_refusal
from nettests.lab.client import ApiError, Client
from tests.lab.apiserver.objects import pod

ENFORCE = "pod-security.kubernetes.io/enforce"
FITTING = {
    "runAsNonRoot": True,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


def spec(context: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Return a pod of one container with this security context."""
    container = {"name": "c", "securityContext": context or {}}
    return {"spec": {"containers": [container], **fields}}


def host_process() -> dict[str, Any]:
    """Return a HostProcess pod."""
    options = {"windowsOptions": {"hostProcess": True}}
    return spec(hostNetwork=True, os={"name": "windows"}, securityContext=options)


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (spec(hostNetwork=True), "host namespaces (hostNetwork=true)"),
        (
            host_process(),
            (
                "host namespaces (hostNetwork=true), hostProcess (pod must not set "
                "securityContext.windowsOptions.hostProcess=true)"
            ),
        ),
        (
            spec({"privileged": True}),
            'privileged (container "c" must not set securityContext.privileged=true)',
        ),
        (
            spec({"capabilities": {"add": ["NET_RAW"]}}),
            (
                'non-default capabilities (container "c" must not include "NET_RAW" in '
                "securityContext.capabilities.add)"
            ),
        ),
        (
            {"spec": {"containers": [{"name": "c", "ports": [{"hostPort": 80}]}]}},
            'hostPort (container "c" uses hostPort 80)',
        ),
    ],
)
def test_baseline_refuses(item: dict[str, Any], said: str) -> None:
    """Each violation in the words of the policy's own checks."""
    found = pod_security_refusal(item, {ENFORCE: "baseline"}, 33)
    assert found == f'violates PodSecurity "baseline:latest": {said}'
    assert pod_security_refusal(item, {ENFORCE: "privileged"}, 33) == ""
    assert pod_security_refusal(item, {}, 33) == ""


def test_restricted_says_everything_that_is_missing() -> None:
    """A pod that says nothing breaks four rules, in the policy's order."""
    assert pod_security_refusal(spec(), {ENFORCE: "restricted"}, 33) == (
        'violates PodSecurity "restricted:latest": '
        'allowPrivilegeEscalation != false (container "c" must set '
        "securityContext.allowPrivilegeEscalation=false), "
        'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), '
        'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), '
        'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to '
        '"RuntimeDefault" or "Localhost")'
    )


def test_what_fits_is_let_through() -> None:
    """A pod that states all that is demanded passes; of Windows pods Linux' fields are not demanded."""
    assert pod_security_refusal(spec(FITTING), {ENFORCE: "restricted"}, 33) == ""
    windows = spec({"runAsNonRoot": True}, os={"name": "windows"})
    assert pod_security_refusal(windows, {ENFORCE: "restricted"}, 25) == ""
    assert "seccompProfile" in pod_security_refusal(windows, {ENFORCE: "restricted"}, 24)
    switched = pod_security_refusal(windows, {ENFORCE: "restricted"}, 25, windows_exempt=False)
    assert "seccompProfile" in switched


def test_before_123_no_label_counts() -> None:
    """The plugin is on by default from 1.23 on."""
    assert pod_security_refusal(spec(hostNetwork=True), {ENFORCE: "baseline"}, 22) == ""


async def test_a_labelled_namespace_refuses_a_pod(client: Client) -> None:
    """A hostNetwork pod is forbidden by name, an ordinary one is stored, and so is either elsewhere."""
    namespace = {"metadata": {"name": "safe", "labels": {ENFORCE: "baseline"}}}
    await client.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", **namespace})  # fmt: skip
    host = pod("p")
    host["spec"]["hostNetwork"] = True
    with pytest.raises(ApiError) as error:
        await client.create("/api/v1/namespaces/safe/pods", host)
    assert error.value.status == 403
    assert 'pods "p" is forbidden: violates PodSecurity "baseline:latest"' in str(error.value)
    await client.create("/api/v1/namespaces/safe/pods", pod("q"))
    await client.create("/api/v1/namespaces/default/pods", host)
