"""Errors of the lab that a person can act on."""


class LabError(Exception):
    """What happened and to what; ``hint`` says what to do next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  → {self.hint}" if self.hint else self.message


class ProfileError(LabError):
    """A lab profile was not found or is not valid."""


class StateError(LabError):
    """A lab of that name runs already, or does not run."""


class StartError(LabError):
    """The lab could not be started; nothing of it is left."""
