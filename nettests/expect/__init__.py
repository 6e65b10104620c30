"""Limitation manifests: read, resolved on a cluster's facts, explained. Pure.

Stands between ``plan`` and ``judge``: ``manifest`` reads entries, ``condition`` evaluates them on
facts, ``resolve`` decides which one each check is expected to show, ``explain`` tells a person why,
``lint`` finds overlaps that need no cluster to be proven. ``catalogue`` reads what is documented at
all, ``coverage`` says what of it is exercised, ``seeds`` the same of four documents, sentence by
sentence. Files are read by ``session``.
"""

from nettests.expect.catalogue import Catalogue, Fact, ReasonKind, catalogue, read_section
from nettests.expect.coverage import Coverage, cover, gaps, unknown_facts
from nettests.expect.explain import Explanation, explain
from nettests.expect.lint import lint
from nettests.expect.manifest import Limitation, Manifest, read_manifest
from nettests.expect.resolve import resolve, unused
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
