"""Raise the limit of open files: each probe keeps a few connections, and a fleet has hundreds of probes.

Used by ``Run`` before anything is deployed. Shells usually start programs with a soft limit of 1,024, whatever the
system allows. The hard limit is never exceeded.
"""

import resource


def make_room() -> None:
    """Raise the number of open files from the soft limit to the hard one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
