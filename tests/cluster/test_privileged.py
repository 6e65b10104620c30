"""Whether the API server takes privileged Pods is what it says of one that is never created."""

import json
from pathlib import Path
from typing import Any

import pytest

from nettests.cluster import connect
from nettests.cluster.permissions import privileged_of
from nettests.model.facts import Fact
from nettests.model.permission import CREATE_POD
from tests.cluster.api import Reply, Request, serving, write_kubeconfig

FIELD = "spec.containers[0].securityContext.privileged"
POLICY = "Forbidden: disallowed by cluster policy"
HOST_PROCESS = "Forbidden: hostProcess containers are disallowed by cluster policy"


def probed(
    tmp_path: Path,
    status: int,
    message: str = "",
    causes: tuple[tuple[str, str], ...] = (),
    *,
    namespace: str = "",
    denied: tuple[str, ...] = (),
) -> tuple[Fact[bool], list[Request]]:
    """Return the fact at a server that answers the dry run so, and what was created, or would have been."""
    posted: list[Request] = []

    def answer(request: Request) -> Reply:
        if request.body is None:
            return Reply(body={"gitVersion": "v1.36.2"})
        posted.append(request)
        details = {"causes": [{"field": field, "message": text} for field, text in causes]}
        return Reply(status=status, body={"kind": "Status", "message": message, "details": details})

    with serving(answer) as api:
        connection = connect(write_kubeconfig(tmp_path / "k", api.url), None)
        try:
            return privileged_of(connection, namespace, denied), posted
        finally:
            connection.close()


@pytest.mark.parametrize(("namespace", "place"), [("", "default"), ("staging", "staging")])
def test_what_is_let_in_is_taken(tmp_path: Path, namespace: str, place: str) -> None:
    """One dry run of a Pod that is both privileged and HostProcess, in a namespace that is there."""
    found, posted = probed(tmp_path, 201, namespace=namespace)
    assert found.value is True
    (request,) = posted
    assert request.path == f"/api/v1/namespaces/{place}/pods?dryRun=All"
    body: dict[str, Any] = json.loads(json.dumps(request.body))
    assert body["spec"]["containers"][0]["securityContext"]["privileged"] is True
    assert body["spec"]["securityContext"]["windowsOptions"]["hostProcess"] is True
    assert body["spec"]["hostNetwork"] is True


def test_a_server_without_the_flag_is_told_in_its_own_words(tmp_path: Path) -> None:
    """Each cause that speaks of the cluster's policy, with its field; others are no matter."""
    causes = ((FIELD, POLICY), ("spec.hostUsers", "Invalid value"), ("spec", HOST_PROCESS))
    found, _ = probed(tmp_path, 422, "is invalid", causes)
    assert found.value is False
    assert found.origin == f"{FIELD}: {POLICY}; spec: {HOST_PROCESS}"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (403, 'pods "p" is forbidden: violates PodSecurity "restricted:latest": privileged'),
        (403, 'pods "p" is forbidden: exceeded quota: small, requested: pods=1'),
        (422, "pods \"p\" is forbidden: ValidatingAdmissionPolicy 'x' with binding 'y' denied"),
    ],
)
def test_what_is_refused_after_validation_was_valid(
    tmp_path: Path, status: int, message: str
) -> None:
    """Pod Security, quotas and admission policies are evaluated when a Pod was found valid."""
    assert probed(tmp_path, status, message)[0].value is True


@pytest.mark.parametrize(
    ("status", "message"),
    [(403, 'admission webhook "x" denied the request'), (422, "is invalid"), (500, "etcd")],
)
def test_another_refusal_says_nothing(tmp_path: Path, status: int, message: str) -> None:
    """A webhook may speak before validation, and an invalid Pod may be so for another reason."""
    found, _ = probed(tmp_path, status, message)
    assert found.value is None
    assert json.dumps(message) in found.origin


def test_who_may_not_create_pods_tests_nothing(tmp_path: Path) -> None:
    """A role that only reads sends no creation, not even one that is not stored."""
    found, posted = probed(tmp_path, 201, denied=(str(CREATE_POD),))
    assert (found.value, posted) == (None, [])
    assert "may not create pods" in found.origin
