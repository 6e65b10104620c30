"""Suites that are named are executed, however they are called and whatever stands around them."""

from collections import Counter

import pytest

from tests.plugin.runner import VENDOR_SUITE, Runner, vendor

pytest_plugins = "pytester"


@pytest.mark.parametrize("workers", ["-n0", "-n2"])
@pytest.mark.parametrize("folder_first", [True, False])
def test_a_file_that_is_named_is_executed(
    run: Runner, pytester: pytest.Pytester, workers: str, folder_first: bool
) -> None:
    """Whatever it is called, and where the folder around it is named too, of which pytest knows the usual names."""
    suite, _ = vendor(pytester.path / "vendor", "{outcome: timed_out}")
    other = suite.with_name("ours.py")
    other.write_text(VENDOR_SUITE.replace("vendor-local", "vendor-other"))
    named = (suite.parent, other) if folder_first else (other, suite.parent)
    done = run(workers, "--flow=vendor-other", "--flow=vendor-local", suites=named)
    assert done.code == 0, done.out
    probed = Counter(name.split("/")[0] for name in done.verdicts)
    assert probed["vendor-other"] == probed["vendor-local"] > 0
    assert set(done.verdicts.values()) == {"pass"}
