"""Errors of the lab that a user can act on."""

import difflib
from collections.abc import Iterable


class LabError(Exception):
    """An error with a message and a ``hint`` on what to do next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  → {self.hint}" if self.hint else self.message


def nearest(word: str, words: Iterable[str]) -> str:
    """Return the question whether the nearest of the words was meant, and a space; empty if none is near."""
    near = difflib.get_close_matches(word, [*words], n=1, cutoff=0.5)
    return f'Did you mean "{near[0]}"? ' if near else ""


class ProfileError(LabError):
    """A lab profile was not found or is not valid."""


class StateError(LabError):
    """A lab is in the wrong state for a command: running already, or not running."""


class StartError(LabError):
    """The lab could not be started."""
