"""Size limits on everything written by others: texts of a cluster, answers, and users' files, each with its reason.

A limit is far above what honest input needs, and far below what harms this process. Readers name their limit here;
larger input raises ``TooMuchError``, never a crash.
"""

from nettests.errors import ClusterError, NettestsError

KIB = 1024
MIB = 1024 * KIB

DEPTH = 100
"""Levels of nesting of YAML and JSON. Pod specs have about 15; Python's own readers stop near 1000."""
ALIASES = 200
"""Aliases in one YAML document. Manifests of ours have none."""
NODES = 500_000
"""Nodes of one YAML document with every alias expanded: a bomb makes many of a few lines."""
YAML_BYTES = 4 * MIB
"""Of a profile, manifest, kubeconfig or ConfigMap. etcd takes no object above 1.5 MiB."""
JSON_BYTES = 64 * MIB
"""Of one JSON text, as read. A page of a list holds 500 objects of at most 1.5 MiB, usually of 10 KiB."""
ANSWER_BYTES = 64 * MIB
"""Of one answer of the API server: a page of 500 objects, or a log."""
WATCH_LINE_BYTES = 4 * MIB
"""Of one watch event: one object."""
PAGES = 400
"""Pages of one list: 200 000 objects. Kubernetes supports 150 000 Pods in a cluster."""
EXEC_BYTES = 64 * MIB
"""Of the output of one process in a container. HNS of a busy node prints about 5 MiB."""
BODY_BYTES = 8 * MIB
"""Of an answer of a probe or backend over HTTP or a port-forward. Netexec answers a few KiB."""
HEAD_BYTES = MIB
"""Of the answer to a WebSocket's handshake; for a port-forward, of everything besides the body."""
JOURNAL_LINE_BYTES = 256 * MIB
"""Of one record of a journal: it may hold the output of several processes."""
JOURNAL_BYTES = 512 * MIB
"""Of a journal that is read as a whole: that of a fleet of hundreds of nodes has some 100 MiB."""
BUNDLE_BYTES = 64 * MIB
"""Of an exported bundle, packed: a twentieth of what it holds."""
BUNDLE_EXPANDED_BYTES, BUNDLE_RATIO = 32 * MIB, 60
"""Of all files of a bundle, unpacked: so much, or so many times its packed size, whichever is more."""


class TooMuchError(ValueError):
    """A text exceeds a limit of size, depth or aliases; the message names the limit."""


class TooBigError(ClusterError):
    """An answer of the cluster exceeds a size limit."""


class BrokenJournalError(NettestsError):
    """A journal was not written by a run: its records are invalid."""


def spelled(count: int) -> str:
    """Return a number of bytes for people: ``64 MiB``."""
    return f"{count // MIB} MiB" if count >= MIB else f"{count} bytes"
