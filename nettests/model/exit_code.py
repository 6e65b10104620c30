"""Exit codes of the harness. Pure.

The first six are pytest's, under its names (a test compares them), so that pure packages need not import pytest.
"""

from enum import IntEnum

from nettests.errors import (
    ManifestError,
    NettestsError,
    NotInstalledError,
    PathError,
    PlanError,
)


class ExitCode(IntEnum):
    """What a run or another command returns to its caller."""

    OK = 0
    """Everything is as documented; other commands found nothing to fix."""
    TESTS_FAILED = 1
    """A check failed, was lifted or flaky; other commands found something to look into."""
    INTERRUPTED = 2
    INTERNAL_ERROR = 3
    """A bug in nettests: one sentence on the terminal, the traceback with ``--debug``."""
    USAGE_ERROR = 4
    """Wrong input or usage."""
    NO_TESTS_COLLECTED = 5
    UNKNOWN = 6
    """Nothing was worse than ``unknown``."""
    NOTHING_JUDGED = 7
    """Nothing was judged, a required flow was skipped entirely, or no run could start."""
    KNOWN_BUGS = 8
    """Everything is as documented, except known bugs that show."""


def of_error(error: NettestsError) -> ExitCode:
    """Return the exit code for an error that prevented the start and that a user can act on."""
    if isinstance(error, PlanError | ManifestError | PathError | NotInstalledError):
        return ExitCode.USAGE_ERROR
    return ExitCode.NOTHING_JUDGED
