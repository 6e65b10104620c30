"""Room for the sockets of a run."""

import subprocess
import sys

PROGRAM = """
import resource
from nettests.session.process import make_room
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, most))
make_room()
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0] == most)
"""


def test_a_run_has_room_for_as_many_files_as_the_system_allows() -> None:
    """A shell's soft limit of 1,024 would end a run over a fleet of some hundred nodes."""
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "True"
