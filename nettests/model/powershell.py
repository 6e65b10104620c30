"""PowerShell's command line, as nodes and probe images have it. Pure."""

POWERSHELL = ("powershell.exe", "-NoProfile", "-NonInteractive", "-Command")
"""The script is the one word that follows; no user's profile changes it, and it prompts for nothing."""
