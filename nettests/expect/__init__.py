"""Limitation manifests: read, resolved on a cluster's facts, explained. Pure.

Between ``plan`` and ``judge``. ``manifest`` holds the entries, ``manifest_reading`` reads them,
``condition`` evaluates them on facts, ``resolve`` decides which entry applies to each check and
explains why, ``lint`` finds overlaps that can be proven without a cluster and documented facts
without checks. ``catalogue`` reads those facts. ``session`` reads the files.
"""

from nettests.expect.catalogue import Catalogue, Fact, ReasonKind, catalogue, read_section
from nettests.expect.lint import Coverage, cover, gaps, lint, unknown_facts
from nettests.expect.manifest import Limitation, Manifest
from nettests.expect.manifest_reading import read_manifest
from nettests.expect.resolve import Explanation, explain, resolve, unused

__all__ = [
    "Catalogue",
    "Coverage",
    "Explanation",
    "Fact",
    "Limitation",
    "Manifest",
    "ReasonKind",
    "catalogue",
    "cover",
    "explain",
    "gaps",
    "lint",
    "read_manifest",
    "read_section",
    "resolve",
    "unknown_facts",
    "unused",
]
