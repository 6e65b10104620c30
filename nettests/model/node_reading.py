"""A node's settings as read from its own vantage: the raw answer, before any parsing.

``probes.host_facts`` writes it, the journal records it, ``parse.host_facts`` reads it. It belongs to no check.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReading:
    """One command on one node; ``error`` if the channel failed or the vantage is not the node's."""

    node: str
    reading: str
    probe: str
    command: tuple[str, ...]
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    error: str | None = None
