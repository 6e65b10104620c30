"""A run inside the cluster that it tests, as values: the objects of a Job, what became of it, its archive. Pure.

What applies them, follows them and reads logs is ``cluster.job_objects`` and ``cluster.job_pods``; the command line is
``cli.job_commands``. A Job runs the same ``nettests run`` as anybody, with its ServiceAccount's rights.
"""

from nettests.job.archive import Archive, pack, read_archive, spelled_archive, unpack
from nettests.job.identity import identity
from nettests.job.state import JobState, Phase, state_of
from nettests.job.wanted import Role, Wanted, checked
from nettests.job.workload import workload

__all__ = [
    "Archive",
    "JobState",
    "Phase",
    "Role",
    "Wanted",
    "checked",
    "identity",
    "pack",
    "read_archive",
    "spelled_archive",
    "state_of",
    "unpack",
    "workload",
]
