"""The only package that talks to the cluster: connect, discover, apply, wait, control channels.

``connect`` opens the API, ``discover`` turns objects into facts, ``apply`` and ``wait`` deploy the
probes, ``channels`` carry requests to them. Nothing here knows checks or verdicts, and only the API
server is connected to.
"""

from nettests.cluster.connecting import connect
from nettests.cluster.connection import ApiError, Connection

__all__ = ["ApiError", "Connection", "connect"]
