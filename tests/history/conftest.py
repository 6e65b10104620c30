"""The stories that reports are tested with, as fixtures of these tests too."""

from tests.report.conftest import eventful_run, quiet

__all__ = ["eventful_run", "quiet"]
