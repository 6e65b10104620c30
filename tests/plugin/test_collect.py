"""Check ids travel in the ids of tests, and a test of a flow that was not read is an error."""

from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from nettests.model.expectation import Source
from nettests.model.words import TargetKind, VantageKind
from nettests.plan import Matrix, flow
from nettests.plugin.collect import Collector, check_in


@flow(
    "left-behind",
    source=VantageKind.POD,
    target=TargetKind.POD_IP,
    matrix=Matrix.PAIRS,
    sources=(Source(document="d"),),
)
def claim(verdict: object) -> None:
    """It works."""


def test_a_test_of_a_flow_that_was_not_read_is_an_error() -> None:
    """The error names the flow and its file, and what to do."""
    module = ModuleType("test_left")
    module.__file__ = "/suites/test_left.py"
    collector = Collector(cast("Any", None), cast("Any", None), frozenset({"pod-to-pod-ip"}))
    metafunc = cast("pytest.Metafunc", SimpleNamespace(function=claim, module=module))
    with pytest.raises(pytest.Collector.CollectError) as caught:
        collector.pytest_generate_tests(metafunc)
    assert "left-behind" in str(caught.value)
    assert "/suites/test_left.py" in str(caught.value)
    assert "name the file with --suite" in str(caught.value)


@pytest.mark.parametrize(
    ("nodeid", "check"),
    [
        ("suites/t.py::test_it[a-flow/linux-1/x/same-node/tcp]", "a-flow/linux-1/x/same-node/tcp"),
        ("/x[1]/t.py::test_it[a-flow/linux-1]", "a-flow/linux-1"),
        ("t.py::test_it[dual-stack-service]", "dual-stack-service"),
        ("t.py::test_it", None),
        ("a/b/t.py::test_it", None),
    ],
)
def test_the_check_is_read_from_the_test(nodeid: str, check: str | None) -> None:
    """Its parameter is the check's id, also of a flow that is left out as a whole."""
    assert check_in(nodeid) == check
