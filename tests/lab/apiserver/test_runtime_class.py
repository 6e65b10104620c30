"""RuntimeClasses on the lab's API server: what a Pod that names one gets, and when it is refused."""

from typing import Any

import pytest

from nettests.lab.apiserver.pod_admission import runtime_class_refusal as refusal

Json = dict[str, Any]
TOLERATION = {"key": "os", "operator": "Equal", "value": "windows", "effect": "NoSchedule"}
CLASS = {
    "scheduling": {"nodeSelector": {"os": "windows"}, "tolerations": [TOLERATION]},
    "overhead": {"podFixed": {"memory": "1Mi"}},
}


def test_a_pod_gets_scheduling_and_overhead() -> None:
    """Beside what it says itself; a toleration that it has is not repeated."""
    spec: Json = {
        "runtimeClassName": "w",
        "nodeSelector": {"zone": "a"},
        "tolerations": [TOLERATION],
    }
    assert refusal({"spec": spec}, CLASS) == ""
    assert spec["nodeSelector"] == {"zone": "a", "os": "windows"}
    assert spec["tolerations"] == [TOLERATION]
    assert spec["overhead"] == {"memory": "1Mi"}


def test_a_class_without_scheduling_changes_nothing() -> None:
    """Then it is about the handler alone."""
    spec: Json = {"runtimeClassName": "w"}
    assert refusal({"spec": spec}, {"handler": "h"}) == ""
    assert spec == {"runtimeClassName": "w"}


@pytest.mark.parametrize(
    ("known", "said"), [(None, 'RuntimeClass "w" not found'), (CLASS, "nodeSelector[os] = windows")]
)
def test_a_pod_is_refused_in_the_real_words(known: Json | None, said: str) -> None:
    """For a class that is not there, and for a selector that contradicts it."""
    spec = {"runtimeClassName": "w", "nodeSelector": {"os": "linux"}}
    assert said in refusal({"spec": spec}, known)
