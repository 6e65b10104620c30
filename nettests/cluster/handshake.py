"""Say why the API server refused a WebSocket, as exec and port-forward open one.

The client library gives one text with the status line, all headers and the body; people need the first
and the message in the last.
"""

import re

from kubernetes.client.exceptions import ApiException

_PARTS = " -+-+- "


def why_refused(error: Exception) -> str:
    """Return the status line and the ``Status`` object's message, or the error's own words."""
    text = str(error.reason if isinstance(error, ApiException) else error)
    # sample: Handshake status 403 Forbidden -+-+- {'audit-id': …} -+-+- b'{"kind":"Status",…,"message":"…"}'
    head, _, rest = text.partition(_PARTS)
    found = re.search(r'"message":"((?:[^"\\]|\\.)*)"', rest)
    return f"{head}: {found[1]}".replace('\\"', '"') if found else head
