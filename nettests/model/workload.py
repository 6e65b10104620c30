"""The kinds of workload objects that single checks create, with their API names and properties.

Suites, permissions, quotas and clean-up share this closed list. ``parse.workloads`` holds what an
object of each kind must achieve.
"""

from enum import StrEnum
from typing import assert_never

from nettests.model.json_text import Object
from nettests.model.versions import KubernetesVersion

MAKES, ROLLS_OUT, APART = "makes", "rolls-out", "apart"
"""``Afterwards.how`` for the expected result of a workload."""
WORDS = frozenset({MAKES, ROLLS_OUT, APART})
CRON_JOBS = KubernetesVersion.parse("1.21")
"""From this version on CronJobs are served in ``batch/v1``."""


class Workload(StrEnum):
    """A kind of workload, spelled as in ``kind``; in order of removal."""

    CRON_JOB = "CronJob"
    JOB = "Job"
    DEPLOYMENT = "Deployment"
    DAEMON_SET = "DaemonSet"
    STATEFUL_SET = "StatefulSet"

    @property
    def plural(self) -> str:
        """The name in paths, roles and quotas."""
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
        """Whether its Pods run to completion; Pods of other kinds are restarted."""
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
