"""Limitation manifests: read, resolved on a cluster's facts, explained. Pure.

Stands between ``plan`` and ``judge``: ``manifest`` reads entries, ``condition`` evaluates them on
facts, ``resolve`` decides which one each check is expected to show, ``explain`` tells a person why,
``lint`` finds overlaps that need no cluster to be proven. Files are read by ``session``.
"""

from nettests.expect.explain import Explanation, explain
from nettests.expect.lint import lint
from nettests.expect.manifest import Limitation, Manifest, read_manifest
from nettests.expect.resolve import resolve, unused

__all__ = [
    "Explanation",
    "Limitation",
    "Manifest",
    "explain",
    "lint",
    "read_manifest",
    "resolve",
    "unused",
]
