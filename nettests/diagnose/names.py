"""File and folder names for objects of a cluster, whatever they are called. Pure.

A name that is safe on every file system is kept. Any other is reduced to its safe characters plus a digest. Safe
names contain no ``~``, so the two kinds never collide.
"""

import hashlib
import re

LENGTH = 120
"""Characters at most. File systems allow 255 bytes; a suffix such as ``-2`` must have room."""
_HARMLESS = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_OTHERS = re.compile(r"[^A-Za-z0-9._-]+")
_KEPT = 60
_DIGEST = 16


def safe_name(name: str) -> str:
    """Return one path segment for ``name``: equal for equal names, different for different ones.

    samples: ``windows-1`` stays; ``../../etc/cron.d/x`` becomes ``etc_cron.d_x~0f3c…``.
    """
    if _HARMLESS.fullmatch(name) and len(name) <= LENGTH and not name.endswith("."):
        return name
    kept = _OTHERS.sub("_", name).strip("._-")[:_KEPT]
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    return f"{kept}~{digest}"
