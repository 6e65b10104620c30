"""Size limits on everything written by others: cluster text, answers, users' files, with reasons.

A limit is far above what honest input needs, and far below what harms this process. Readers use
these limits; larger input raises ``TooMuchError`` and never crashes.
"""

from nettests.errors import ClusterError, NettestsError

KIB = 1024
MIB = 1024 * KIB

DEPTH = 100
"""Nesting levels of YAML and JSON. Pod specs have about 15; Python's own parsers stop near 1000."""
ALIASES = 200
"""Aliases in one YAML document. Our manifests have none."""
NODES = 500_000
"""Nodes of one YAML document with aliases expanded: a YAML bomb creates many from a few lines."""
YAML_BYTES = 4 * MIB
"""A profile, manifest, kubeconfig or ConfigMap. etcd accepts no object above 1.5 MiB."""
JSON_BYTES = 64 * MIB
"""One JSON text. A page of a list holds 500 objects of at most 1.5 MiB, usually of 10 KiB."""
ANSWER_BYTES = 64 * MIB
"""One answer of the API server: a page of 500 objects, or a log."""
WATCH_LINE_BYTES = 4 * MIB
"""One watch event: one object."""
PAGES = 400
"""Pages of one list: 200 000 objects. Kubernetes supports 150 000 Pods in a cluster."""
EXEC_BYTES = 64 * MIB
"""Output of one process in a container. HNS of a busy node prints about 5 MiB."""
BODY_BYTES = 8 * MIB
"""An answer of a probe or backend over HTTP or port-forward. netexec answers with a few KiB."""
HEAD_BYTES = MIB
"""Response to a WebSocket handshake; for a port-forward, everything but the body."""
JOURNAL_LINE_BYTES = 256 * MIB
"""One journal record, which may contain the output of several processes."""
JOURNAL_BYTES = 512 * MIB
"""A journal that is read as a whole: a fleet of hundreds of nodes has some 100 MiB."""
BUNDLE_BYTES = 64 * MIB
"""An exported bundle, compressed: a twentieth of its content."""
BUNDLE_EXPANDED_BYTES, BUNDLE_RATIO = 32 * MIB, 60
"""All files of a bundle, expanded: this size, or this multiple of its compressed size if larger."""


class TooMuchError(ValueError):
    """A text exceeds a limit of size, depth or aliases; the message names the limit."""


class TooBigError(ClusterError):
    """An answer of the cluster exceeds a size limit."""


class BrokenJournalError(NettestsError):
    """A journal was not written by a run: its records are invalid."""


def spelled(count: int) -> str:
    """Format a number of bytes for people: ``64 MiB``."""
    return f"{count // MIB} MiB" if count >= MIB else f"{count} bytes"
