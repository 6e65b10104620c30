"""Exit codes: pytest's first, ours behind them."""

import pytest

from nettests.errors import (
    ClusterError,
    DeployError,
    ManifestError,
    NettestsError,
    PathError,
    PlanError,
)
from nettests.model.exit_code import ExitCode, of_error


def test_pytests_codes_keep_names_and_numbers() -> None:
    """What pytest has ended with since it has exit codes means the same here; 6 to 8 are our own."""
    theirs = {code.name: int(code) for code in pytest.ExitCode if code < ExitCode.UNKNOWN}
    ours = {code.name: int(code) for code in ExitCode}
    own = {"UNKNOWN": 6, "NOTHING_JUDGED": 7, "KNOWN_BUGS": 8}
    assert ours == {**theirs, **own}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PlanError("x"), ExitCode.USAGE_ERROR),
        (ManifestError("x"), ExitCode.USAGE_ERROR),
        (PathError("x"), ExitCode.USAGE_ERROR),
        (ClusterError("x"), ExitCode.NOTHING_JUDGED),
        (DeployError("x"), ExitCode.NOTHING_JUDGED),
        (NettestsError("x"), ExitCode.NOTHING_JUDGED),
    ],
)
def test_wrong_input_is_told_from_a_cluster_that_takes_no_run(
    error: NettestsError, code: ExitCode
) -> None:
    """Who typed something wrong gets 4; where no run could start nothing was judged."""
    assert of_error(error) is code
