"""PowerShell's command line, as nodes and probe images have it. Pure."""

POWERSHELL = ("powershell.exe", "-NoProfile", "-NonInteractive", "-Command")
"""The script is the one word that follows; nobody's profile changes what it says, and it tests nothing back."""
