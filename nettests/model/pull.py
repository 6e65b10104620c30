"""One image pulled onto one node before a run tests anything: how long it took, or why it did not come."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    """``seconds`` from the creation of the Pod that pulls until its container exists; ``problem`` is empty then."""

    image: str
    node: str
    seconds: float
    problem: str = ""
