"""One image pulled onto one node before the checks: how long it took, or why it failed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    """``seconds`` from the creation of the Pod that pulls until its container exists; ``problem`` is empty then."""

    image: str
    node: str
    seconds: float
    problem: str = ""
