"""PowerShell's command line, as nodes and probe images have it. Pure."""

POWERSHELL = ("powershell.exe", "-NoProfile", "-NonInteractive", "-Command")
"""The script is the one word that follows; no user's profile affects it, and it never prompts."""
