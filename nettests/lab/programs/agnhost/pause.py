"""``agnhost pause``: waits for a signal, and exits with 2 on SIGTERM, as recorded."""

from nettests.lab.interfaces import Process
from nettests.lab.programs.golang.flags import Parsed


async def run(process: Process, _options: Parsed) -> int:
    """Pause until SIGTERM."""
    await process.stdout(b"Paused\nSignals registered\n")
    await process.terminate.wait()
    await process.stdout(b'exiting because of signal "terminated"\n')
    return 2
