"""What a run needs of the machine that it is started on.

Windows has neither ``openat`` nor ``poll``, by which diagnostics are written and processes in Pods followed.
"""

import sys
from contextlib import suppress

from nettests.errors import NettestsError


def require_posix() -> None:
    """Raise ``NettestsError`` on Windows, with what to do there."""
    if sys.platform == "win32":
        raise NettestsError(
            "this command needs Linux or macOS",
            hint="on Windows start nettests in WSL 2, or in the cluster: nettests job",
        )


def make_room() -> None:
    """Raise the limit of open files to the hard limit: each probe keeps a few connections open.

    A large cluster has hundreds of probes; shells usually set a soft limit of 1,024.
    """
    require_posix()
    import resource  # noqa: PLC0415 - Windows has none

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError):  # macOS reports no hard limit, but enforces one
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
