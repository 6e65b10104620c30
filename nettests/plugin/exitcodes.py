"""Exit codes of a run: pytest's own, refined by verdicts. Pure.

0 all as documented · 1 fail, lifted or flaky · 2–5 pytest's own · 6 nothing worse than unknown ·
7 nothing judged, or a required flow entirely skipped, or no run could start on the cluster ·
8 all as documented, but for known bugs that show (``--fail-on known-bugs`` makes it 1).
"""

from collections.abc import Collection, Mapping
from enum import StrEnum

import pytest

from nettests.errors import (
    ManifestError,
    NettestsError,
    NotInstalledError,
    PathError,
    PlanError,
)
from nettests.model.verdict import DEVIATING
from nettests.model.words import Verdict

UNKNOWN = 6
NOTHING_JUDGED = 7
KNOWN_BUGS = 8


class FailOn(StrEnum):
    """What besides deviations ends a run with 1, as the option ``--fail-on`` spells it."""

    KNOWN_BUGS = "known-bugs"


def of_error(error: NettestsError) -> int:
    """Return the exit code of a run that could not start: 4 for wrong input or usage, else 7."""
    if isinstance(error, PlanError | ManifestError | PathError | NotInstalledError):
        return int(pytest.ExitCode.USAGE_ERROR)
    return NOTHING_JUDGED


def of_run(
    status: int,
    verdicts: Mapping[str, Verdict],
    required: Mapping[str, Collection[str]],
    *,
    others_failed: bool,
    fail_on: Collection[FailOn] = (),
) -> int:
    """Return the exit code of a run that pytest ended with ``status``.

    ``verdicts`` are by check id, ``required`` the check ids of each required flow that was due;
    ``others_failed`` says that a test failed which is no check.
    """
    if status not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        return int(status)
    seen = set(verdicts.values())
    bugs = Verdict.KNOWN_BUG in seen
    if others_failed or seen & DEVIATING or (bugs and FailOn.KNOWN_BUGS in fail_on):
        return int(pytest.ExitCode.TESTS_FAILED)
    if Verdict.UNKNOWN in seen:
        return UNKNOWN
    judged = {check for check, verdict in verdicts.items() if verdict is not Verdict.SKIPPED}
    if not judged or not all(judged & set(due) for due in required.values()):
        return NOTHING_JUDGED
    return KNOWN_BUGS if bugs else 0
