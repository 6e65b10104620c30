"""What stands in the way of a run, decided from what was read beforehand: facts in, findings out.

``evidence`` is what was read, ``finding`` what is said of it; ``cluster``, ``machines``, ``rights`` and ``space``
decide, ``rules`` writes missing rights as YAML. Pure: ``session.preflight_evidence`` reads, ``cli.preflight_command`` prints.
"""

from nettests.preflight.evidence import Evidence, Quota
from nettests.preflight.finding import Finding, Level, unreachable
from nettests.preflight.findings import findings

__all__ = ["Evidence", "Finding", "Level", "Quota", "findings", "unreachable"]
