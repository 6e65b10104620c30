"""``powershell.exe``: on nodes Windows PowerShell 5.1, in agnhost's images PowerShell 6.2.7 by that name.

Scripts are read by ``grammar`` and carried out by ``evaluation``, with the cmdlets of the modules ``of_*`` and the types of
``dotnet``: an emulation of what Microsoft's documents say, in which nothing of this machine is executed.
"""

from nettests.lab.programs.windows.powershell.evaluation import run

__all__ = ["run"]
