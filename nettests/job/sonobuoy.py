"""What Sonobuoy reads: the plugin definition, and the progress of a run. Pure.

Sonobuoy starts a plugin's container beside a worker of its own. The worker forwards progress, and takes the file
whose path is written in the file ``done`` of the results folder; that file is written last. Sonobuoy's aggregator
reads its ``junit.xml``.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nettests.job.workload import CONTAINER, rendered
from nettests.model.labels import CONTROL_PLANE_LABEL, OS_LABEL
from nettests.model.run_folder import JUNIT
from nettests.model.verdict import ATTENTION, Judgement

PLUGIN = "nettests"
RESULTS_FOLDER = "/tmp/sonobuoy/results"  # noqa: S108 - Sonobuoy's, of the container alone
DONE = "done"
"""The file that says which file holds the results."""
RESULTS_VARIABLE, PORT_VARIABLE = "SONOBUOY_RESULTS_DIR", "SONOBUOY_PROGRESS_PORT"
DEFAULT_PORT = 8099
FAILURES = 50
"""So many red checks are named in an update; the aggregator keeps them in an annotation of its Pod."""


def definition(image: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the plugin definition: one Pod, with the ServiceAccount that Sonobuoy makes."""
    definition: dict[str, Any] = rendered(
        "sonobuoy.yaml.j2",
        image=image,
        arguments=list(arguments),
        plugin=PLUGIN,
        junit=JUNIT,
        os_label=OS_LABEL,
        control_plane_label=CONTROL_PLANE_LABEL,
        container=CONTAINER,
        folder=RESULTS_FOLDER,
    )
    return definition


@dataclass(slots=True)
class Progress:
    """How many checks are planned and judged, and which are red, as records of a journal come in."""

    total: int = 0
    judged: int = 0
    red: list[str] = field(default_factory=list)
    _verdicts: Counter[str] = field(default_factory=Counter)

    def add(self, judgement: Judgement) -> None:
        """Take in one more verdict."""
        self.judged += 1
        self._verdicts[judgement.verdict.value] += 1
        if judgement.verdict in ATTENTION:
            self.red.append(judgement.check)

    def update(self) -> dict[str, Any]:
        """Return the update that Sonobuoy's worker takes."""
        counts = ", ".join(f"{number} {word}" for word, number in self._verdicts.most_common())
        update: dict[str, Any] = {
            "msg": counts or "deploying probes",
            "total": self.total,
            "completed": self.judged,
        }
        if self.red:
            left_out = len(self.red) - FAILURES
            more = [f"… and {left_out} more"] if left_out > 0 else []
            update["failures"] = [*self.red[:FAILURES], *more]
        return update
