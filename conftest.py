"""Loads the nettests plugin in a checkout that was never installed; installed, pytest finds it."""

from importlib.metadata import entry_points

if not any(entry.value == "nettests.plugin" for entry in entry_points(group="pytest11")):
    pytest_plugins = ("nettests.plugin",)
