"""A run inside the cluster that it tests: the objects of a Job, its state, its archive. Pure.

``cluster.job_objects`` applies the objects, ``cluster.job_pods`` follows them and reads logs; the command line is
``cli.job_commands``. A Job runs the ordinary ``nettests run`` with the permissions of its ServiceAccount.
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
