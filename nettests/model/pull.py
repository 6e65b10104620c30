"""One image pulled onto one node before the checks: how long it took, or why it failed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    """``seconds`` from creating the pulling Pod until its container exists; else a ``problem``."""

    image: str
    node: str
    seconds: float
    problem: str = ""
