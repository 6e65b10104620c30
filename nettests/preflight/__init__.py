"""What would block a run, decided from facts that were read before. Pure.

``evidence`` has the input and ``Finding``; ``cluster``, ``machines``, ``rights``, ``space`` and
``webhooks`` decide; ``rules`` has RBAC objects for missing permissions.
``session.preflight_evidence`` reads, ``cli`` prints.
"""

from nettests.preflight.evidence import Evidence, Finding, Level, Quota, unreachable
from nettests.preflight.findings import findings

__all__ = ["Evidence", "Finding", "Level", "Quota", "findings", "unreachable"]
