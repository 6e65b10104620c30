"""The only door to the cluster: connect, discover, apply, wait, and the control channels.

``connect`` opens the API, ``discover`` turns objects into facts, ``apply`` and ``wait`` make the
probes stand, ``channels`` carry questions to them. Nothing here knows checks or verdicts, and no
socket is opened to anything but the API server.
"""

from nettests.cluster.connecting import connect
from nettests.cluster.connection import ApiError, Connection

__all__ = ["ApiError", "Connection", "connect"]
