"""The kinds of objects that make Pods, as far as single checks make them: names of the API, and what holds of each.

The closed list that suites, permissions, quotas, and the end of a run share. What an object of a kind has to bring about
is read in ``parse.workloads``.
"""

from enum import StrEnum
from typing import Any, assert_never

from nettests.model.versions import KubernetesVersion

Object = dict[str, Any]

MAKES, ROLLS_OUT, APART = "makes", "rolls-out", "apart"
"""The words of ``Afterwards.how`` for the expected result of a workload."""
WORDS = frozenset({MAKES, ROLLS_OUT, APART})
CRON_JOBS = KubernetesVersion.parse("1.21")
"""From this version on CronJobs are served in ``batch/v1``."""


class Workload(StrEnum):
    """A kind of workload, spelled as in ``kind``; in the order in which they are removed."""

    CRON_JOB = "CronJob"
    JOB = "Job"
    DEPLOYMENT = "Deployment"
    DAEMON_SET = "DaemonSet"
    STATEFUL_SET = "StatefulSet"

    @property
    def plural(self) -> str:
        """Its name in paths, roles and quotas."""
        return f"{self.value.lower()}s"

    @property
    def group(self) -> str:
        """Its API group."""
        match self:
            case Workload.CRON_JOB | Workload.JOB:
                return "batch"
            case Workload.DEPLOYMENT | Workload.DAEMON_SET | Workload.STATEFUL_SET:
                return "apps"
            case _:
                assert_never(self)

    @property
    def resource(self) -> str:
        """The resource as quotas and ``kubectl`` spell it: ``jobs.batch``."""
        return f"{self.plural}.{self.group}"

    @property
    def prefix(self) -> str:
        """The path below which the API serves it."""
        return f"/apis/{self.group}/v1"

    @property
    def ends(self) -> bool:
        """Whether its Pods run to completion; those of others are restarted."""
        match self:
            case Workload.CRON_JOB | Workload.JOB:
                return True
            case Workload.DEPLOYMENT | Workload.DAEMON_SET | Workload.STATEFUL_SET:
                return False
            case _:
                assert_never(self)


def workload_of(item: Object) -> Workload | None:
    """Return the kind of a workload; ``None`` for any other object."""
    return Workload(item["kind"]) if item.get("kind") in set(Workload) else None
