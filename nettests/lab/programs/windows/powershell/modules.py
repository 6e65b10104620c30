"""Which cmdlets a session can find: those of every session, and those of modules, which the first search takes its time for.

Windows PowerShell without a cache of modules was measured to need 13 s for its first command lookup (WMF 5.1, engine
improvements). The Gallery's module HNS lies before Windows' own in the path of modules, and lacks Get-HnsPolicyList.
"""

import asyncio

from nettests.lab.programs.windows.powershell.calls import Cmdlet
from nettests.lab.programs.windows.powershell.session import MODULES, Session

INBOX, GALLERY = "HostNetworkingService", "HNS"
_LOOKING = "Preparing modules for first use."


async def ready(session: Session, cmdlet: Cmdlet) -> bool:
    """Whether the session has the cmdlet; waits for what the first search of a node's modules takes."""
    machine = session.process.machine
    if not session.desktop:
        return cmdlet.core
    if not cmdlet.module:
        return True
    await _search(session)
    installed = {"inbox": {INBOX}, "psgallery": {INBOX, GALLERY}, "none": set[str]()}
    hns = cmdlet.module in {INBOX, GALLERY}
    return machine.host_process and (
        not hns or cmdlet.module in installed[machine.windows.hns_module]
    )


async def _search(session: Session) -> None:
    machine = session.process.machine
    remembered = machine.node.disk.background if machine.node is not None else {MODULES: True}
    if MODULES in remembered:
        return
    await asyncio.sleep(machine.windows.powershell_first_seconds)
    remembered[MODULES] = True
    shows_progress = (
        str(session.find("progresspreference") or "Continue").lower() != "silentlycontinue"
    )
    if session.xml is not None and shows_progress:
        session.xml.progress(_LOOKING)
