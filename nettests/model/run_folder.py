"""File names in a run's folder, and the name of the link to the newest one."""

import re

JOURNAL = "journal.jsonl"
"""The records from which all reports are rendered."""
RESULTS = "results.json"
JUNIT = "junit.xml"
HTML = "report.html"
SUMMARY = "summary.md"
DIAGNOSTICS = "diagnostics"
"""The folder of the diagnostics of failed checks."""
DIAGNOSTICS_INDEX = "index.md"
# sample: 20261128-161641-f36e
RUN_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}")
"""A run's id, which names its folder."""
CALIBRATION = "calibration-"
"""Prefix of folders of ``nettests calibrate``, which have a journal but are no runs to compare."""
LATEST = "latest"
"""The link in the reports' folder to the newest run."""
