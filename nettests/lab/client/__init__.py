"""How the lab's components use its API: requests and watches, caches of objects, events.

The lab's counterpart of ``client-go``. ``rest`` makes requests, ``informer`` keeps caches, and ``events`` writes
Events.
"""

from nettests.lab.client.rest import (
    FAILURES,
    MERGE,
    STRATEGIC,
    ApiError,
    Client,
    Json,
    Retry,
    pod_path,
)

__all__ = ["FAILURES", "MERGE", "STRATEGIC", "ApiError", "Client", "Json", "Retry", "pod_path"]
