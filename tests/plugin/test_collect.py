"""Check ids travel in the ids of tests."""

import pytest

from nettests.plugin.collect import check_in


@pytest.mark.parametrize(
    ("nodeid", "check"),
    [
        ("suites/t.py::test_it[a-flow/linux-1/x/same-node/tcp]", "a-flow/linux-1/x/same-node/tcp"),
        ("/x[1]/t.py::test_it[a-flow/linux-1]", "a-flow/linux-1"),
        ("t.py::test_it[NOTSET0]", None),
        ("t.py::test_it", None),
        ("a/b/t.py::test_it[plain]", None),
    ],
)
def test_the_check_is_read_from_the_test(nodeid: str, check: str | None) -> None:
    """Only a parameter that is a check id is taken for one."""
    assert check_in(nodeid) == check
