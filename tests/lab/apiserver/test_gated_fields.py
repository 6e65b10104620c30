"""Fields of pods by version: what a release does not take with default gates is neither stored nor refused."""

import copy
from typing import Any

import pytest

from nettests.lab.apiserver import pod_admission, windows

Json = dict[str, Any]

POD: Json = {
    "os": {"name": "windows"},
    "hostUsers": False,
    "resources": {"limits": {"memory": "64Mi"}},
    "securityContext": {
        "fsGroup": 1,
        "appArmorProfile": {"type": "RuntimeDefault"},
        "supplementalGroupsPolicy": "Merge",
        "seLinuxChangePolicy": "Recursive",
        "windowsOptions": {"hostProcess": True},
    },
    "containers": [
        {"name": "c", "securityContext": {"procMount": "Default", "privileged": True}},
    ],
}
FIRST = {
    "spec.securityContext.appArmorProfile": 30,
    "spec.hostUsers": 33,
    "spec.securityContext.supplementalGroupsPolicy": 33,
    "spec.securityContext.seLinuxChangePolicy": 33,
    "spec.containers[0].securityContext.procMount": 33,
    "spec.resources": 34,
}


def refused(minor: int) -> set[str]:
    """Return the fields that a server of that release refuses for ``os.name: windows``."""
    spec = copy.deepcopy(POD)
    pod_admission.drop_gated(spec, minor)
    return {error.field for error in windows.validate_os(spec)}


@pytest.mark.parametrize(("field", "minor"), FIRST.items())
def test_a_field_is_refused_from_its_release_on(field: str, minor: int) -> None:
    """A later field is refused by the release whose gate is on, and not by the one before."""
    assert field in refused(minor)
    assert field not in refused(minor - 1)


def test_the_first_list_is_refused_from_1_24_on() -> None:
    """Fields that are as old as ``spec.os`` are refused by every release that validates it."""
    old = {"spec.securityContext.fsGroup", "spec.containers[0].securityContext.privileged"}
    assert refused(24) == old
    assert refused(23) == set()


def test_before_1_22_there_is_no_host_process() -> None:
    """The field goes, and with it the rules about it."""
    spec = copy.deepcopy(POD)
    pod_admission.drop_gated(spec, 21)
    assert windows.validate_host_process(spec) == []
    assert windows.validate_host_process(POD) != []
