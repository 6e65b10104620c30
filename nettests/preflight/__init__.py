"""What would block a run, decided from facts that were read beforehand. Pure.

``evidence`` is the input, ``finding`` one result; ``cluster``, ``machines``, ``rights`` and ``space`` decide,
``rules`` writes missing permissions as YAML. ``session.preflight_evidence`` reads, ``cli.preflight_command`` prints.
"""

from nettests.preflight.evidence import Evidence, Finding, Level, Quota, unreachable
from nettests.preflight.findings import findings

__all__ = ["Evidence", "Finding", "Level", "Quota", "findings", "unreachable"]
