"""Limitation manifests: read, resolved on a cluster's facts, explained. Pure.

Between ``plan`` and ``judge``. ``manifest`` has the entries, ``manifest_reading`` reads them, ``condition`` evaluates
them on facts, ``resolve`` decides which entry each check is expected to show, ``explain`` says why, ``lint`` finds
overlaps that need no cluster to be proven, and which documented facts are exercised. ``catalogue`` reads the facts.
``session`` reads the files.
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
