"""What was read of a node's settings from its own vantage, and the answer as it came: raw, before any parsing.

Written by ``probes.host_facts``, recorded in the journal, read by ``parse.host_facts``. It belongs to no check.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReading:
    """One command on one node. ``error`` is set when the control channel failed, or the vantage is not the node's."""

    node: str
    reading: str
    probe: str
    command: tuple[str, ...]
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    error: str | None = None
