"""Errors raised to a person: what happened, to what, and what to do next.

The tree::

    NettestsError
    ├── ClusterError        the cluster cannot be reached, read or used
    ├── ManifestError       a manifest or cluster profile is not valid (file, line, key, near miss)
    ├── PlanError           a suite or flow is not valid, or was not found
    ├── PathError           a file or folder that the user named cannot be used
    ├── DeployError         probes or Services did not come up
    └── NotInstalledError   an extra of nettests that was requested is not installed
"""

import os
import traceback
from pathlib import Path


class NettestsError(Exception):
    """An error that a person can act on; ``hint`` says what to do next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  → {self.hint}" if self.hint else self.message


class ClusterError(NettestsError):
    """The cluster cannot be reached, read or used."""

    forbidden = False
    """Whether the API server, or its admission, does not allow it."""


class ManifestError(NettestsError):
    """A manifest or cluster profile is not valid."""


class PlanError(NettestsError):
    """A suite or flow is not valid, or was not found."""


class PathError(NettestsError):
    """A file or folder that the user named cannot be used."""


class DeployError(NettestsError):
    """Probes or Services did not come up."""


class NotInstalledError(NettestsError):
    """An extra of nettests that was requested is not installed."""


DEBUG = "NETTESTS_DEBUG"
"""The variable that ``--debug`` sets: errors that nobody expected show their traceback."""


def unexpected(error: Exception) -> NettestsError:
    """Return the sentence for an error that nobody expected: where it arose, and how to see all of it."""
    places = traceback.extract_tb(error.__traceback__)
    ours = [place for place in places if f"{os.sep}nettests{os.sep}" in place.filename]
    at = f" in {Path(ours[-1].filename).stem}.{ours[-1].name}" if ours else ""
    return NettestsError(
        f"nettests failed{at}: {type(error).__name__}: {error}",
        hint="this is a defect of nettests: `nettests --debug …` prints the traceback to report it with",
    )
