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
    """What a run, or another command, tells its caller."""

    OK = 0
    """Everything is as documented; nothing to repair, nothing in the way."""
    TESTS_FAILED = 1
    """A check failed, was lifted or flaky; of other commands: something was found that somebody has to look into."""
    INTERRUPTED = 2
    INTERNAL_ERROR = 3
    """A defect of nettests: one sentence on the terminal, the traceback with ``--debug``."""
    USAGE_ERROR = 4
    """Wrong input or usage."""
    NO_TESTS_COLLECTED = 5
    UNKNOWN = 6
    """Nothing worse than ``unknown``."""
    NOTHING_JUDGED = 7
    """Nothing was judged, a required flow was skipped entirely, or no run could start on the cluster."""
    KNOWN_BUGS = 8
    """Everything is as documented, except for known bugs that show."""


def of_error(error: NettestsError) -> ExitCode:
    """Return the exit code of a program that could not start for an error that a person can act on."""
    if isinstance(error, PlanError | ManifestError | PathError | NotInstalledError):
        return ExitCode.USAGE_ERROR
    return ExitCode.NOTHING_JUDGED
