"""Limitation manifests: read, resolved on a cluster's facts, explained. Pure.

Between ``plan`` and ``judge``. ``manifest`` has the entries, ``manifest_reading`` reads them, ``condition`` evaluates
them on facts, ``resolve`` decides which entry each check is expected to show, ``explain`` says why, ``lint`` finds
overlaps that need no cluster to be proven. ``catalogue`` reads the documented facts, ``coverage`` says which of them are exercised, ``seeds`` does the
same for the four seed documents, sentence by sentence. ``session`` reads the files.
"""

from nettests.expect.catalogue import Catalogue, Fact, ReasonKind, catalogue, read_section
from nettests.expect.lint import Coverage, cover, gaps, lint, unknown_facts
from nettests.expect.manifest import Limitation, Manifest
from nettests.expect.manifest_reading import read_manifest
from nettests.expect.resolve import Explanation, explain, resolve, unused
from nettests.expect.seeds import (
    SeedDocument,
    Shown,
    Statement,
    mistakes_in_seeds,
    read_seed,
    shown,
)

__all__ = [
    "Catalogue",
    "Coverage",
    "Explanation",
    "Fact",
    "Limitation",
    "Manifest",
    "ReasonKind",
    "SeedDocument",
    "Shown",
    "Statement",
    "catalogue",
    "cover",
    "explain",
    "gaps",
    "lint",
    "mistakes_in_seeds",
    "read_manifest",
    "read_section",
    "read_seed",
    "resolve",
    "shown",
    "unknown_facts",
    "unused",
]
