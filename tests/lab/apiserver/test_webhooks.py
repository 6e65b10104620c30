"""Webhooks of a lab: which Pods they change or refuse, as the API server's own rules see them then."""

from typing import Any

import pytest

from nettests.lab.apiserver.webhooks import matches, mutating, validating
from nettests.lab.client import ApiError
from tests.lab.apiserver.conftest import Running
from tests.lab.apiserver.objects import PODS, pod

Json = dict[str, Any]
WINDOWS = {"spec": {"os": {"name": "windows"}}}


def for_windows(**spec: Any) -> Json:
    """Return a Pod for Windows."""
    made: Json = pod("p")
    made["spec"] |= {"os": {"name": "windows"}, **spec}
    return made


async def create(running: Running, item: Json) -> tuple[int, str, Json]:
    """Return code and words of a refusal, or 201 with the Pod that was stored."""
    async with running.client() as client:
        try:
            return 201, "", await client.create(PODS, item)
        except ApiError as error:
            return error.status, error.message, {}


async def test_a_pod_is_changed_before_it_is_validated(running: Running) -> None:
    """Without the name of a system, a field of Linux is no reason to refuse it any more; others stay as they are."""
    refused = await create(running, for_windows(hostPID=True))
    assert refused[0] == 422
    running.settings.faults.mutating = mutating({"spec": {"os": None}}, WINDOWS)
    code, _, stored = await create(running, for_windows(hostPID=True))
    assert (code, "os" in stored["spec"]) == (201, False)
    other = pod("other")
    other["spec"]["os"] = {"name": "linux"}
    assert (await create(running, other))[2]["spec"]["os"] == {"name": "linux"}


async def test_what_a_webhook_adds_is_validated(running: Running) -> None:
    """A system that it fills in rules out fields, and the refusal is the API server's own."""
    running.settings.faults.mutating = mutating(WINDOWS, {"spec": {"os": None}})
    item: Json = pod("p")
    item["spec"]["hostPID"] = True
    code, why, _ = await create(running, item)
    assert code == 422
    assert "spec.hostPID: Forbidden: cannot be set for a windows pod" in why


async def test_a_refusal_names_the_webhook(running: Running) -> None:
    """It comes after validation, which goes first, and strikes what matches alone."""
    running.settings.faults.validating = validating(WINDOWS)
    code, why, _ = await create(running, for_windows())
    assert code == 403
    assert why.startswith("admission webhook ")
    assert "denied the request" in why
    assert (await create(running, for_windows(hostPID=True)))[0] == 422
    assert (await create(running, pod("p")))[0] == 201


@pytest.mark.parametrize(
    ("part", "is_so"),
    [
        ({}, True),
        ({"spec": {"hostNetwork": True}}, True),
        ({"spec": {"hostNetwork": False}}, False),
        ({"spec": {"os": {"name": "linux"}}}, False),
        ({"spec": {"securityContext": {"windowsOptions": None}}}, True),
        ({"spec": {"os": None}}, False),
        ({"spec": {"os": {"name": {}}}}, True),
        ({"spec": {"containers": [{"name": "c"}]}}, True),
        ({"spec": {"containers": []}}, False),
    ],
)
def test_a_part_matches_where_all_that_it_says_is_so(part: Json, is_so: bool) -> None:
    """Null is what is not set, at any depth; a list is itself and no other."""
    spec = {"hostNetwork": True, "os": {"name": "windows"}, "containers": [{"name": "c"}]}
    assert matches({"spec": spec}, part) is is_so
