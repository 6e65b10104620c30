"""``powershell.exe``: on nodes Windows PowerShell 5.1, in agnhost's images PowerShell 6.2.7 under that name.

``grammar`` parses scripts and ``evaluation`` runs them, with the cmdlets of the modules ``of_*`` and the types of
``dotnet``: an emulation of Microsoft's documentation, in which nothing of this machine is executed.
"""
