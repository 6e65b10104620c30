"""File names in a run's folder, and the name of the link to the newest one."""

import re

JOURNAL = "journal.jsonl"
"""The record from which all other documents are rendered."""
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
"""How the names of folders of ``nettests calibrate`` begin: they have a journal, and are no runs to compare."""
LATEST = "latest"
"""The link in the folder of reports that names its newest run."""
