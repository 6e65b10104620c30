"""Room for the sockets of a run: each probe keeps a few connections, and a fleet has hundreds of probes.

Used by ``Run`` before anything is deployed. Shells usually start programs with room for 1,024 open files, whatever the
system would allow. It raises nothing beyond what the process may have anyway.
"""

import resource


def make_room() -> None:
    """Raise the number of open files from the soft limit to the hard one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
